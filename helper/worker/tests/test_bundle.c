// SPDX-License-Identifier: Apache-2.0
/*
 * Launches that are held and go in chains, over a driver that writes down what it ran: each once,
 * in order, whatever the driver refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "answers.h"
#include "bundle.h"
#include "chains.h"
#include "function.h"
#include "worker.h"

#define CONTEXT vcuda_name(VCUDA_KIND_CONTEXT, 1, 1)
#define OTHER_CONTEXT vcuda_name(VCUDA_KIND_CONTEXT, 1, 2)
#define STREAM(i) vcuda_name(VCUDA_KIND_STREAM, 1, i)
#define FUNCTION(i) vcuda_name(VCUDA_KIND_FUNCTION, 1, i)
#define TOO_WIDE 2048u /* threads in a block that no launch may have */
#define AWKWARD 77u    /* a function that no graph may have */

/* ---- what ran: a launch is known by its parameter ---- */

static uint32_t ran[1000], ran_count;
static uint32_t graphs_run, execs;
static bool no_graph_launches;
static bool no_memory; /* for the next launch */
static bool forgets;   /* another thread does, while a graph is launched */
static bool context_ended;
static uint32_t told_count;
static struct worker w;
static bool capturing;
static uint32_t told_thread;
static CUresult told;

static uint32_t parameter(void **extra) {
    assert_int_equal(*(size_t *)extra[3], 4);
    return *(uint32_t *)extra[1];
}

static void run(uint32_t what) {
    assert_in_range(ran_count, 0, 999);
    ran[ran_count++] = what;
}

static CUresult launch(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
    (void)f;
    assert_null(params);
    if (config->blockDimX == TOO_WIDE)
        return CUDA_ERROR_INVALID_VALUE;
    if (no_memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    run(parameter(extra));
    return CUDA_SUCCESS;
}

struct graph {
    uint32_t count, what[CHAINS_MAX];
};

static CUresult graph_create(CUgraph *graph, unsigned int flags) {
    (void)flags;
    *graph = calloc(1, sizeof(struct graph));
    return CUDA_SUCCESS;
}

static bool fits(const CUDA_KERNEL_NODE_PARAMS *p) {
    return p->blockDimX != TOO_WIDE && p->func != (CUfunction)(uintptr_t)AWKWARD;
}

/* A node is known by its place, from 1 on. */
static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                    const CUDA_KERNEL_NODE_PARAMS *p) {
    struct graph *g = (struct graph *)graph;

    assert_int_equal(count, g->count ? 1 : 0);
    if (count)
        assert_int_equal((uintptr_t)*before, g->count);
    if (!fits(p))
        return CUDA_ERROR_INVALID_VALUE;
    g->what[g->count++] = parameter(p->extra);
    *node = (CUgraphNode)(uintptr_t)g->count;
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    struct graph *copy = malloc(sizeof(*copy));

    (void)flags;
    *copy = *(struct graph *)graph;
    *exec = (CUgraphExec)copy;
    execs++;
    return CUDA_SUCCESS;
}

static CUresult set(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    if (!fits(p))
        return CUDA_ERROR_INVALID_VALUE;
    ((struct graph *)exec)->what[(uintptr_t)node - 1] = parameter(p->extra);
    return CUDA_SUCCESS;
}

static CUresult graph_launch(CUgraphExec exec, CUstream stream) {
    const struct graph *g = (const struct graph *)exec;

    (void)stream;
    if (no_graph_launches)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (forgets)
        chains_forget(&w);
    for (uint32_t i = 0; i < g->count; i++)
        run(g->what[i]);
    graphs_run++;
    return CUDA_SUCCESS;
}

static CUresult exec_destroy(CUgraphExec exec) {
    free(exec);
    execs--;
    return CUDA_SUCCESS;
}

static CUresult graph_destroy(CUgraph graph) {
    free(graph);
    return CUDA_SUCCESS;
}

/* ---- the rest of the worker ---- */

static struct vcuda_stats stats;
static struct worker w = {
    .driver = {.cuLaunchKernelEx = launch,
               .cuGraphCreate = graph_create,
               .cuGraphAddKernelNode_v2 = add,
               .cuGraphInstantiateWithFlags = instantiate,
               .cuGraphExecKernelNodeSetParams_v2 = set,
               .cuGraphLaunch = graph_launch,
               .cuGraphExecDestroy = exec_destroy,
               .cuGraphDestroy = graph_destroy},
    .stats = &stats,
};

