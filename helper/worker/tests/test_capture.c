// SPDX-License-Identifier: Apache-2.0
/* Captures: none is left where its stream ends without cuStreamEndCapture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graphs.h"
#include "objects_free.h"

#define CONTEXT vcuda_name(VCUDA_KIND_CONTEXT, 1, 1)
#define STREAM(i) vcuda_name(VCUDA_KIND_STREAM, 1, i)

static struct worker w;

/* ---- a driver that captures a stream into the graph of the same number ---- */

static CUresult begin(CUstream stream, CUstreamCaptureMode mode) {
    (void)stream;
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    return CUDA_SUCCESS;
}

static CUresult info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                     const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count) {
    (void)id, (void)nodes, (void)edges, (void)count;
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    *graph = (CUgraph)stream;
    return CUDA_SUCCESS;
}

static CUresult end(CUstream stream, CUgraph *graph) {
    *graph = (CUgraph)stream;
    return CUDA_SUCCESS;
}

/* ---- what captures need of the worker's other parts ---- */

uint64_t graph_name_of(struct worker *worker, CUgraph graph, uint64_t owner) {
    (void)worker, (void)graph;
    return owner;
}

CUresult graph_list_put(struct worker *worker, uint64_t owner, const struct graph_list *list,
                        uint64_t first, void *out, uint32_t cap, uint32_t *len) {
    (void)worker, (void)owner, (void)list, (void)first, (void)out, (void)cap, (void)len;
    return CUDA_SUCCESS;
}

/* ---- */

/* A stream that is captured, and its graph with a name, as after a question about the capture. */
static uint64_t capture(uint32_t i) {
    struct object stream = {.native = (void *)(uintptr_t)(16 * i), .owner = CONTEXT};
    struct args_cuStreamBeginCapture_v2 a = {.hStream = stream.native, .hStream_name = STREAM(i)};
    struct object graph = {.native = stream.native};

    assert_true(objects_add(&w.objects, STREAM(i), &stream));
    assert_int_equal(own_cuStreamBeginCapture_v2(&w, NULL, &a), CUDA_SUCCESS);
    return objects_name(&w.objects, VCUDA_KIND_GRAPH, &graph);
}

static bool graph_named(uint64_t name) {
    struct object o;

    return objects_get(&w.objects, VCUDA_KIND_GRAPH, name, &o);
}

static void test_ended(void **state) {
    struct args_cuStreamEndCapture a = {.hStream = (CUstream)32, .hStream_name = STREAM(2)};
    uint64_t first = capture(1), second = capture(2);

    (void)state;
    capture_drop_ended(&w);
    assert_true(capture_any() && graph_named(first) && graph_named(second));
    objects_end(&w.objects, STREAM(1));
    capture_drop_ended(&w);
    assert_true(capture_any() && !graph_named(first) && graph_named(second));
    assert_int_equal(own_cuStreamEndCapture(&w, NULL, &a), CUDA_SUCCESS);
    assert_false(capture_any());
    assert_true(graph_named(second));
}

static void test_context_ended(void **state) {
    (void)state;
    capture(3);
    capture(4);
    objects_end(&w.objects, CONTEXT);
    capture_drop_ended(&w);
    assert_false(capture_any());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_context_ended),
    };
    int failed;

    objects_init(&w.objects);
    objects_add(&w.objects, CONTEXT, &(struct object){.native = &w});
    w.driver.cuStreamBeginCapture_v2 = begin;
    w.driver.cuStreamGetCaptureInfo_v3 = info;
    w.driver.cuStreamEndCapture = end;
    failed = cmocka_run_group_tests_name("capture", tests, NULL, NULL);
    objects_free(&w.objects);
    return failed;
}
