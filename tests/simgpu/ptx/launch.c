// SPDX-License-Identifier: Apache-2.0
/* A launch: its checks, its blocks, the host threads that they are spread over. */
#include "exec.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../ptx.h"

#define MAX_THREADS 16
#define MAX_CLUSTER 16 /* blocks */
#define MAX_SHARED (227u << 10)
#define SHARED_ALIGN 128
#define DEFAULT_STACK (64u << 10)
#define DEFAULT_FRAMES (8u << 20)
#define SPAWN_AFTER_NS 200000 /* a launch that short is not worth a thread */

static size_t align_up(size_t v, size_t align) {
    return (v + align - 1) & ~(align - 1);
}

/* --- one block --- */

static size_t block_bytes(const struct grid *g) {
    return g->warps * (g->regs_bytes + g->local_bytes * WARP) +
           align_up(g->shared_bytes, SHARED_ALIGN);
}

static bool block_alloc(struct block *b, struct grid *g, struct ranges *ranges) {
    void *memory = mmap(NULL, block_bytes(g) + 1, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *b = (struct block){.grid = g};
    b->warps = calloc(g->warps, sizeof(*b->warps));
    b->memory = memory == MAP_FAILED ? NULL : memory;
    if (!b->memory || !b->warps)
        return false;
    b->shared = b->memory;
    char *next = b->memory + align_up(g->shared_bytes, SHARED_ALIGN);
    for (unsigned k = 0; k < g->warps; k++) {
        struct warp *w = &b->warps[k];
        w->regs = next;
        w->local = next + g->regs_bytes;
        next += g->regs_bytes + g->local_bytes * WARP;
        w->base[1] = g->m->pool;
        w->code = g->m->code;
        w->grid = g;
        w->block = b;
        w->ranges = ranges;
        w->index = k;
    }
    return true;
}

/* A cluster's blocks; whatever there is of them is freed by cluster_free(). */
static bool cluster_alloc(struct cluster *c, struct grid *g, struct ranges *ranges) {
    *c = (struct cluster){.blocks = calloc(g->cluster_blocks, sizeof(*c->blocks))};
    while (c->blocks && c->count < g->cluster_blocks) {
        struct block *b = &c->blocks[c->count++];
        if (!block_alloc(b, g, ranges))
            return false;
        b->cluster = c;
    }
    return c->blocks != NULL;
}

static void block_free(struct block *b) {
    if (b->memory)
        munmap(b->memory, block_bytes(b->grid) + 1);
    free(b->warps);
}

static void cluster_free(struct cluster *c) {
    for (unsigned k = 0; k < c->count; k++)
        block_free(&c->blocks[k]);
    free(c->blocks);
}

static void warp_start(struct warp *w) {
    const struct grid *g = w->grid;
    const unsigned *dim = g->launch->block;
    uint64_t first = (uint64_t)w->index * WARP;

    w->live = 0;
    for (unsigned l = 0; l < WARP; l++) {
        uint64_t t = first + l;
        w->tid[0][l] = (uint32_t)(t % dim[0]);
        w->tid[1][l] = (uint32_t)(t / dim[0] % dim[1]);
        w->tid[2][l] = (uint32_t)(t / dim[0] / dim[1]);
        w->lane_pc[l] = g->f->start;
        w->lane_frame[l] = 0;
        if (t < g->threads)
            w->live |= 1u << l;
    }
    w->at_bar = w->at_sync = w->active = w->cc = w->cluster_arrived = 0;
    w->rotor = WARP - 1;
}

/* The place of a number in a box of these sizes. */
static void place(uint64_t index, const uint64_t size[3], uint32_t at[3]) {
    at[0] = (uint32_t)(index % size[0]);
    at[1] = (uint32_t)(index / size[0] % size[1]);
    at[2] = (uint32_t)(index / size[0] / size[1]);
}

static void block_start(struct block *b) {
    const struct grid *g = b->grid;
    const unsigned *dim = g->launch->grid;

    for (int k = 0; k < 3; k++)
        b->ctaid[k] = b->cluster->id[k] * g->cluster[k] + b->place[k];
    b->index = b->ctaid[0] + (uint64_t)dim[0] * (b->ctaid[1] + (uint64_t)dim[1] * b->ctaid[2]);
    b->done = false;
    memset(b->bars, 0, sizeof(b->bars));
    for (unsigned k = 0; k < g->warps; k++)
        warp_start(&b->warps[k]);
}

static void cluster_start(struct cluster *c, uint64_t index) {
    const struct grid *g = c->blocks[0].grid;
    uint64_t clusters[3], blocks[3];

    for (int k = 0; k < 3; k++) {
        blocks[k] = g->cluster[k];
        clusters[k] = g->launch->grid[k] / g->cluster[k];
    }
    c->done = false;
    place(index, clusters, c->id);
    for (unsigned k = 0; k < c->count; k++) {
        c->blocks[k].rank = k;
        place(k, blocks, c->blocks[k].place);
        block_start(&c->blocks[k]);
    }
}

/* Every thread waits for another one. */
static void deadlock(struct block *b) {
    for (unsigned k = 0; k < b->grid->warps; k++) {
        struct warp *w = &b->warps[k];
        if (!w->live)
            continue;
        int lane = __builtin_ctz(w->live);
        fault(w, &w->code[w->lane_pc[lane]], lane, PTX_ERR_LAUNCH_TIMEOUT,
              "all threads of the block wait for each other");
        return;
    }
}

/* Gives each warp of the block a turn. */
static enum run block_turn(struct block *b) {
    bool going_on = false, all_done = true;

    for (unsigned k = 0; k < b->grid->warps; k++) {
        struct warp *w = &b->warps[k];
        if (!w->live)
            continue;
        enum run r = run_warp(w);
        if (r == RUN_FAULT)
            return RUN_FAULT;
        all_done = all_done && r == RUN_DONE;
        going_on = going_on || r == RUN_YIELD;
    }
    if (all_done)
        return RUN_DONE;
    return release_barriers(b) || going_on ? RUN_YIELD : RUN_BLOCKED;
}

/* Gives each block of the cluster a turn. */
static enum run cluster_turn(struct cluster *c) {
    struct block *waits = NULL;
    bool going_on = false;

    for (unsigned k = 0; k < c->count; k++) {
        struct block *b = &c->blocks[k];
        enum run r = b->done ? RUN_DONE : block_turn(b);
        if (r == RUN_FAULT)
            return RUN_FAULT;
        going_on = going_on || r == RUN_YIELD || (r == RUN_DONE && !b->done);
        b->done = r == RUN_DONE;
        if (!b->done)
            waits = b;
    }
    if (!waits)
        return RUN_DONE;
    if (release_cluster(c) || going_on)
        return RUN_YIELD;
    deadlock(waits);
    return RUN_FAULT;
}

/* --- host threads --- */

struct crew {
    struct grid *grid;
    pthread_t helper[MAX_THREADS];
    unsigned helpers, wanted;
    struct timespec start;
};

/* Ends a launch for a reason that lies outside of its kernel. */
static void end_launch(struct grid *g, enum ptx_status status, const char *why) {
    int none = PTX_OK;
    if (atomic_compare_exchange_strong(&g->status, &none, (int)status) && g->msg && g->msg_size)
        snprintf(g->msg, g->msg_size, "%s: %s", g->f->name, why);
    atomic_store(&g->stop, true);
}

static void out_of_memory(struct grid *g) {
    end_launch(g, PTX_ERR_NOMEM, "no memory for its threads");
}

/* Whether to start another block; warps look at `cancel` themselves, but only in loops. */
static bool goes_on(struct grid *g) {
    if (g->launch->cancel && *g->launch->cancel)
        end_launch(g, PTX_ERR_LAUNCH_TIMEOUT, "ended from outside");
    return !atomic_load(&g->stop);
}

static bool worth_helpers(const struct crew *c) {
    struct timespec now;
    if (c->helpers == c->wanted || atomic_load(&c->grid->next_cluster) >= c->grid->clusters)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - c->start.tv_sec) * 1000000000ll + now.tv_nsec - c->start.tv_nsec >
           SPAWN_AFTER_NS;
}

