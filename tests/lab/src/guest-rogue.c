// SPDX-License-Identifier: Apache-2.0
/*
 * A program that speaks to its worker past the library, and not as it should: opens /dev/vcuda,
 * maps the rings, and writes nonsense into them.
 *
 *   guest-rogue CASE...    one line a case; exit status 1 if one went otherwise
 *   guest-rogue list       the cases' names
 *
 * What breaks the protocol must end the session; what asks for something that the program cannot
 * have is answered with an error, and the session goes on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "info.h"
#include "ioctl.h"
#include "record.h"
#include "ring.h"
#include "version.h"

#define PATIENCE_MS 5000
#define ARENA_BASE 0x200000000000ull
#define FUZZ_SECONDS 5
#define INVALID_VALUE 1 /* CUDA_ERROR_INVALID_VALUE */

static int fd;
static void *rings;
static struct vcuda_duplex ring;
static __u64 last_tag;

struct record {
    struct vcuda_rec head;
    __u64 slots[VCUDA_SLOTS_MAX];
};

/* ---- A session ----------------------------------------------------------- */

static __u64 rings_bytes(void) {
    return vcuda_rings_bytes(VCUDA_RING_MIN, VCUDA_RING_MIN);
}

static void *map(__u32 region, __u64 bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, vcuda_region_offset(region));
}

static void session_open(void) {
    struct vcuda_ioc_open o = {.version = VCUDA_VERSION_MAX,
                               .features = VCUDA_FEATURES,
                               .sub_bytes = VCUDA_RING_MIN,
                               .cmp_bytes = VCUDA_RING_MIN};

    fd = open(VCUDA_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || ioctl(fd, VCUDA_IOC_OPEN, &o))
        fail("no session: %m");
    rings = map(0, rings_bytes());
    if (rings == MAP_FAILED)
        fail("no rings: %m");
    vcuda_duplex_session(&ring, rings, VCUDA_RING_MIN, VCUDA_RING_MIN, VCUDA_PARTY_G);
}

static void session_close(void) {
    munmap(rings, rings_bytes());
    close(fd);
}

static void notify(void) {
    __u64 one = 1;

    if (write(fd, &one, sizeof(one)) != sizeof(one) && errno != EPIPE)
        fail("no notification: %m");
}

static struct record call(__u16 number, __u32 slots) {
    struct record r = {.head = {.len = (__u32)sizeof(r.head) + 8 * slots, .call = number}};

    r.head.tag = ++last_tag;
    return r;
}

/* Its first len bytes go into the ring, whatever the record itself says of its length. */
static void send_bytes(const struct record *r, __u32 len) {
    if (vcuda_tx_fits(&ring, len) != 1)
        fail("no room to send");
    vcuda_tx_put(&ring, 0, r, len);
    vcuda_tx_publish(&ring, len);
    notify();
}

static void send_record(const struct record *r) {
    send_bytes(r, r->head.len);
}

/* Sleeps for news: whether the session lives. */
static int session_lives(void) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    __u64 count;

    if (poll(&p, 1, PATIENCE_MS) < 1)
        fail("nothing happens");
    return !(p.revents & POLLHUP) && (read(fd, &count, sizeof(count)) > 0 || errno == EAGAIN);
}

/* The completion's length, or 0 when the session ended. */
static int receive(__u64 *answer) {
    int len;

    for (;;) {
        vcuda_wait_begin(&ring, VCUDA_WAIT_DATA);
        len = vcuda_rx_take(&ring, answer, VCUDA_REC_MAX, sizeof(struct vcuda_rec));
        if (len < 0)
            fail("the worker's ring is nonsense");
        if (len || !session_lives())
            break;
    }
    vcuda_wait_end(&ring);
    return len;
}

static __u32 status_of(const struct record *r) {
    static __u64 answer[VCUDA_REC_MAX / 8];
    const struct vcuda_rec *head = (const void *)answer;

    send_record(r);
    if (!receive(answer))
        fail("the session ended");
    if (head->tag != r->head.tag)
        fail("an answer to another call");
    return head->status;
}

