// SPDX-License-Identifier: Apache-2.0
/*
 * usage: remote [MEANS [LARGEST]]   Vector addition and matrix multiplication by size: milliseconds
 * of a program's step, which is inputs up, kernel, result down.
 *
 * MEANS: direct (default) makes the calls on whichever libcuda.so.1 the loader finds; tcp, unix and
 * zeromq send each to a small server in another process, which makes it there and answers, as a
 * library that forwards calls over a network does. LARGEST: order of the largest matrix.
 */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_ZMQ
#include <zmq.h>
#endif

#include "bench.h"

enum operation { ALLOCATE, UP, DOWN, VECTOR_ADD, MATRIX_MULTIPLY };

struct request {
    uint32_t operation, n;
    uint64_t bytes;
    CUdeviceptr a, b, c; /* a: of a copy */
};

struct answer {
    uint64_t result, pointer;
};

/* The client's end or the server's. */
static int fd = -1;
static void *zmq;
static CUfunction functions[2];

#define KERNELS                                                                                    \
    ".version 7.0\n.target sm_80\n.address_size 64\n"                                              \
    ".visible .entry vector_add(.param .u64 a,.param .u64 b,.param .u64 c,.param .u32 n){\n"       \
    ".reg .u32 %r<6>; .reg .u64 %d<8>; .reg .f32 %f<4>; .reg .pred %p;\n"                          \
    "mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x;\n"                             \
    "mad.lo.u32 %r4,%r1,%r2,%r3; ld.param.u32 %r5,[n];\n"                                          \
    "setp.ge.u32 %p,%r4,%r5; @%p bra END;\n"                                                       \
    "ld.param.u64 %d1,[a]; ld.param.u64 %d2,[b]; ld.param.u64 %d3,[c];\n"                          \
    "mul.wide.u32 %d4,%r4,4; add.u64 %d5,%d1,%d4; add.u64 %d6,%d2,%d4; add.u64 %d7,%d3,%d4;\n"     \
    "ld.global.f32 %f1,[%d5]; ld.global.f32 %f2,[%d6];\n"                                          \
    "add.f32 %f3,%f1,%f2; st.global.f32 [%d7],%f3;\n"                                              \
    "END: ret;}\n"                                                                                 \
    ".visible .entry matrix_multiply(.param .u64 a,.param .u64 b,.param .u64 c,.param .u32 n){\n"  \
    ".reg .u32 %r<12>; .reg .u64 %d<12>; .reg .f32 %f<5>; .reg .pred %p;\n"                        \
    "mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x;\n"                             \
    "mad.lo.u32 %r4,%r1,%r2,%r3;\n"                                                                \
    "mov.u32 %r5,%ctaid.y; mov.u32 %r6,%ntid.y; mov.u32 %r7,%tid.y;\n"                             \
    "mad.lo.u32 %r8,%r5,%r6,%r7; ld.param.u32 %r9,[n];\n"                                          \
    "max.u32 %r10,%r4,%r8; setp.ge.u32 %p,%r10,%r9; @%p bra END;\n"                                \
    "ld.param.u64 %d1,[a]; ld.param.u64 %d2,[b]; ld.param.u64 %d3,[c];\n"                          \
    "mul.lo.u32 %r10,%r8,%r9; mul.wide.u32 %d4,%r10,4; add.u64 %d5,%d1,%d4;\n"                     \
    "mul.wide.u32 %d6,%r4,4; add.u64 %d7,%d2,%d6; mul.wide.u32 %d8,%r9,4;\n"                       \
    "mov.f32 %f1,0f00000000; mov.u32 %r11,0;\n"                                                    \
    "LOOP: ld.global.f32 %f2,[%d5]; ld.global.f32 %f3,[%d7]; fma.rn.f32 %f1,%f2,%f3,%f1;\n"        \
    "add.u64 %d5,%d5,4; add.u64 %d7,%d7,%d8; add.u32 %r11,%r11,1;\n"                               \
    "setp.lt.u32 %p,%r11,%r9; @%p bra LOOP;\n"                                                     \
    "add.u64 %d9,%d3,%d4; add.u64 %d10,%d9,%d6; st.global.f32 [%d10],%f1;\n"                       \
    "END: ret;}\n"

static void open_driver(void) {
    CUmodule module;

    start();
    CK(cuModuleLoadData(&module, KERNELS));
    CK(cuModuleGetFunction(&functions[0], module, "vector_add"));
    CK(cuModuleGetFunction(&functions[1], module, "matrix_multiply"));
}

static CUresult launch(const struct request *q) {
    bool matrix = q->operation == MATRIX_MULTIPLY;
    uint64_t pointers[] = {q->a, q->b, q->c};
    uint32_t n = q->n, blocks = matrix ? (n + 15) / 16 : (n + 255) / 256;
    void *args[] = {&pointers[0], &pointers[1], &pointers[2], &n};

    return cuLaunchKernel(functions[matrix], blocks, matrix ? blocks : 1, 1, matrix ? 16 : 256,
                          matrix ? 16 : 1, 1, 0, NULL, args, NULL);
}

/* Makes the call here. `data` is what a copy moves. */
static struct answer make(const struct request *q, void *data) {
    struct answer a = {0, 0};
    CUdeviceptr p = 0;

    switch (q->operation) {
    case ALLOCATE:
        a.result = (uint64_t)cuMemAlloc(&p, q->bytes);
        a.pointer = p;
        break;
    case UP:
        a.result = (uint64_t)cuMemcpyHtoD(q->a, data, q->bytes);
        break;
    case DOWN:
        a.result = (uint64_t)cuMemcpyDtoH(data, q->a, q->bytes);
        break;
    default:
        a.result = (uint64_t)launch(q);
    }
    return a;
}

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