void answers_put(struct worker *worker, struct frame *f) {
    (void)worker;
    if (f->status == CUDA_SUCCESS)
        return;
    told = f->status;
    told_count++;
    told_thread = f->head.status;
}

CUresult worker_use_context(struct worker *worker, uint64_t name) {
    (void)worker;
    assert_true(name == CONTEXT || name == OTHER_CONTEXT);
    return context_ended ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

/* Another program has ended. */
bool worker_may_try_again(int tries) {
    assert_int_equal(tries, 1);
    no_memory = false;
    return true;
}

bool capture_any(void) {
    return capturing;
}

/* ---- the program ---- */

static struct frame frame;
static struct args_launch args;
static struct object function;
static uint32_t next; /* parameter */

/* Whether it was taken; if not, it is made as own_launch() does. */
static bool take(void) {
    uint32_t what = next++;
    bool taken;

    args.params = &what;
    args.params_len = sizeof(what);
    taken = bundle_take(&w, &frame, &args, &function);
    if (!taken) {
        run(what);
        bundle_may_have(&w, args.function, frame.head.ctx, &function);
    }
    what = UINT32_MAX; /* the record is gone */
    return taken;
}

static void of_function(uint32_t number) {
    args.function = FUNCTION(number);
    function.native = (void *)(uintptr_t)number;
}

static void of_stream(uint32_t number) {
    args.stream_name = number ? STREAM(number) : 0;
    args.stream = (CUstream)(uintptr_t)number;
}

static void add_stream(uint32_t number) {
    const struct object stream = {.native = &w, .owner = CONTEXT};

    assert_true(objects_add(&w.objects, STREAM(number), &stream));
}

static int setup(void **state) {
    (void)state;
    objects_init(&w.objects);
    assert_true(objects_add(&w.objects, CONTEXT, &(struct object){.native = &w}));
    assert_true(objects_add(&w.objects, OTHER_CONTEXT, &(struct object){.native = &w}));
    for (uint32_t i = 1; i <= 48; i++)
        add_stream(i);
    assert_int_equal(setenv("VCUDA_CHAINS_AFTER", "0", 1), 0);
    chains_start();
    return 0;
}

static int begin(void **state) {
    (void)state;
    frame = (struct frame){.head = {.ctx = CONTEXT, .status = 5}};
    args = (struct args_launch){.gx = 1, .gy = 1, .gz = 1, .bx = 32, .by = 1, .bz = 1};
    function = (struct object){.aux = function_aux(4, 0, false)};
    of_function(1);
    of_stream(1);
    ran_count = graphs_run = next = 0;
    told = CUDA_SUCCESS;
    told_count = 0;
    no_graph_launches = no_memory = forgets = context_ended = capturing = false;
    bundle_begin();
    return 0;
}

static void all_ran_in_order(void) {
    bundle_make(&w);
    assert_int_equal(bundle_held, 0);
    assert_int_equal(ran_count, next);
    for (uint32_t i = 0; i < next; i++)
        assert_int_equal(ran[i], i);
}

/* ---- tests ---- */

/* One, one, two, four, and what is left of a run of 15: four, two and one. */
static void test_grows(void **state) {
    (void)state;
    assert_false(take()); /* the first of its function is the driver's to load */
    for (int i = 0; i < 14; i++)
        assert_true(take());
    assert_int_equal(bundle_held, 7);
    all_ran_in_order();
    assert_int_equal(graphs_run, 3 + 3);
    for (int i = 0; i < 100; i++)
        assert_true(take());
    all_ran_in_order();
    bundle_begin();
    assert_true(take());
    assert_int_equal(bundle_held, 0);
}

static void test_an_error_is_its_own(void **state) {
    (void)state;
    for (int i = 0; i < 40; i++)
        take();
    args.bx = TOO_WIDE;
    frame.head.status = 9;
    take();
    next--; /* it is not to run */
    frame.head.status = 5;
    args.bx = 32;
    for (int i = 0; i < 40; i++)
        assert_true(take()); /* the function is none the worse for it */
    all_ran_in_order();
    assert_int_equal(told, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(told_thread, 9);
}

static void test_a_function_that_is_not_had(void **state) {
    (void)state;
    of_function(AWKWARD);
    assert_false(take());
    assert_true(take()); /* and is found out */
    assert_false(take());
    of_function(1);
    assert_true(take());
    all_ran_in_order();
    assert_int_equal(told, CUDA_SUCCESS);
}

static void test_graphs_that_fail(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++)
        take();
    no_graph_launches = true;
    for (int i = 0; i < 50; i++)
        take();
    all_ran_in_order();
    assert_int_equal(told, CUDA_SUCCESS);
}

static void test_streams_in_turn(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        of_stream(i / (i % 7 + 1) % 3);
        take();
    }
    all_ran_in_order();
    assert_in_range(graphs_run, 10, 300);
}

