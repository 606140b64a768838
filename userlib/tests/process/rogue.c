// SPDX-License-Identifier: Apache-2.0
/*
 * usage: rogue CASE   A hostile program: speaks protocol/local.h to a worker
 * and breaks one rule. Says how the worker took it: "refused" (the session was
 * not opened), "ended" (it was cut off), or "error N" (the call got CUresult
 * N). What the worker may not do is to crash: ./run looks at its exit.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "barrier.h"
#include "calls.h"
#include "info.h"
#include "local.h"
#include "record.h"
#include "ring.h"
#include "version.h"

#define RING VCUDA_RING_MIN
#define PATIENCE_MS 3000
#define ARENA 0x200000000000ull
#define SHARED 0x10000000000ull /* where the worker has nothing */
#define REGION_BYTES (8ull << 20)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int sock, to_worker, to_us, memory;
static void *rings;
static struct vcuda_duplex duplex;
static struct vcuda_side *own;
static uint64_t current; /* context of the calls */

static void fail(const char *what) {
    printf("rogue: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void finish(const char *how) {
    puts(how);
    exit(0);
}

static int make_memory(uint64_t bytes, int seals) {
    int fd = memfd_create("rogue", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, (off_t)bytes) || (seals && fcntl(fd, F_ADD_SEALS, seals)))
        fail("memory");
    return fd;
}

static void send_fds(const struct vcuda_local_msg *m, size_t bytes, const int *fds, int count) {
    char control[CMSG_SPACE(16 * sizeof(int))] = {0};
    struct iovec iov = {(void *)m, bytes};
    struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};

    if (count) {
        struct cmsghdr *c = (struct cmsghdr *)control;

        h.msg_control = control;
        h.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)count * sizeof(int));
    }
    if (sendmsg(sock, &h, MSG_NOSIGNAL) < 0)
        fail("sendmsg");
}

static void connect_to_vcudad(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("VCUDA_SOCKET");

    if (!path || strlen(path) >= sizeof(address.sun_path))
        fail("VCUDA_SOCKET");
    strcpy(address.sun_path, path);
    sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(sock, (struct sockaddr *)&address, sizeof(address)))
        fail("connect");
    to_worker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    to_us = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/* Ends the program unless the session was opened. */
static void opened(void) {
    struct pollfd p = {sock, POLLIN, 0};
    struct vcuda_local_msg m;

    if (poll(&p, 1, 2 * PATIENCE_MS) != 1)
        finish("no answer");
    if (recv(sock, &m, sizeof(m), 0) != sizeof(m) || m.status)
        finish("refused");
}

static struct vcuda_local_msg opening(void) {
    return (struct vcuda_local_msg){
        .op = VCUDA_LOCAL_OPEN, .version = VCUDA_VERSION_MAX, .sub_bytes = RING, .cmp_bytes = RING};
}

