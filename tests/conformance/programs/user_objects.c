// SPDX-License-Identifier: Apache-2.0
/* User objects: who holds references, and when the destructor runs. */
#include <pthread.h>
#include <unistd.h>

#include "common.h"

static volatile int ended;
static pthread_t caller;

static void destroy(void *arg) {
    caller = pthread_self();
    __sync_fetch_and_add(&ended, *(int *)arg);
}

/* The destructor may run on another thread, a little later. */
static int settled(void) {
    for (int i = 0; i < 300 && !ended; i++)
        usleep(1000);
    return ended;
}

int main(void) {
    int one = 1;
    CUuserObject o;
    CUgraph graph, clone;
    CUgraphExec exec;
    CUgraphNode node;
    CUstream s;

    start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    printf("-- alone\n");
    SHOW(cuUserObjectCreate(&o, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SHOW(cuUserObjectRetain(o, 2));
    SHOW(cuUserObjectRelease(o, 1));
    SHOW(cuUserObjectRelease(o, 1));
    usleep(20000);
    printf("ended %d\n", ended);
    SHOW(cuUserObjectRelease(o, 1));
    printf("ended %d\n", settled());

    printf("-- with a graph\n");
    ended = 0;
    CK(cuUserObjectCreate(&o, &one, destroy, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    SHOW(cuGraphRetainUserObject(graph, o, 1, 0));
    SHOW(cuGraphRetainUserObject(graph, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    SHOW(cuGraphReleaseUserObject(graph, o, 1));
    SHOW(cuUserObjectRelease(o, 1));
    SHOW(cuGraphClone(&clone, graph));
    SHOW(cuGraphInstantiateWithFlags(&exec, clone, 0));
    SHOW(cuGraphDestroy(graph));
    SHOW(cuGraphDestroy(clone));
    usleep(20000);
    printf("ended %d\n", ended);
    SHOW(cuGraphLaunch(exec, s));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuGraphExecDestroy(exec));
    CK(cuCtxSynchronize());
    printf("ended %d\n", settled());

    printf("-- of a capture\n");
    ended = 0;
    CK(cuUserObjectCreate(&o, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CUstreamCaptureStatus status;
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(cuStreamGetCaptureInfo(s, &status, NULL, &graph, NULL, NULL, NULL));
    SHOW(cuGraphRetainUserObject(graph, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CK(cuStreamEndCapture(s, &graph));
    printf("ended %d\n", ended);
    SHOW(cuGraphDestroy(graph));
    printf("ended %d\n", settled());

    printf("-- wrong\n");
    SHOW(cuUserObjectCreate(NULL, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SHOW(cuUserObjectCreate(&o, &one, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SHOW(cuUserObjectCreate(&o, &one, destroy, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SHOW(cuUserObjectCreate(&o, &one, destroy, 1, 0));
    SHOW(cuUserObjectCreate(&o, &one, destroy, 1, 6));
    CK(cuUserObjectCreate(&o, NULL, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SHOW(cuUserObjectRetain(o, 0));
    SHOW(cuUserObjectRelease(o, 0));
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphRetainUserObject(graph, o, 0, 0));
    SHOW(cuGraphRetainUserObject(graph, o, 1, 8));
    SHOW(cuGraphRetainUserObject(NULL, o, 1, 0));
    SHOW(cuGraphRetainUserObject(graph, NULL, 1, 0));
    SHOW(cuGraphReleaseUserObject(graph, o, 1));
    SHOW(cuUserObjectRetain(NULL, 1));
    SHOW(cuUserObjectRelease(NULL, 1));
    CK(cuGraphDestroy(graph));
    return 0;
}