static void test_more_streams_than_places(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 48 * 20; i++) {
        of_stream(1 + i / 20);
        take();
    }
    all_ran_in_order();
    assert_in_range(graphs_run, 32 * 2, 600);
    assert_in_range(execs, 1, 32 * (CHAINS_POWER_MAX + 1));
    chains_forget(&w);
    assert_int_equal(execs, 0);
    take();
    all_ran_in_order();
}

/* What streams held is there for others once they have ended. */
static void test_streams_that_ended(void **state) {
    (void)state;
    for (uint32_t i = 1; i <= 48; i++)
        objects_end(&w.objects, STREAM(i));
    add_stream(1);
    take();
    assert_true(take());
    all_ran_in_order();
}

static void test_not_taken(void **state) {
    (void)state;
    take();
    capturing = true;
    assert_false(take());
    capturing = false;
    frame.head.tag = 1;
    assert_false(take());
    frame.head.tag = 0;
    args.attributes_len = 8;
    assert_false(take());
    args.attributes_len = 0;
    function.aux = function_aux(4, 0, true);
    assert_false(take());
    function.aux = function_aux(4, 0, false);
    assert_true(take());
    all_ran_in_order();
}

/* Once more local memory is there than graphs know of, they are made anew. */
static void test_local_memory(void **state) {
    (void)state;
    take();
    take();
    assert_in_range(execs, 1, 100);
    of_function(2);
    function.aux = function_aux(4, 4096, false);
    assert_false(take());
    assert_int_equal(execs, 0);
    all_ran_in_order();
}

/* What the driver refuses by itself is not to be had by a graph. */
static void test_of_another_context(void **state) {
    (void)state;
    take();
    assert_true(take());
    frame.head.ctx = OTHER_CONTEXT;
    assert_false(take()); /* the function, too, might be the first one's */
    assert_false(take());
    args.stream_name = 0;
    assert_true(take());
    all_ran_in_order();
}

static void test_a_context_that_ended(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++)
        take();
    bundle_make(&w);
    next = ran_count;
    assert_true(take());
    assert_true(take());
    next -= bundle_held;
    context_ended = true;
    all_ran_in_order();
    assert_int_equal(told, CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(told_count, 2);
}

static void test_no_memory(void **state) {
    (void)state;
    take();
    no_graph_launches = no_memory = true;
    assert_true(take());
    all_ran_in_order();
    assert_false(no_memory);
    assert_int_equal(told, CUDA_SUCCESS);
}

/* Who forgets does not wait for a launch, whose chains end before the next. */
static void test_forgotten_meanwhile(void **state) {
    uint32_t before;

    (void)state;
    chains_forget(&w); /* those of other streams */
    for (int i = 0; i < 4; i++)
        take();
    bundle_make(&w);
    before = execs;
    assert_in_range(before, 2, 100);
    bundle_begin();
    forgets = true;
    assert_true(take());
    forgets = false;
    assert_int_equal(execs, before);
    bundle_begin();
    assert_true(take());
    assert_int_equal(execs, 1);
    all_ran_in_order();
}

/* Last: there is no way back. */
static void test_given_up(void **state) {
    (void)state;
    take();
    assert_true(take());
    bundle_give_up();
    assert_false(take());
    all_ran_in_order();
    chains_forget(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_grows, begin),
        cmocka_unit_test_setup(test_an_error_is_its_own, begin),
        cmocka_unit_test_setup(test_a_function_that_is_not_had, begin),
        cmocka_unit_test_setup(test_graphs_that_fail, begin),
        cmocka_unit_test_setup(test_streams_in_turn, begin),
        cmocka_unit_test_setup(test_more_streams_than_places, begin),
        cmocka_unit_test_setup(test_streams_that_ended, begin),
        cmocka_unit_test_setup(test_not_taken, begin),
        cmocka_unit_test_setup(test_local_memory, begin),
        cmocka_unit_test_setup(test_of_another_context, begin),
        cmocka_unit_test_setup(test_a_context_that_ended, begin),
        cmocka_unit_test_setup(test_no_memory, begin),
        cmocka_unit_test_setup(test_forgotten_meanwhile, begin),
        cmocka_unit_test_setup(test_given_up, begin),
    };

    return cmocka_run_group_tests_name("bundles of launches", tests, setup, NULL);
}