static void expect_status(const struct record *r, __u32 status) {
    __u32 seen = status_of(r);

    if (seen != status)
        fail("call %u gave %u, not %u", r->head.call, seen, status);
}

static void expect_cut(void) {
    while (session_lives())
        ;
}

/* A good call: it must be answered. */
static void expect_served(void) {
    struct record r = call(VCUDA_CALL_device_info, 2);

    r.slots[1] = sizeof(struct vcuda_device_info);
    expect_status(&r, 0);
}

static void hello(void) {
    struct record r = call(VCUDA_CALL_hello, 6);

    r.slots[0] = VCUDA_VERSION_MIN;
    r.slots[1] = VCUDA_VERSION_MAX;
    r.slots[4] = 6;
    memcpy(&r.slots[5], "rogue", 6);
    expect_status(&r, 0);
}

static void begin(void) {
    session_open();
    hello();
}

/* ---- What breaks the protocol -------------------------------------------- */

static void put_index(__u32 value) {
    *(volatile __u32 *)&ring.own->prod = value;
    notify();
    expect_cut();
}

static void case_index(void) {
    put_index(0xdeadbeef);
}

static void case_index_far(void) {
    put_index(ring.prod + VCUDA_RING_MIN + 8);
}

static void case_index_odd(void) {
    put_index(ring.prod + 36);
}

static void case_cons(void) {
    struct record r = call(VCUDA_CALL_device_info, 2);

    *(volatile __u32 *)&ring.own->cons = 0x12345678;
    for (int i = 0; i < 64; i++) { /* only looked at when the worker may be out of room */
        r.slots[1] = sizeof(struct vcuda_device_info);
        send_record(&r);
    }
    expect_cut();
}

static void bad_length(__u32 len) {
    struct record r = call(VCUDA_CALL_device_info, 2);

    r.head.len = len;
    send_bytes(&r, (__u32)sizeof(r.head) + 16);
    expect_cut();
}

static void case_length_zero(void) {
    bad_length(0);
}

static void case_length_short(void) {
    bad_length(sizeof(struct vcuda_rec) - 8);
}

static void case_length_odd(void) {
    bad_length(sizeof(struct vcuda_rec) + 3);
}

static void case_length_huge(void) {
    bad_length(0xfffffff8);
}

static void case_length_beyond(void) {
    bad_length(sizeof(struct vcuda_rec) + 64); /* more than was written */
}

static void case_unknown(void) {
    struct record r = call(0xfffe, 0);

    send_record(&r);
    expect_cut();
}

static void case_gap(void) {
    struct record r = call(VCUDA_CALLS, 0);

    send_record(&r);
    expect_cut();
}

static void case_few_slots(void) {
    struct record r = call(VCUDA_CALL_copy_done, 1);

    send_record(&r);
    expect_cut();
}

static void case_noise(void) {
    for (__u32 i = 0; i < rings_bytes() / 4; i++)
        ((volatile __u32 *)rings)[i] = (__u32)random();
    notify();
    expect_cut();
}

/* ---- What it cannot have ------------------------------------------------- */

static struct record copy(__u32 direction, __u64 dst, __u64 src, __u64 bytes) {
    struct record r = call(VCUDA_CALL_copy_done, 5);

    r.slots[0] = direction;
    r.slots[1] = dst;
    r.slots[2] = src;
    r.slots[3] = bytes;
    return r;
}

/* Host addresses that are not the arena's: the worker's own memory, or nothing. */
static void case_copy(void) {
    static const __u64 bad[] = {0,
                                0x1000,
                                0x400000,
                                0x7ffffffff000,
                                0xffffffffff600000,
                                ARENA_BASE - 8,
                                ARENA_BASE + (1ull << 30),
                                ~0ull};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct record in = copy(VCUDA_COPY_HTOD, ARENA_BASE, bad[i], 64);
        struct record out = copy(VCUDA_COPY_DTOH, bad[i], ARENA_BASE, ~0ull - 63);
        struct record way = copy(77, bad[i], bad[i], 64);

        expect_status(&in, INVALID_VALUE);
        expect_status(&out, INVALID_VALUE);
        expect_status(&way, INVALID_VALUE);
    }
    expect_served();
}