static void *help(void *arg);

/* Starts the helpers; with none of them the launch is only slower. */
static void call_helpers(struct crew *c) {
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (c->helpers < c->wanted && !pthread_create(&c->helper[c->helpers], NULL, help, c->grid))
        c->helpers++;
    c->wanted = c->helpers;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Takes clusters until there are none. `crew` is NULL in a helper. */
static void work(struct grid *g, struct crew *crew) {
    struct ranges ranges = {.next = 0};
    struct cluster c;

    if (!cluster_alloc(&c, g, &ranges)) {
        out_of_memory(g);
    } else {
        while (goes_on(g)) {
            uint64_t index = atomic_fetch_add(&g->next_cluster, 1);
            if (index >= g->clusters)
                break;
            cluster_start(&c, index);
            while (cluster_turn(&c) == RUN_YIELD && !atomic_load(&g->stop))
                continue;
            if (crew && worth_helpers(crew))
                call_helpers(crew);
        }
    }
    cluster_free(&c);
}

static void *help(void *arg) {
    fesetenv(FE_DFL_ENV);
    work(arg, NULL);
    return NULL;
}

/* A cooperative launch: all blocks side by side, for they may wait for each other. */
static void work_together(struct grid *g) {
    struct ranges ranges = {.next = 0};
    struct cluster *c = calloc(g->clusters, sizeof(*c));
    uint64_t ready = 0, left = g->clusters;

    while (c && ready < g->clusters && cluster_alloc(&c[ready], g, &ranges)) {
        cluster_start(&c[ready], ready);
        ready++;
    }
    if (ready < g->clusters)
        out_of_memory(g);
    while (left && !atomic_load(&g->stop))
        for (uint64_t k = 0; k < g->clusters && !atomic_load(&g->stop); k++)
            if (!c[k].done && cluster_turn(&c[k]) == RUN_DONE) {
                c[k].done = true;
                left--;
            }
    for (uint64_t k = 0; c && k < g->clusters; k++)
        cluster_free(&c[k]);
    free(c);
}

static void work_apart(struct grid *g, unsigned threads) {
    struct crew crew = {.grid = g, .wanted = threads - 1};

    if (crew.wanted > g->clusters - 1)
        crew.wanted = (unsigned)(g->clusters - 1);
    clock_gettime(CLOCK_MONOTONIC, &crew.start);
    work(g, &crew);
    for (unsigned k = 0; k < crew.helpers; k++)
        pthread_join(crew.helper[k], NULL);
}

/* --- the launch --- */

static const char *check_launch(const struct func *f, const struct ptx_launch *l) {
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];

    for (int k = 0; k < 3; k++) {
        if (!l->grid[k] || !l->block[k] || l->block[k] > (k == 2 ? 64u : 1024u) ||
            l->grid[k] > (k ? 65535u : 0x7fffffffu))
            return "impossible dimensions";
        if (f->reqntid[0] && l->block[k] != f->reqntid[k])
            return "the kernel requires other dimensions of its blocks";
        if (l->cluster[k] && l->grid[k] % l->cluster[k])
            return "the grid is not made of whole clusters";
    }
    if (!l->cluster[0] != !l->cluster[1] || !l->cluster[0] != !l->cluster[2] ||
        (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2] > MAX_CLUSTER)
        return "impossible dimensions of a cluster";
    if ((uint64_t)l->block[0] * l->block[1] > 1024 || threads > f->max_threads)
        return "too many threads in a block";
    if (l->dynamic_shared > MAX_SHARED || f->static_shared + l->dynamic_shared > MAX_SHARED)
        return "too much shared memory";
    if (f->param_bytes && !l->params)
        return "no parameters";
    return NULL;
}

