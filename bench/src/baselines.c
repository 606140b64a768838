// SPDX-License-Identifier: Apache-2.0
/*
 * usage: baselines [SAMPLES]   What a waited call costs by other means, between two processes.
 *
 * Each carries the same bytes as one of our calls without arguments: a record of 40 bytes there, a
 * completion of 40 bytes back. The floor is a cache line that two processors hand to each other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_ZMQ
#include <zmq.h>
#endif

#include "bench.h"

#define RECORD 40

static double *samples;
static int count = 5000;

static void on_processor(int which) {
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(which % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* Two words on two cache lines, shared by two processes. */
struct lines {
    _Alignas(64) uint32_t there;
    _Alignas(64) uint32_t back;
};

static void floor_of_it(void) {
    struct lines *l =
        mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    if (l == MAP_FAILED)
        exit(1);
    child = fork();
    if (!child) {
        on_processor(1);
        for (uint32_t i = 1; i <= (uint32_t)count; i++) {
            while (__atomic_load_n(&l->there, __ATOMIC_ACQUIRE) != i)
                __builtin_ia32_pause();
            __atomic_store_n(&l->back, i, __ATOMIC_RELEASE);
        }
        _exit(0);
    }
    on_processor(0);
    for (uint32_t i = 1; i <= (uint32_t)count; i++) {
        double begun = now();

        __atomic_store_n(&l->there, i, __ATOMIC_RELEASE);
        while (__atomic_load_n(&l->back, __ATOMIC_ACQUIRE) != i)
            __builtin_ia32_pause();
        samples[i - 1] = (now() - begun) * 1e6;
    }
    waitpid(child, NULL, 0);
    munmap(l, sizeof(*l));
    report("floor: a cache line there and back", "us", samples, count);
}

static void all(ssize_t (*move)(int, char *, size_t), int fd, char *buffer) {
    for (size_t at = 0; at < RECORD;) {
        ssize_t n = move(fd, buffer + at, RECORD - at);

        if (n <= 0 && errno != EINTR)
            _exit(1);
        at += n > 0 ? (size_t)n : 0;
    }
}

static ssize_t do_read(int fd, char *buffer, size_t bytes) {
    return read(fd, buffer, bytes);
}

static ssize_t do_write(int fd, char *buffer, size_t bytes) {
    return write(fd, buffer, bytes);
}

/* Calls over a pair of connected sockets, server and client in two processes. */
static void over_sockets(const char *figure, int server, int client) {
    char buffer[RECORD] = {0};
    pid_t child = fork();

    if (!child) {
        close(client);
        for (int i = 0; i < count; i++) {
            all(do_read, server, buffer);
            all(do_write, server, buffer);
        }
        _exit(0);
    }
    close(server);
    for (int i = 0; i < count; i++) {
        double begun = now();

        all(do_write, client, buffer);
        all(do_read, client, buffer);
        samples[i] = (now() - begun) * 1e6;
    }
    close(client);
    waitpid(child, NULL, 0);
    report(figure, "us", samples, count);
}

static void over_unix(void) {
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
        exit(1);
    over_sockets("a call over a Unix socket", fds[0], fds[1]);
}

static void over_tcp(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    int server, one = 1;

    if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &len) ||
        connect(client, (struct sockaddr *)&at, len))
        exit(1);
    server = accept(listener, NULL, NULL);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    over_sockets("a call over TCP, loopback", server, client);
    close(listener);
}

#ifdef HAVE_ZMQ
static void over_zmq(void) {
    char buffer[RECORD] = {0}, address[64];
    pid_t child;
    void *context, *socket;

    snprintf(address, sizeof(address), "ipc:///tmp/vcuda-bench-%d", (int)getpid());
    child = fork();
    if (!child) {
        context = zmq_ctx_new();
        socket = zmq_socket(context, ZMQ_REP);
        if (zmq_bind(socket, address))
            _exit(1);
        for (int i = 0; i < count; i++) {
            zmq_recv(socket, buffer, RECORD, 0);
            zmq_send(socket, buffer, RECORD, 0);
        }
        zmq_close(socket);
        zmq_ctx_term(context);
        _exit(0);
    }
    context = zmq_ctx_new();
    socket = zmq_socket(context, ZMQ_REQ);
    if (zmq_connect(socket, address))
        exit(1);
    for (int i = 0; i < count; i++) {
        double begun = now();

        zmq_send(socket, buffer, RECORD, 0);
        zmq_recv(socket, buffer, RECORD, 0);
        samples[i] = (now() - begun) * 1e6;
    }
    zmq_close(socket);
    zmq_ctx_term(context);
    waitpid(child, NULL, 0);
    report("a call over ZeroMQ, ipc", "us", samples, count);
}
#endif

int main(int argc, char **argv) {
    if (argc > 1)
        count = atoi(argv[1]);
    samples = calloc((size_t)count, sizeof(*samples));
    signal(SIGPIPE, SIG_IGN);
    floor_of_it();
    over_unix();
    over_tcp();
#ifdef HAVE_ZMQ
    over_zmq();
#endif
    return 0;
}
