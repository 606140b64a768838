// SPDX-License-Identifier: Apache-2.0
/*
 * A graph that runs must not run beside itself, so each stream has its own: else one stream would
 * wait for another, which natively it does not.
 */
#include "chains.h"

#include <stdlib.h>

#include "barrier.h"
#include "lock.h"
#include "worker.h"

/* Streams that have chains at one time: the driver keeps up to 150 KB of the GPU for each chain. */
#define STREAMS_MAX 32
/* A stream whose chains were not used for so many launches of others gives them up. */
#define UNUSED_MAX 10000u
/* Launches of a stream before it gets any, unless VCUDA_CHAINS_AFTER says otherwise. */
#define LAUNCHES_BEFORE 64u

struct chain {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[CHAINS_MAX];
};

struct kept {
    struct vcuda_lock lock;   /* of the chains; held while the driver launches one */
    uint64_t stream, context; /* names; context 0: a free place */
    uint32_t forgotten;       /* whoever has the lock next ends them: any thread says so */
    uint32_t launches;
    uint32_t used; /* when, in launches of all */
    bool refused[CHAINS_POWER_MAX + 1];
    struct chain *chains[CHAINS_POWER_MAX + 1];
};

static struct kept kept[STREAMS_MAX];
static uint32_t launched; /* in all streams */
static uint32_t launches_before = LAUNCHES_BEFORE;
static bool forced;

static void end_chain(struct worker *w, struct chain *c) {
    if (!c)
        return;
    if (c->exec)
        w->driver.cuGraphExecDestroy(c->exec);
    if (c->graph)
        w->driver.cuGraphDestroy(c->graph);
    free(c);
}

/* Under the stream's lock. */
static void end_chains(struct worker *w, struct kept *k) {
    vcuda_store_once(&k->forgotten, 0);
    for (uint32_t i = 0; i <= CHAINS_POWER_MAX; i++) {
        end_chain(w, k->chains[i]);
        k->chains[i] = NULL;
        k->refused[i] = false;
    }
}

static bool ended(struct worker *w, enum vcuda_kind kind, uint64_t name) {
    struct object o;

    return vcuda_name_kind(name) == kind && !objects_get(&w->objects, kind, name, &o);
}

/* Whether nobody misses what is kept there. */
static bool may_go(struct worker *w, const struct kept *k) {
    return !k->context || launched - k->used > UNUSED_MAX ||
           ended(w, VCUDA_KIND_STREAM, k->stream) || ended(w, VCUDA_KIND_CONTEXT, k->context);
}

static struct kept *find(const struct chains_stream *s) {
    static struct kept *last = kept; /* mostly the same one is meant */

    for (int i = 0; i < STREAMS_MAX; i++) {
        if (last->context == s->context && last->stream == s->name)
            return last;
        last = &kept[i];
    }
    return last->context == s->context && last->stream == s->name ? last : NULL;
}

/* A graph would run where the driver refuses a launch: in a stream of another context. */
static bool of_its_context(struct worker *w, const struct chains_stream *s) {
    struct object o;

    return vcuda_name_kind(s->name) != VCUDA_KIND_STREAM ||
           (objects_get(&w->objects, VCUDA_KIND_STREAM, s->name, &o) && o.owner == s->context);
}

/* A place for the stream, or NULL. */
static struct kept *make_place(struct worker *w, const struct chains_stream *s) {
    if (!of_its_context(w, s))
        return NULL;
    for (int i = 0; i < STREAMS_MAX; i++) {
        struct kept *k = &kept[i];

        if (!may_go(w, k) || !vcuda_lock_try(&k->lock))
            continue;
        end_chains(w, k);
        k->stream = s->name;
        k->context = s->context;
        k->launches = 0;
        vcuda_lock_leave(&k->lock);
        return k;
    }
    return NULL;
}

void chains_start(void) {
    const char *fixed = getenv("VCUDA_CHAINS_AFTER");

    forced = fixed != NULL;
    if (forced)
        launches_before = (uint32_t)atoi(fixed);
}

bool chains_forced(void) {
    return forced;
}

