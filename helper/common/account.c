// SPDX-License-Identifier: Apache-2.0
#include "account.h"

#include <time.h>

/* Tries where only what others ask for stands in the way, and the longest pause between two. */
#define TRIES 16
#define PAUSE_NS 80000

/* What a hostile sharer wrote must not wrap around. */
static uint64_t add(uint64_t a, uint64_t b) {
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint32_t places(const struct vcuda_account *a) {
    uint64_t count = __atomic_load_n(&a->shares, __ATOMIC_ACQUIRE);

    return count < VCUDA_ACCOUNT_SHARES ? (uint32_t)count : VCUDA_ACCOUNT_SHARES;
}

/*
 * What is held, and with what is asked for. The order matters: who is given what he asked for adds
 * it to `held` before he clears `asked`, so it is seen in one of them at least;
 * so is what goes from a place's to the shared bytes, which are looked at last.
 */
static uint64_t sum(const struct vcuda_account *a, bool with_asked) {
    uint64_t total = 0;

    for (uint32_t i = 0; i < places(a); i++) {
        if (with_asked)
            total = add(total, __atomic_load_n(&a->share[i].asked, __ATOMIC_SEQ_CST));
        total = add(total, __atomic_load_n(&a->share[i].held, __ATOMIC_SEQ_CST));
    }
    return add(total, __atomic_load_n(&a->shared, __ATOMIC_SEQ_CST));
}

uint64_t vcuda_account_held(const struct vcuda_account *a) {
    return sum(a, false);
}

void vcuda_account_add(struct vcuda_account *a, uint32_t place, uint64_t bytes) {
    __atomic_fetch_add(&a->share[place].held, bytes, __ATOMIC_SEQ_CST);
}

void vcuda_account_give_back(struct vcuda_account *a, uint32_t place, uint64_t bytes) {
    __atomic_fetch_sub(&a->share[place].held, bytes, __ATOMIC_SEQ_CST);
}

void vcuda_account_clear(struct vcuda_account *a, uint32_t place) {
    a->share[place] = (struct vcuda_share){0};
}

bool vcuda_account_take(struct vcuda_account *a, uint32_t place, uint64_t limit, uint64_t bytes) {
    struct vcuda_share *mine = &a->share[place];

    for (uint32_t i = 0; i < TRIES; i++) {
        /* Two that stand in each other's way pause for times of their own. */
        const struct timespec pause = {0, PAUSE_NS * (1 + (place * 7 + i) % 16) / 16};
        bool fits;

        __atomic_store_n(&mine->asked, bytes, __ATOMIC_SEQ_CST);
        fits = !limit || sum(a, true) <= limit;
        if (fits)
            vcuda_account_add(a, place, bytes);
        __atomic_store_n(&mine->asked, 0, __ATOMIC_SEQ_CST);
        if (fits)
            return true;
        if (add(sum(a, false), bytes) > limit)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}