static void case_map(void) {
    static const struct {
        __u64 region, address, bytes;
    } bad[] = {
        {0, ARENA_BASE, 4096},         {1, 0x400000, 4096},
        {1, ARENA_BASE + 8, 4096},     {1, ARENA_BASE, 0},
        {1, ARENA_BASE, ~0ull - 4095}, {VCUDA_REGIONS_MAX, ARENA_BASE, 4096},
        {~0ull, ARENA_BASE, 4096},     {1, 0x7ffffffff000, 4096},
    };
    struct record r;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        r = call(VCUDA_CALL_map_region, 3);
        r.slots[0] = bad[i].region;
        r.slots[1] = bad[i].address;
        r.slots[2] = bad[i].bytes;
        expect_status(&r, INVALID_VALUE);
    }
    r = call(VCUDA_CALL_map_region, 3); /* a good place for a region that is not there */
    r.slots[0] = 9;
    r.slots[1] = ARENA_BASE;
    r.slots[2] = 4096;
    if (!status_of(&r))
        fail("a region that is not there was mapped");
    expect_served();
}

/* Names that nobody gave. */
static void case_names(void) {
    for (int i = 0; i < 1000; i++) {
        struct record r = call(VCUDA_CALL_cuModuleUnload, 1);

        r.slots[0] = i % 2 ? vcuda_name(random() % VCUDA_KIND_MAX, random(), random() & 0xfffff)
                           : (__u64)random() << 32 | (__u64)random();
        if (!status_of(&r))
            fail("a module without a name was unloaded");
    }
    expect_served();
}

/* ---- Records at random: cut off or answered, and the next session is served ---- */

static __u64 interesting(void) {
    static const __u64 values[] = {0, 1, 8, 64, 4096, ARENA_BASE, ~0ull, 1ull << 63, 0xffffffff};

    return random() % 4 ? values[(unsigned long)random() % (sizeof(values) / sizeof(*values))]
                        : (__u64)random() << 20;
}

static void random_record(struct record *r) {
    *r = call((__u16)(random() % VCUDA_CALLS), (__u32)random() % (VCUDA_SLOTS_MAX + 1));
    for (__u32 i = 0; i < VCUDA_SLOTS_MAX; i++)
        r->slots[i] = interesting();
    if (random() % 8 == 0)
        r->head.ctx = interesting();
}

static void case_fuzz(void) {
    static __u64 answer[VCUDA_REC_MAX / 8];
    time_t end = time(NULL) + FUZZ_SECONDS;
    unsigned long sent = 0, sessions = 1;
    struct record r;

    while (time(NULL) < end) {
        random_record(&r);
        send_record(&r);
        sent++;
        if (!receive(answer)) {
            session_close();
            begin();
            sessions++;
        }
    }
    printf("(%lu records in %lu sessions) ", sent, sessions);
}

static const struct lab_case cases[] = {
    {"index", case_index},
    {"index-far", case_index_far},
    {"index-odd", case_index_odd},
    {"cons", case_cons},
    {"length-zero", case_length_zero},
    {"length-short", case_length_short},
    {"length-odd", case_length_odd},
    {"length-huge", case_length_huge},
    {"length-beyond", case_length_beyond},
    {"unknown", case_unknown},
    {"gap", case_gap},
    {"few-slots", case_few_slots},
    {"noise", case_noise},
    {"copy", case_copy},
    {"map", case_map},
    {"names", case_names},
    {"fuzz", case_fuzz},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return run_cases(cases, begin, session_close, argc, argv);
}
