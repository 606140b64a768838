// SPDX-License-Identifier: Apache-2.0
/* What graphs tell of themselves: nodes, roots, edges, dependencies, copies, text. */
#include <unistd.h>

#include "common.h"

#define N 5

static CUgraph graph;
static CUgraphNode node[N];

static int place(const CUgraphNode *nodes, CUgraphNode n) {
    for (int i = 0; i < N; i++)
        if (nodes[i] == n)
            return i;
    return -1;
}

static void lists(void) {
    CUgraphNode got[8], from[8], to[8];
    CUgraphEdgeData data[8];
    size_t n = 99;

    SHOW(cuGraphGetNodes(graph, NULL, &n));
    printf("count %zu\n", n);
    n = 8;
    memset(got, 0x55, sizeof(got));
    SHOW(cuGraphGetNodes(graph, got, &n));
    printf("count %zu, rest %d\n", n, got[5] == NULL);
    for (size_t i = 0; i < n; i++)
        printf("node %d\n", place(node, got[i]));
    n = 2;
    memset(got, 0, sizeof(got));
    SHOW(cuGraphGetNodes(graph, got, &n));
    printf("count %zu, rest %d\n", n, got[2] == NULL);
    SHOW(cuGraphGetNodes(graph, got, NULL));
    SHOW(cuGraphGetNodes(NULL, got, &n));
    n = 8;
    SHOW(cuGraphGetRootNodes(graph, got, &n));
    printf("roots %zu: %d\n", n, place(node, got[0]));
    n = 99;
    SHOW(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
    printf("edges %zu\n", n);
    n = 8;
    SHOW(cuGraphGetEdges(graph, from, to, data, &n));
    for (size_t i = 0; i < n; i++)
        printf("edge %d to %d type %d\n", place(node, from[i]), place(node, to[i]), data[i].type);
    n = 8;
    SHOW(cuGraphGetEdges(graph, from, NULL, NULL, &n));
    SHOW(cuGraphNodeGetDependencies(node[3], NULL, NULL, &n));
    printf("dependencies %zu\n", n);
    n = 8;
    SHOW(cuGraphNodeGetDependencies(node[3], got, NULL, &n));
    printf("%d %d\n", place(node, got[0]), place(node, got[1]));
    n = 8;
    SHOW(cuGraphNodeGetDependentNodes(node[0], got, NULL, &n));
    printf("dependents %zu: %d %d\n", n, place(node, got[0]), place(node, got[1]));
    n = 8;
    SHOW(cuGraphNodeGetDependentNodes(node[4], got, NULL, &n));
    printf("dependents %zu\n", n);
    SHOW(cuGraphNodeGetDependencies(NULL, got, NULL, &n));
    SHOW(cuGraphNodeGetDependencies(node[0], got, NULL, NULL));
}

static void edges(void) {
    size_t n;

    SHOW(cuGraphAddDependencies(graph, &node[0], &node[4], NULL, 1));
    SHOW(cuGraphAddDependencies(graph, &node[0], &node[4], NULL, 1)); /* again */
    SHOW(cuGraphAddDependencies(graph, &node[4], &node[0], NULL, 1)); /* a circle */
    SHOW(cuGraphAddDependencies(graph, &node[0], &node[0], NULL, 1));
    SHOW(cuGraphAddDependencies(graph, NULL, &node[0], NULL, 1));
    SHOW(cuGraphAddDependencies(graph, NULL, NULL, NULL, 0));
    SHOW(cuGraphAddDependencies(NULL, &node[0], &node[1], NULL, 1));
    CK(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
    printf("edges %zu\n", n);
    SHOW(cuGraphRemoveDependencies(graph, &node[0], &node[4], NULL, 1));
    SHOW(cuGraphRemoveDependencies(graph, &node[0], &node[4], NULL, 1)); /* again */
    SHOW(cuGraphRemoveDependencies(graph, &node[2], &node[1], NULL, 1));
    SHOW(cuGraphRemoveDependencies(graph, NULL, NULL, NULL, 1));
    CK(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
    printf("edges %zu\n", n);
}

static void clones(void) {
    CUgraphNode found, nodes[8], again;
    CUgraphNodeType type;
    CUgraph clone;
    size_t n = 8;

    SHOW(cuGraphClone(&clone, graph));
    SHOW(cuGraphNodeFindInClone(&found, node[2], clone));
    SHOW(cuGraphNodeGetType(found, &type));
    printf("type %d, another node %d\n", type, found != node[2]);
    CK(cuGraphGetNodes(clone, nodes, &n));
    printf("in its list %d\n", place(nodes, found) >= 0);
    SHOW(cuGraphNodeFindInClone(&again, node[2], clone));
    printf("the same %d\n", again == found);
    SHOW(cuGraphNodeFindInClone(&again, node[2], graph));
    SHOW(cuGraphNodeFindInClone(&again, NULL, clone));
    SHOW(cuGraphNodeFindInClone(NULL, node[2], clone));
    SHOW(cuGraphDestroyNode(found));
    n = 8;
    CK(cuGraphGetNodes(clone, nodes, &n));
    printf("left %zu\n", n);
    SHOW(cuGraphNodeFindInClone(&again, node[2], clone));
    SHOW(cuGraphClone(NULL, graph));
    SHOW(cuGraphClone(&clone, NULL));
    SHOW(cuGraphDestroy(clone));
    SHOW(cuGraphNodeGetType(node[2], NULL));
    SHOW(cuGraphNodeGetType(NULL, &type));
}

/* Node and edge lines of the text; the rest is the driver's own affair. */
static void text(void) {
    char path[] = "/tmp/graph_query.XXXXXX", line[4096];
    int fd = mkstemp(path), lines = 0, starts = 0;
    FILE *f;

    close(fd);
    SHOW(cuGraphDebugDotPrint(graph, path, 0));
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        starts += !strncmp(line, "digraph", 7);
        lines++;
    }
    if (f)
        fclose(f);
    printf("starts %d, has lines %d\n", starts, lines > 5);
    SHOW(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    SHOW(cuGraphDebugDotPrint(graph, NULL, 0));
    SHOW(cuGraphDebugDotPrint(NULL, path, 0));
    SHOW(cuGraphDebugDotPrint(graph, "/nowhere/at/all", 0));
    unlink(path);
}

/* More nodes than any one message could carry. */
static void many(void) {
    static CUgraphNode nodes[5000], got[5000], from[5000], to[5000];
    CUgraph big;
    size_t n = 5000, wrong = 0;

    CK(cuGraphCreate(&big, 0));
    for (int i = 0; i < 5000; i++)
        CK(cuGraphAddEmptyNode(&nodes[i], big, i ? &nodes[i - 1] : NULL, i ? 1 : 0));
    CK(cuGraphGetNodes(big, got, &n));
    for (size_t i = 0; i < n; i++)
        wrong += got[i] != nodes[i];
    printf("nodes %zu, out of order %zu\n", n, wrong);
    n = 5000;
    CK(cuGraphGetEdges(big, from, to, NULL, &n));
    printf("edges %zu\n", n);
    CUgraphNode join;
    SHOW(cuGraphAddEmptyNode(&join, big, nodes, 3000));
    n = 5000;
    CK(cuGraphNodeGetDependencies(join, got, NULL, &n));
    printf("dependencies %zu\n", n);
    SHOW(cuGraphDestroy(big));
}

int main(void) {
    start();
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddEmptyNode(&node[0], graph, NULL, 0));
    CK(cuGraphAddEmptyNode(&node[1], graph, &node[0], 1));
    CK(cuGraphAddEmptyNode(&node[2], graph, &node[0], 1));
    CUgraphNode both[] = {node[1], node[2]};
    CK(cuGraphAddEmptyNode(&node[3], graph, both, 2));
    CK(cuGraphAddEmptyNode(&node[4], graph, &node[3], 1));
    printf("-- lists\n");
    lists();
    printf("-- edges\n");
    edges();
    printf("-- clones\n");
    clones();
    printf("-- text\n");
    text();
    printf("-- many\n");
    many();
    SHOW(cuGraphDestroyNode(node[3]));
    SHOW(cuGraphDestroyNode(NULL));
    SHOW(cuGraphDestroy(graph));
    return 0;
}