static void size_up(struct grid *g) {
    const struct func *f = g->f;
    const struct ptx_launch *l = g->launch;

    g->total = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    for (int k = 0; k < 3; k++)
        g->cluster[k] = l->cluster[k] ? l->cluster[k] : 1;
    g->explicit_cluster = l->cluster[0] != 0;
    g->cluster_blocks = g->cluster[0] * g->cluster[1] * g->cluster[2];
    g->clusters = g->total / g->cluster_blocks;
    g->threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    g->warps = (unsigned)((g->threads + WARP - 1) / WARP);
    g->dynamic_at = l->dynamic_shared ? align_up(f->static_shared, SHARED_ALIGN) : f->static_shared;
    g->shared_bytes = g->dynamic_at + l->dynamic_shared;
    g->regs_bytes = f->max_frames;
    g->local_bytes = f->max_local;
    if (f->recursive) {
        g->regs_bytes += DEFAULT_FRAMES;
        /* A frame is larger here than on a GPU: the default is a least. */
        g->local_bytes += l->stack_bytes > DEFAULT_STACK ? l->stack_bytes : DEFAULT_STACK;
    }
    g->regs_bytes = align_up(g->regs_bytes, SHARED_ALIGN);
    g->local_bytes = align_up(g->local_bytes, SHARED_ALIGN);
}

static unsigned host_threads(const struct ptx_launch *l) {
    long n = l->threads ? (long)l->threads : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

enum ptx_status ptx_launch_run(const struct ptx_func *func, const struct ptx_launch *launch,
                               char *msg, size_t msg_size) {
    struct grid g = {.m = func->f->module,
                     .f = func->f,
                     .launch = launch,
                     .params = launch->params,
                     .msg = msg,
                     .msg_size = msg_size};
    const struct ptx_memory *mem = &g.m->mem;
    const char *wrong = check_launch(g.f, launch);
    fenv_t env;

    if (msg && msg_size)
        snprintf(msg, msg_size, "%s", wrong ? wrong : "");
    if (wrong)
        return PTX_ERR_INVALID_VALUE;
    size_up(&g);
    fegetenv(&env);
    fesetenv(FE_DFL_ENV);
    if (launch->cooperative) {
        g.workspace = mem->alloc(mem->opaque, 64, 64);
        if (g.workspace)
            work_together(&g);
        else
            out_of_memory(&g);
        if (g.workspace)
            mem->free(mem->opaque, g.workspace);
    } else {
        work_apart(&g, host_threads(launch));
    }
    fesetenv(&env);
    return (enum ptx_status)atomic_load(&g.status);
}