/* A part of a message; over ZeroMQ parts are kept together. */
static void put(const void *data, size_t bytes, bool more) {
#ifdef HAVE_ZMQ
    if (zmq) {
        if (zmq_send(zmq, data, bytes, more ? ZMQ_SNDMORE : 0) < 0)
            give_up("zmq_send");
        return;
    }
#endif
    for (size_t at = 0; at < bytes;) {
        ssize_t n =
            send(fd, (const char *)data + at, bytes - at, MSG_NOSIGNAL | (more ? MSG_MORE : 0));

        if (n < 0 && errno != EINTR)
            give_up("send");
        at += n > 0 ? (size_t)n : 0;
    }
}

/* False: the other side is gone. */
static bool get(void *data, size_t bytes) {
#ifdef HAVE_ZMQ
    if (zmq)
        return zmq_recv(zmq, data, bytes, 0) == (int)bytes;
#endif
    for (size_t at = 0; at < bytes;) {
        ssize_t n = recv(fd, (char *)data + at, bytes - at, 0);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void serve(void) {
    struct request q;
    struct answer a;
    size_t room = 0;
    char *data = NULL;

    open_driver();
    while (get(&q, sizeof(q))) {
        bool copies = q.operation == UP || q.operation == DOWN;

        if (copies && q.bytes > room) {
            free(data);
            room = q.bytes;
            data = malloc(room);
        }
        if (q.operation == UP && !get(data, q.bytes))
            break;
        a = make(&q, data);
        put(&a, sizeof(a), q.operation == DOWN);
        if (q.operation == DOWN)
            put(data, q.bytes, false);
    }
    _exit(0);
}

static bool direct;

static uint64_t call(const struct request *q, void *data) {
    struct answer a;

    if (direct) {
        a = make(q, data);
    } else {
        put(q, sizeof(*q), q->operation == UP);
        if (q->operation == UP)
            put(data, q->bytes, false);
        if (!get(&a, sizeof(a)) || (q->operation == DOWN && !get(data, q->bytes)))
            give_up("the server");
    }
    CK((CUresult)a.result);
    return a.pointer;
}

static void measure(enum operation what, const char *name, uint32_t n) {
    size_t count = what == MATRIX_MULTIPLY ? (size_t)n * n : n, bytes = count * sizeof(float);
    struct request allocate = {.operation = ALLOCATE, .bytes = bytes};
    CUdeviceptr a = call(&allocate, NULL), b = call(&allocate, NULL), c = call(&allocate, NULL);
    float *host = malloc(bytes), *other = malloc(bytes), *result = malloc(bytes);
    double samples[20];
    char figure[64];

    for (size_t i = 0; i < count; i++)
        host[i] = (float)(i % 7), other[i] = 1;
    for (int i = -2; i < 20; i++) {
        double begun = now();

        call(&(struct request){UP, n, bytes, a, 0, 0}, host);
        call(&(struct request){UP, n, bytes, b, 0, 0}, other);
        call(&(struct request){what, n, 0, a, b, c}, NULL);
        call(&(struct request){DOWN, n, bytes, c, 0, 0}, result);
        if (i >= 0)
            samples[i] = (now() - begun) * 1e3;
    }
    for (size_t i = 0; what == VECTOR_ADD && i < count; i++) {
        if (result[i] != host[i] + 1)
            give_up("a wrong sum");
    }
    snprintf(figure, sizeof(figure), "%s %u", name, n);
    report(figure, "ms", samples, 20);
    free(host), free(other), free(result);
}

/* Two connected ends: [0] of the client. */
static void connect_sockets(const char *means, int ends[2]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener, one = 1;

    if (!strcmp(means, "unix")) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
            give_up("socketpair");
        return;
    }
    listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &len) ||
        connect(ends[0], (struct sockaddr *)&at, len))
        give_up("TCP on the loopback");
    ends[1] = accept(listener, NULL, NULL);
    setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    close(listener);
}

#ifdef HAVE_ZMQ
static void open_zmq(const char *address, bool client) {
    zmq = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
    if (client ? zmq_connect(zmq, address) : zmq_bind(zmq, address))
        give_up(address);
}
#endif

static void start_server(const char *means) {
    bool messages = !strcmp(means, "zeromq");
    int ends[2] = {-1, -1};
    char address[64];
    bool client;

    snprintf(address, sizeof(address), "ipc:///tmp/vcuda-bench-%d", (int)getpid());
    if (!messages)
        connect_sockets(means, ends);
    client = fork() != 0;
    if (!client)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!messages) {
        fd = ends[client ? 0 : 1];
        close(ends[client ? 1 : 0]);
    } else {
#ifdef HAVE_ZMQ
        open_zmq(address, client);
#else
        puts("ZeroMQ was not built in");
        exit(77);
#endif
    }
    if (!client)
        serve();
}

int main(int argc, char **argv) {
    const char *means = argc > 1 ? argv[1] : "direct";
    uint32_t largest = argc > 2 ? (uint32_t)atoi(argv[2]) : 128;

    direct = !strcmp(means, "direct");
    if (direct)
        open_driver();
    else
        start_server(means);
    for (uint32_t n = 1 << 10; n <= 1 << 20 && n <= largest << 11; n *= 4)
        measure(VECTOR_ADD, "vector add", n);
    for (uint32_t n = 16; n <= largest; n *= 2)
        measure(MATRIX_MULTIPLY, "matrix multiply", n);
    return 0;
}