bool chains_deserved(struct worker *w, const struct chains_stream *s) {
    struct kept *k;

    launched++;
    k = find(s);
    if (!k)
        k = make_place(w, s);
    if (k)
        k->used = launched;
    return k && ++k->launches > launches_before;
}

static void node_params(CUDA_KERNEL_NODE_PARAMS *p, struct launch_buffer *b,
                        const struct launch *l) {
    *p = (CUDA_KERNEL_NODE_PARAMS){
        .func = l->function,
        .gridDimX = l->gx,
        .gridDimY = l->gy,
        .gridDimZ = l->gz,
        .blockDimX = l->bx,
        .blockDimY = l->by,
        .blockDimZ = l->bz,
        .sharedMemBytes = l->shared,
        .extra = launch_buffer(b, l->params, &l->bytes),
    };
}

/* The nodes, each behind the one before it. */
static CUresult add_nodes(struct worker *w, struct chain *c, const struct launch *l, uint32_t count,
                          uint32_t *refused) {
    CUresult r = w->driver.cuGraphCreate(&c->graph, 0);

    if (r != CUDA_SUCCESS)
        c->graph = NULL;
    for (uint32_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        CUDA_KERNEL_NODE_PARAMS p;
        struct launch_buffer b;

        node_params(&p, &b, &l[i]);
        r = w->driver.cuGraphAddKernelNode_v2(&c->nodes[i], c->graph, i ? &c->nodes[i - 1] : NULL,
                                              i ? 1 : 0, &p);
        if (r != CUDA_SUCCESS)
            *refused = i;
    }
    return r;
}

/* A chain of these launches; NULL if the driver makes none of them. */
static struct chain *new_chain(struct worker *w, const struct launch *l, uint32_t count,
                               uint32_t *refused) {
    struct chain *c = calloc(1, sizeof(*c));
    CUresult r;

    if (!c)
        return NULL;
    r = add_nodes(w, c, l, count, refused);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuGraphInstantiateWithFlags(&c->exec, c->graph, 0);
    if (r == CUDA_SUCCESS)
        return c;
    c->exec = NULL;
    end_chain(w, c);
    return NULL;
}

static bool set_nodes(struct worker *w, struct chain *c, const struct launch *l, uint32_t count,
                      uint32_t *refused) {
    for (uint32_t i = 0; i < count; i++) {
        CUDA_KERNEL_NODE_PARAMS p;
        struct launch_buffer b;

        node_params(&p, &b, &l[i]);
        if (w->driver.cuGraphExecKernelNodeSetParams_v2(c->exec, c->nodes[i], &p) != CUDA_SUCCESS) {
            *refused = i;
            return false;
        }
    }
    return true;
}

/* Under the stream's lock: its chain of this length, set to the launches; NULL: it cannot be. */
static struct chain *chain_of(struct worker *w, struct kept *k, const struct launch *l,
                              uint32_t power, uint32_t *refused) {
    struct chain **c = &k->chains[power];

    if (*c)
        return set_nodes(w, *c, l, 1u << power, refused) ? *c : NULL;
    if (k->refused[power])
        return NULL;
    *c = new_chain(w, l, 1u << power, refused);
    k->refused[power] = !*c && *refused == CHAINS_MAX;
    return *c;
}

bool chains_launch(struct worker *w, const struct chains_stream *s, const struct launch *launches,
                   uint32_t power, uint32_t *refused) {
    struct kept *k = find(s);
    struct chain *c;
    bool done;

    *refused = CHAINS_MAX;
    if (!k)
        return false;
    vcuda_lock_take(&k->lock);
    if (vcuda_load_once(&k->forgotten))
        end_chains(w, k);
    c = chain_of(w, k, launches, power, refused);
    done = c && w->driver.cuGraphLaunch(c->exec, s->native) == CUDA_SUCCESS;
    vcuda_lock_leave(&k->lock);
    return done;
}

/* Does not wait for a launch that stands in the driver. */
void chains_forget(struct worker *w) {
    for (int i = 0; i < STREAMS_MAX; i++) {
        vcuda_store_once(&kept[i].forgotten, 1);
        if (!vcuda_lock_try(&kept[i].lock))
            continue;
        end_chains(w, &kept[i]);
        vcuda_lock_leave(&kept[i].lock);
    }
}