static void open_session(void) {
    struct vcuda_local_msg m = opening();
    int fds[3];

    connect_to_vcudad();
    memory = make_memory(vcuda_rings_bytes(RING, RING), SEALS);
    rings =
        mmap(NULL, vcuda_rings_bytes(RING, RING), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (rings == MAP_FAILED)
        fail("mmap");
    own = rings;
    fds[0] = memory;
    fds[1] = to_worker;
    fds[2] = to_us;
    send_fds(&m, sizeof(m), fds, 3);
    opened();
    vcuda_duplex_session(&duplex, rings, RING, RING, VCUDA_PARTY_G);
}

static void kick(void) {
    uint64_t one = 1;

    if (write(to_worker, &one, sizeof(one)) < 0)
        fail("kick");
}

/* Whether the worker hangs up in time. */
static void expect_end(void) {
    struct pollfd p = {sock, 0, 0};

    finish(poll(&p, 1, PATIENCE_MS) == 1 ? "ended" : "goes on");
}

static void put(const void *record, uint32_t len) {
    while (vcuda_tx_fits(&duplex, len) == 0)
        usleep(100);
    vcuda_tx_put(&duplex, 0, record, len);
    vcuda_tx_publish(&duplex, len);
    kick();
}

/* The next completion's status; ends the program when the worker has hung up. */
static uint32_t answer(void) {
    static uint8_t buf[VCUDA_REC_MAX];
    struct pollfd p = {sock, 0, 0};
    struct vcuda_rec head;

    for (int waited = 0; waited < PATIENCE_MS; waited++) {
        if (vcuda_rx_take(&duplex, buf, sizeof(buf), sizeof(head)) > 0) {
            memcpy(&head, buf, sizeof(head));
            return head.status;
        }
        if (poll(&p, 1, 1) == 1)
            finish("ended");
    }
    finish("no answer");
    return 0;
}

/* A call with these slots and, behind them, `extra` bytes. */
static uint32_t call(uint32_t number, uint64_t tag, const uint64_t *slots, uint32_t count,
                     const void *blobs, uint32_t extra) {
    struct {
        struct vcuda_rec head;
        uint8_t rest[1024];
    } r = {.head = {.call = (uint16_t)number, .tag = tag, .ctx = current}};

    r.head.len = (uint32_t)sizeof(r.head) + 8 * count + VCUDA_PAD8(extra);
    memcpy(r.rest, slots, 8 * count);
    if (extra)
        memcpy(r.rest + 8 * count, blobs, extra);
    put(&r, r.head.len);
    return tag ? answer() : 0;
}

#define CALL(number, ...)                                                                          \
    call(VCUDA_CALL_##number, 1, (const uint64_t[]){__VA_ARGS__},                                  \
         sizeof((const uint64_t[]){__VA_ARGS__}) / 8, NULL, 0)

static void report(uint32_t status) {
    printf("error %u\n", status);
    exit(status ? 0 : 1);
}

/* ---- before the session ---- */

static void open_with(struct vcuda_local_msg m, size_t bytes, int seals, uint64_t size, int count) {
    int fds[16];

    connect_to_vcudad();
    fds[0] = make_memory(size, seals);
    fds[1] = to_worker;
    for (int i = 2; i < 16; i++)
        fds[i] = to_us;
    send_fds(&m, bytes, fds, count);
    opened();
    finish("opened");
}

#define RINGS vcuda_rings_bytes(RING, RING)

static void not_sealed(void) {
    open_with(opening(), sizeof(struct vcuda_local_msg), 0, RINGS, 3);
}

static void memory_too_small(void) {
    open_with(opening(), sizeof(struct vcuda_local_msg), SEALS, 4096, 3);
}

static void no_descriptors(void) {
    open_with(opening(), sizeof(struct vcuda_local_msg), SEALS, RINGS, 0);
}

static void one_descriptor_too_many(void) {
    open_with(opening(), sizeof(struct vcuda_local_msg), SEALS, RINGS, 4);
}

static void many_descriptors(void) {
    open_with(opening(), sizeof(struct vcuda_local_msg), SEALS, RINGS, 16);
}

static void short_message(void) {
    open_with(opening(), 7, SEALS, RINGS, 3);
}

static void wild_ring_sizes(void) {
    struct vcuda_local_msg m = opening();

    m.sub_bytes = 0x80000000u;
    m.cmp_bytes = 3;
    open_with(m, sizeof(m), SEALS, RINGS, 3);
}

/* ---- the rings ---- */

static void index_jumps(void) {
    open_session();
    vcuda_store_release(&own->prod, 0x7fffff00u);
    kick();
    expect_end();
}

static void index_ragged(void) {
    open_session();
    vcuda_store_release(&own->prod, 13);
    kick();
    expect_end();
}

/* Seen when the worker looks for room in its completion ring. */
static void completion_index_jumps(void) {
    open_session();
    for (int i = 0; i < 5000; i++) {
        CALL(cuCtxGetFlags, 0);
        vcuda_store_release(&own->cons, 0x12345678u);
    }
    expect_end();
}

static void record_of_length(uint32_t len) {
    struct vcuda_rec r = {.len = len, .call = VCUDA_CALL_hello, .tag = 1};

    open_session();
    vcuda_tx_put(&duplex, 0, &r, sizeof(r));
    vcuda_tx_publish(&duplex, sizeof(r));
    kick();
    expect_end();
}

static void length_zero(void) {
    record_of_length(0);
}

static void length_ragged(void) {
    record_of_length(sizeof(struct vcuda_rec) + 3);
}

static void length_beyond_the_ring(void) {
    record_of_length(0xfffffff8u);
}

static void length_beyond_what_is_there(void) {
    record_of_length(sizeof(struct vcuda_rec) + 8);
}

static void unknown_call(void) {
    open_session();
    call(VCUDA_CALLS, 1, NULL, 0, NULL, 0);
    expect_end();
}

static void unknown_call_far(void) {
    open_session();
    call(0xffff, 1, NULL, 0, NULL, 0);
    expect_end();
}

static void posted_where_not_allowed(void) {
    open_session();
    call(VCUDA_CALL_cuMemGetInfo_v2, 0, NULL, 0, NULL, 0);
    expect_end();
}

static void slots_missing(void) {
    open_session();
    call(VCUDA_CALL_copy_done, 1, NULL, 0, NULL, 0);
    expect_end();
}

/* ---- calls ---- */

static void blob_reaches_out(void) {
    const uint64_t slots[] = {1, 1, 0, 1, 1ull << 32 | 8};

    open_session();
    report(call(VCUDA_CALL_hello, 1, slots, 5, "program", 8));
}

static void string_without_end(void) {
    const uint64_t slots[] = {1, 1, 0, 1, 8};

    open_session();
    report(call(VCUDA_CALL_hello, 1, slots, 5, "programm", 8));
}

static uint64_t make_context(void) {
    uint64_t name = vcuda_name(VCUDA_KIND_CONTEXT, 1, 1);

    if (CALL(cuDevicePrimaryCtxRetain, name, 0, 0))
        fail("no context");
    return name;
}

static void copy_outside_the_arena(void) {
    open_session();
    make_context();
    report(CALL(copy_done, VCUDA_COPY_HTOD, 0x7f0000000000, (uint64_t)(uintptr_t)&sock, 64, 0));
}

static void copy_into_the_worker(void) {
    open_session();
    make_context();
    report(CALL(copy_done, VCUDA_COPY_DTOH, 0x400000, 0x7f0000000000, 1ull << 40, 0));
}

static void module_outside_the_arena(void) {
    const uint64_t slots[] = {vcuda_name(VCUDA_KIND_MODULE, 1, 1), 0x400000, 4096, 0, 0, 0, 16};

    open_session();
    make_context();
    report(call(VCUDA_CALL_module_load, 1, slots, 7, NULL, 0));
}

static void wild_names(void) {
    open_session();
    make_context();
    for (int kind = 0; kind < 16; kind++) {
        if (!CALL(cuStreamSynchronize, (uint64_t)kind << 40 | 0x1230) ||
            !CALL(cuEventSynchronize, (uint64_t)kind << 40 | 0xfffff0) ||
            !CALL(cuEventQuery, ~(uint64_t)kind))
            finish("a wild name was taken");
    }
    report(CALL(cuModuleUnload, UINT64_MAX));
}

static void send_region(uint64_t bytes, int seals, uint64_t said) {
    struct vcuda_local_msg m = {.op = VCUDA_LOCAL_REGION, .region = 1, .bytes = said};
    int fd = make_memory(bytes, seals);

    send_fds(&m, sizeof(m), &fd, 1);
    close(fd);
}

static void region_at(uint64_t address, uint64_t bytes, int seals, uint64_t said) {
    open_session();
    send_region(bytes, seals, said);
    report(CALL(map_region, 1, address, said));
}

static void region_at_zero(void) {
    region_at(0, REGION_BYTES, SEALS, REGION_BYTES);
}

static void region_over_the_worker(void) {
    region_at(0x555555554000, REGION_BYTES, SEALS, REGION_BYTES);
}

static void region_ragged(void) {
    region_at(ARENA + 8, REGION_BYTES, SEALS, REGION_BYTES);
}

static void region_beyond_the_end(void) {
    region_at(ARENA, REGION_BYTES, SEALS, UINT64_MAX - 4095);
}

static void region_not_sealed(void) {
    region_at(ARENA, REGION_BYTES, 0, REGION_BYTES);
}

static void region_smaller_than_said(void) {
    region_at(ARENA, 4096, SEALS, REGION_BYTES);
}

static void region_without_descriptor(void) {
    open_session();
    report(CALL(map_region, 1, ARENA, REGION_BYTES));
}

/* Registered memory is the program's own, which the arena is not. */
static void region_shared_in_the_arena(void) {
    open_session();
    make_context();
    send_region(REGION_BYTES, SEALS, REGION_BYTES);
    report(CALL(share_region, 1, ARENA + REGION_BYTES, REGION_BYTES));
}

/* A region ends where no context is current any more: the driver lets go of it all the same. */
static void region_ends_without_context(void) {
    open_session();
    for (int round = 0; round < 2; round++) {
        uint64_t name = vcuda_name(VCUDA_KIND_CONTEXT, round + 1, 1);

        current = 0;
        if (CALL(cuCtxCreate_v2, name, 0, 0))
            fail("no context");
        send_region(REGION_BYTES, SEALS, REGION_BYTES);
        if (CALL(share_region, 1, SHARED, REGION_BYTES))
            finish("the driver still has it");
        current = name;
        if (CALL(cuCtxDestroy_v2, name))
            fail("destroy");
        current = 0;
        if (CALL(unshare_region, 1))
            fail("unshare");
    }
    finish("left");
}

/* Completions are never read; then the program is gone. The worker must see it and end. */
static void completions_never_read(void) {
    struct vcuda_rec r = {.len = sizeof(r), .call = VCUDA_CALL_cuMemGetInfo_v2, .tag = 1};

    open_session();
    make_context();
    for (int i = 0; i < 4000 && vcuda_tx_fits(&duplex, sizeof(r)) == 1; i++) {
        r.call = i % 50 ? VCUDA_CALL_cuMemGetInfo_v2 : VCUDA_CALL_cuCtxSynchronize;
        vcuda_tx_put(&duplex, 0, &r, sizeof(r));
        vcuda_tx_publish(&duplex, sizeof(r));
    }
    kick();
    usleep(300000);
    finish("left");
}

/* Reads what there is in the completion ring, as the library does. */
static int read_completions(void) {
    static uint8_t buf[VCUDA_REC_MAX];
    int n = 0;

    while (vcuda_rx_take(&duplex, buf, sizeof(buf), sizeof(struct vcuda_rec)) > 0)
        n++;
    if (n && vcuda_must_wake(&duplex, VCUDA_WAIT_SPACE))
        kick();
    return n;
}

/*
 * The ring is full when a waiter thread has its answer: it leaves that to the worker's executor,
 * which sleeps or is about to. Nothing but reading wakes it.
 */
static void completions_read_late(void) {
    const struct vcuda_rec query = {
        .len = sizeof(query), .call = VCUDA_CALL_cuCtxGetFlags, .tag = 1};
    const struct vcuda_rec wait = {
        .len = sizeof(wait), .call = VCUDA_CALL_cuCtxSynchronize, .tag = 1};
    int wanted = RING / VCUDA_CACHE_LINE + 1;

    open_session();
    make_context();
    for (int round = 0; round < 200; round++) {
        int got = 0;

        for (int i = 1; i < wanted; i++)
            put(&query, sizeof(query));
        put(&wait, sizeof(wait));
        for (int waited = 0; got == 0 && waited < PATIENCE_MS; waited++) {
            usleep(1000);
            if (vcuda_load_once(&duplex.peer->wait) & VCUDA_WAIT_SPACE)
                got = read_completions();
        }
        for (int waited = 0; got < wanted && waited < PATIENCE_MS; waited++) {
            usleep(1000);
            got += read_completions();
        }
        if (got != wanted)
            finish("no answer");
    }
    finish("left");
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name)                                                                                 \
    { #name, name }
    CASE(not_sealed),
    CASE(memory_too_small),
    CASE(no_descriptors),
    CASE(one_descriptor_too_many),
    CASE(many_descriptors),
    CASE(short_message),
    CASE(wild_ring_sizes),
    CASE(index_jumps),
    CASE(index_ragged),
    CASE(completion_index_jumps),
    CASE(length_zero),
    CASE(length_ragged),
    CASE(length_beyond_the_ring),
    CASE(length_beyond_what_is_there),
    CASE(unknown_call),
    CASE(unknown_call_far),
    CASE(posted_where_not_allowed),
    CASE(slots_missing),
    CASE(blob_reaches_out),
    CASE(string_without_end),
    CASE(copy_outside_the_arena),
    CASE(copy_into_the_worker),
    CASE(module_outside_the_arena),
    CASE(wild_names),
    CASE(region_at_zero),
    CASE(region_over_the_worker),
    CASE(region_ragged),
    CASE(region_beyond_the_end),
    CASE(region_shared_in_the_arena),
    CASE(region_not_sealed),
    CASE(region_smaller_than_said),
    CASE(region_without_descriptor),
    CASE(region_ends_without_context),
    CASE(completions_never_read),
    CASE(completions_read_late),
};

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc < 2)
            puts(cases[i].name); /* the list, for ./run */
        else if (!strcmp(cases[i].name, argv[1]))
            cases[i].run();
    }
    return argc < 2 ? 0 : 2;
}
