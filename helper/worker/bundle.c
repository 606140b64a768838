// SPDX-License-Identifier: Apache-2.0
#include "bundle.h"

#include <stdlib.h>

#include "answers.h"
#include "barrier.h"
#include "chains.h"
#include "clock.h"
#include "function.h"
#include "worker.h"

/* Bytes: parameters of all that is held. */
#define PARAMS_MAX 16384u
/* Functions known to have been launched, by the index in their names. */
#define KNOWN 1024u
/* How often each way to launch is tried before the best times are compared. */
#define TRIALS 8u
/* A driver that launches in less, in nanoseconds, is not worth the trouble. */
#define WORTH_NS 1000u

struct known {
    uint64_t name, context; /* in which it was launched */
    bool refused;           /* the driver launches it, but has it in no chain */
};

struct bundle {
    struct chains_stream stream;
    uint32_t limit; /* made when there are so many: begins with 1, lest the GPU waits */
    uint32_t used;  /* bytes of params */
    struct launch launches[CHAINS_MAX];
    struct known known[KNOWN];
    _Alignas(16) uint8_t params[PARAMS_MAX];
};

/* How long the driver took, at best, in nanoseconds. A hint. */
struct seen {
    uint32_t tries;
    uint32_t best;
};

uint32_t bundle_held;
static struct bundle *bundle;
static struct seen alone, chained[CHAINS_POWER_MAX + 1];
static uint64_t local_most; /* bytes of local memory that a kernel needed so far, */
static uint64_t local_in;   /* in this context, the last that a kernel was new in */
static bool given_up;

static bool tried(const struct seen *s) {
    return vcuda_load_once(&s->tries) >= TRIALS;
}

static void note(struct seen *s, uint64_t since) {
    uint64_t took = vcuda_now_ns() - since;

    if (!vcuda_load_once(&s->tries) || took < vcuda_load_once(&s->best))
        vcuda_store_once(&s->best, (uint32_t)took);
    vcuda_store_once(&s->tries, vcuda_load_once(&s->tries) + 1);
}

static bool worth_it(void) {
    return chains_forced() || !tried(&alone) || vcuda_load_once(&alone.best) >= WORTH_NS;
}

/* Whether a chain of 1 << power costs less than as many launches. */
static bool pays(uint32_t power) {
    const struct seen *s = &chained[power];

    if (chains_forced())
        return true;
    return tried(&alone) && worth_it() &&
           (!tried(s) || vcuda_load_once(&s->best) < vcuda_load_once(&alone.best) << power);
}

static struct known *place_of(struct bundle *b, uint64_t name) {
    return &b->known[vcuda_name_index(name) % KNOWN];
}

static bool knows(const struct known *k, uint64_t name, uint64_t context) {
    return k->name == name && k->context == context;
}

static bool may_take(struct bundle *b, const struct frame *f, const struct args_launch *a,
                     const struct object *function) {
    const struct known *k = place_of(b, a->function);

    return !f->head.tag && f->head.ctx && !a->attributes_len &&
           knows(k, a->function, f->head.ctx) && !k->refused && a->params_len <= PARAMS_MAX &&
           !function_in_clusters(function) && worth_it() && !capture_any() &&
           !vcuda_load_once(&given_up);
}

static struct bundle *own_bundle(void) {
    if (!bundle) {
        bundle = calloc(1, sizeof(*bundle));
        bundle_begin();
    }
    return bundle;
}

static void hold(struct bundle *b, const struct chains_stream *s, const struct frame *f,
                 const struct args_launch *a, const struct object *function) {
    uint8_t *params = b->params + b->used;

    b->stream = *s;
    b->launches[bundle_held++] = (struct launch){
        .function = function->native,
        .name = a->function,
        .gx = a->gx,
        .gy = a->gy,
        .gz = a->gz,
        .bx = a->bx,
        .by = a->by,
        .bz = a->bz,
        .shared = a->shared,
        .thread = f->head.status,
        .bytes = a->params_len,
        .params = params,
    };
    memcpy(params, a->params, a->params_len);
    b->used += (a->params_len + 15) / 16 * 16;
}

static bool goes_with(const struct bundle *b, const struct chains_stream *s, uint32_t params) {
    return b->stream.name == s->name && b->stream.context == s->context &&
           b->used + params <= PARAMS_MAX;
}

