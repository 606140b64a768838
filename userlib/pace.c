// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

/* Copies of a phase, and those of them in which a helper may still have to wake up. */
#define USUAL_COPIES 64
#define TRIAL_COPIES 8
#define SETTLE_COPIES 2
/* A helper takes a processor: it has to make copies that much faster. */
#define WORTH 1.15

uint32_t pace_helpers(const struct pace *p, uint32_t most) {
    uint32_t usual = most - p->spared;

    if (!p->trial)
        return usual;
    return p->fewer ? usual - 1 : usual + 1;
}

/* After copies as usual: in which direction to try; both in turn, where both are possible. */
static bool try_fewer(const struct pace *p, uint32_t most) {
    if (!p->spared)
        return true;
    return p->spared < most && !p->fewer;
}

static void judge(struct pace *p, double rate) {
    if (p->fewer && p->usual < WORTH * rate)
        p->spared++;
    if (!p->fewer && rate > WORTH * p->usual)
        p->spared--;
}

void pace_learn(struct pace *p, uint32_t most, uint64_t bytes, uint64_t ns) {
    double rate;

    if (++p->copies > SETTLE_COPIES) {
        p->bytes += bytes;
        p->ns += ns;
    }
    if (p->copies < (p->trial ? TRIAL_COPIES : USUAL_COPIES))
        return;
    rate = (double)p->bytes / (double)(p->ns ? p->ns : 1);
    if (p->trial) {
        judge(p, rate);
    } else {
        p->usual = rate;
        p->fewer = try_fewer(p, most);
    }
    p->trial = !p->trial;
    p->copies = 0;
    p->bytes = p->ns = 0;
}