bool bundle_take(struct worker *w, const struct frame *f, const struct args_launch *a,
                 const struct object *function) {
    const struct chains_stream s = {a->stream, a->stream_name, f->head.ctx};
    struct bundle *b = own_bundle();
    bool take = b && may_take(b, f, a, function) && chains_deserved(w, &s);

    if (bundle_held && (!take || !goes_with(b, &s, a->params_len))) {
        bundle_make_held(w);
        worker_use_context(w, f->head.ctx);
    }
    if (!take)
        return false;
    hold(b, &s, f, a, function);
    if (bundle_held >= b->limit)
        bundle_make_held(w);
    return true;
}

/* The driver has moved local memory to where there is enough: graphs would follow it late. */
static void note_local(struct worker *w, uint64_t context, uint64_t local) {
    bool enough = vcuda_load_once(&local_in) == context && local <= vcuda_load_once(&local_most);

    if (!local || enough)
        return;
    vcuda_store_once(&local_in, context);
    vcuda_store_once(&local_most, local);
    chains_forget(w);
}

void bundle_may_have(struct worker *w, uint64_t name, uint64_t context,
                     const struct object *function) {
    struct bundle *b = own_bundle();
    struct known *k = b ? place_of(b, name) : NULL;

    if (!k || knows(k, name, context) || capture_any())
        return;
    *k = (struct known){.name = name, .context = context};
    note_local(w, context, function_local(function));
}

/* As any call that finds no memory. */
static CUresult launch_kernel(struct worker *w, CUstream stream, const struct launch *l) {
    const CUlaunchConfig config = {l->gx, l->gy,     l->gz,  l->bx, l->by,
                                   l->bz, l->shared, stream, NULL,  0};
    struct launch_buffer b;
    int tries = 0;
    CUresult r;

    do {
        r = w->driver.cuLaunchKernelEx(&config, l->function, NULL,
                                       launch_buffer(&b, l->params, &l->bytes));
    } while (r == CUDA_ERROR_OUT_OF_MEMORY && worker_may_try_again(++tries));
    return r;
}

/* The launch's own error, which its thread hears of. */
static void tell(struct worker *w, const struct launch *l, CUresult result) {
    struct frame f = {.head = {.call = VCUDA_CALL_launch, .status = l->thread}, .status = result};

    answers_put(w, &f);
}

static CUresult launch_alone(struct worker *w, CUstream stream, const struct launch *l) {
    uint64_t since = tried(&alone) ? 0 : vcuda_now_ns();
    CUresult r = launch_kernel(w, stream, l);

    if (since)
        note(&alone, since);
    tell(w, l, r);
    return r;
}

/* One by one; `refused` is the first that could be in no chain: if it can be launched, why not? */
static void launch_each(struct worker *w, struct bundle *b, const struct launch *l, uint32_t count,
                        uint32_t refused) {
    for (uint32_t i = 0; i < count; i++) {
        if (launch_alone(w, b->stream.native, &l[i]) == CUDA_SUCCESS && i == refused)
            place_of(b, l[i].name)->refused = true;
    }
}

/* False: none was launched. */
static bool launch_chain(struct worker *w, const struct chains_stream *s, const struct launch *l,
                         uint32_t power, uint32_t *refused) {
    struct seen *seen = &chained[power];
    uint64_t since = tried(seen) ? 0 : vcuda_now_ns();

    if (!chains_launch(w, s, l, power, refused))
        return false;
    if (since)
        note(seen, since);
    vcuda_stats_add(&w->stats->chained, 1u << power);
    return true;
}

/* The longest chain that is to be made of the first of so many; -1: none. */
static int power_for(uint32_t count) {
    int power = 31 - __builtin_clz(count);

    while (power >= 0 && !pays((uint32_t)power))
        power--;
    return power;
}

static void launch_held(struct worker *w, struct bundle *b) {
    for (uint32_t at = 0, n; at < bundle_held; at += n) {
        int power = power_for(bundle_held - at);
        const struct launch *l = &b->launches[at];
        uint32_t refused = CHAINS_MAX;

        n = power < 0 ? 1 : 1u << power;
        if (power < 0 || !launch_chain(w, &b->stream, l, (uint32_t)power, &refused))
            launch_each(w, b, l, n, refused);
    }
}

void bundle_make_held(struct worker *w) {
    struct bundle *b = bundle;
    CUresult r = worker_use_context(w, b->stream.context);

    if (r == CUDA_SUCCESS)
        launch_held(w, b);
    for (uint32_t i = 0; r != CUDA_SUCCESS && i < bundle_held; i++)
        tell(w, &b->launches[i], r);
    if (bundle_held >= b->limit && b->limit < CHAINS_MAX)
        b->limit *= 2;
    bundle_held = b->used = 0;
}

void bundle_begin(void) {
    if (bundle)
        bundle->limit = 1;
}

void bundle_give_up(void) {
    vcuda_store_once(&given_up, true);
}
