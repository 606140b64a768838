// SPDX-License-Identifier: Apache-2.0
/*
 * The guest's half of the echo test: opens a session on /dev/vcuda and has
 * host-echo answer. One line on stdout when all was as it should be, one on
 * stderr and exit status 1 when not.
 *
 *   guest-echo [-s MICROSECONDS] COMMAND [ARGUMENT]
 *
 *   -s  spin that long for a record before sleeping (default 50)
 *
 *   open            opens a session, or prints the errno's name and exits with 3
 *   echo COUNT      sends COUNT records of all lengths, compares the answers
 *   ping COUNT      sends COUNT records of 64 bytes, one after the other; prints their times
 *   region PAGES    a region's life: added, written, summed by the worker, read, deleted
 *   fill PAGES      adds regions of PAGES pages until one is refused; prints number and errno
 *   die COUNT       has the worker kill itself: the session must die, its memory stay; COUNT times
 *   hold PAGES      opens, adds and maps a region, prints "holding", sleeps to be killed
 *   outlive         the same, then waits for its session's death and for a new one
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../protocol/ioctl.h"
#include "../../../protocol/clock.h"
#include "../../../protocol/ring.h"
#include "../../../protocol/version.h"
#include "echo.h"
#include "samples.h"

#define PAGE 4096u

struct guest {
    int fd;
    __u32 session;
    void *rings;
    struct vcuda_duplex ring;
    __u64 slept; /* times that it waited in the kernel */
};

static long spin_us = 50;

#define FAIL(...) (fprintf(stderr, "guest-echo: " __VA_ARGS__), fputc('\n', stderr), exit(1))
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL("line %d: not so: %s (%s)", __LINE__, #condition, strerrorname_np(errno));        \
    } while (0)

static long now_us(void) {
    return (long)(vcuda_now_ns() / 1000);
}

/* ---- A session ----------------------------------------------------------- */

static size_t rings_bytes(void) {
    return vcuda_rings_bytes(VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT);
}

static void *map(int fd, __u32 region, size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, vcuda_region_offset(region));
}

/* 0 or -errno. */
static int session_open(struct guest *g) {
    struct vcuda_ioc_open open_arg = {
        .version = VCUDA_VERSION_MAX,
        .features = VCUDA_FEATURES,
        .sub_bytes = VCUDA_RING_DEFAULT,
        .cmp_bytes = VCUDA_RING_DEFAULT,
    };
    int err;

    memset(g, 0, sizeof(*g));
    g->fd = open(VCUDA_DEVICE, O_RDWR | O_CLOEXEC);
    if (g->fd < 0)
        return -errno;
    if (ioctl(g->fd, VCUDA_IOC_OPEN, &open_arg)) {
        err = -errno;
        close(g->fd);
        return err;
    }
    g->session = open_arg.session;
    g->rings = map(g->fd, 0, rings_bytes());
    CHECK(g->rings != MAP_FAILED);
    vcuda_duplex_session(&g->ring, g->rings, VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT, VCUDA_PARTY_G);
    return 0;
}

static void must_open(struct guest *g) {
    int err = session_open(g);

    if (err)
        FAIL("open: %s", strerrorname_np(-err));
}

static void session_close(struct guest *g) {
    CHECK(!munmap(g->rings, rings_bytes()));
    CHECK(!close(g->fd));
}

static void notify(struct guest *g) {
    __u64 one = 1;

    /* It may have taken the record already, and have died of it. */
    CHECK(write(g->fd, &one, sizeof(one)) == sizeof(one) || errno == EPIPE);
}

static void send_record(struct guest *g, const void *record, __u32 len) {
    CHECK(vcuda_tx_fits(&g->ring, len) == 1);
    vcuda_tx_put(&g->ring, 0, record, len);
    vcuda_tx_publish(&g->ring, len);
    if (vcuda_must_wake(&g->ring, VCUDA_WAIT_DATA))
        notify(g);
}

/* Sleeps until the worker says something: 0 or -errno. */
static int sleep_for_data(struct guest *g) {
    __u64 count;
    int err = 0;

    vcuda_wait_begin(&g->ring, VCUDA_WAIT_DATA);
    if (!vcuda_rx_ready(&g->ring)) {
        g->slept++;
        err = read(g->fd, &count, sizeof(count)) < 0 ? -errno : 0;
    }
    vcuda_wait_end(&g->ring);
    return err;
}

/* The record's length, or -errno. */
static int receive(struct guest *g, void *record) {
    long until = now_us() + spin_us;
    int len;
    int err;

    while (!(len = vcuda_rx_take(&g->ring, record, VCUDA_REC_MAX, sizeof(struct vcuda_rec)))) {
        if (now_us() < until)
            continue;
        err = sleep_for_data(g);
        if (err)
            return err;
    }
    return len;
}

/* Asks for call with two slots: its status. The second slot comes back. */
static __u32 ask(struct guest *g, enum echo_call call, __u64 slot, __u64 *result) {
    struct echo_rec rec = {.head = {.len = sizeof(rec), .call = call, .tag = 1}, .slots = {slot}};
    static __u64 answer[VCUDA_REC_MAX / 8];
    struct echo_rec *out = (struct echo_rec *)answer;

    send_record(g, &rec, sizeof(rec));
    CHECK(receive(g, answer) == sizeof(rec));
    CHECK(out->head.call == call);
    if (result)
        *result = out->slots[1];
    return out->head.status;
}

static int region_add(struct guest *g, size_t bytes, __u32 *region) {
    struct vcuda_ioc_region arg = {.bytes = bytes};

    if (ioctl(g->fd, VCUDA_IOC_REGION_ADD, &arg))
        return -errno;
    *region = arg.region;
    return 0;
}

static int region_del(struct guest *g, __u32 region) {
    struct vcuda_ioc_region arg = {.region = region};

    return ioctl(g->fd, VCUDA_IOC_REGION_DEL, &arg) ? -errno : 0;
}

/* ---- Commands ------------------------------------------------------------ */

static void do_open(void) {
    struct guest g;
    int err = session_open(&g);

    if (err) {
        printf("%s\n", strerrorname_np(-err));
        exit(3);
    }
    session_close(&g);
    printf("opened\n");
}

static void fill_words(__u32 *word, size_t count, __u32 seed) {
    for (size_t i = 0; i < count; i++)
        word[i] = seed = seed * 1664525u + 1013904223u;
}

static void do_echo(long count) {
    static __u64 sent[VCUDA_REC_MAX / 8], got[VCUDA_REC_MAX / 8];
    struct vcuda_ioc_counters counters;
    struct guest g;
    long start;

    must_open(&g);
    start = now_us();
    for (long i = 0; i < count; i++) {
        __u32 len = sizeof(struct vcuda_rec) + (__u32)(i * 2056 % (VCUDA_REC_MAX - 32)) / 8 * 8;
        struct vcuda_rec head = {.len = len, .call = ECHO_SAME, .tag = i};

        fill_words((__u32 *)sent, len / 4, i);
        memcpy(sent, &head, sizeof(head));
        send_record(&g, sent, len);
        CHECK(receive(&g, got) == (int)len);
        CHECK(!memcmp(sent, got, len));
    }
    CHECK(!ioctl(g.fd, VCUDA_IOC_COUNTERS, &counters));
    CHECK(counters.pages == rings_bytes() / PAGE);
    printf("echoed %ld in %ld us, slept %llu, sent %llu, received %llu\n", count, now_us() - start,
           g.slept, counters.notifications_sent, counters.notifications_received);
    session_close(&g);
}

#define PING_BYTES 64

static void do_ping(long count) {
    struct {
        struct vcuda_rec head;
        __u8 rest[PING_BYTES - sizeof(struct vcuda_rec)];
    } rec = {.head = {.len = PING_BYTES, .call = ECHO_SAME}};
    __u64 got[PING_BYTES / 8];
    struct samples s;
    struct guest g;

    samples_init(&s, count);
    must_open(&g);
    for (long i = -count / 10; i < count; i++) {
        long begun = samples_now_ns();

        send_record(&g, &rec, sizeof(rec));
        CHECK(receive(&g, got) == sizeof(rec));
        if (i >= 0)
            samples_add(&s, begun);
    }
    session_close(&g);
    printf("slept=%llu ", g.slept);
    samples_print(&s);
}

static void check_refusals(struct guest *g, size_t bytes) {
    __u32 region;

    CHECK(region_add(g, 0, &region) == -EINVAL);
    CHECK(region_add(g, PAGE + 1, &region) == -EINVAL);
    CHECK(region_del(g, 0) == -EINVAL);
    CHECK(region_del(g, 200) == -ENOENT);
    CHECK(map(g->fd, 77, bytes) == MAP_FAILED);
    CHECK(mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, g->fd, 0) == MAP_FAILED);
    CHECK(mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, g->fd, 0) == MAP_FAILED);
}

static void do_region(size_t pages) {
    size_t bytes = pages * PAGE;
    size_t words = bytes / sizeof(__u32);
    __u64 sum = 0, seen;
    struct guest g;
    __u32 region;
    __u32 *word;

    must_open(&g);
    check_refusals(&g, bytes);
    CHECK(!region_add(&g, bytes, &region));
    CHECK(map(g.fd, region, bytes + PAGE) == MAP_FAILED);
    word = map(g.fd, region, bytes);
    CHECK(word != MAP_FAILED);
    for (size_t i = 0; i < words; i++)
        CHECK(word[i] == 0);

    fill_words(word, words, 7);
    for (size_t i = 0; i < words; i++)
        sum += word[i];
    CHECK(ask(&g, ECHO_MAP, region, NULL) == 0);
    CHECK(ask(&g, ECHO_SUM, region, &seen) == 0);
    CHECK(seen == sum);
    for (size_t i = 0; i < words; i++)
        sum -= (__u32)~word[i];
    CHECK(sum == 0);

    CHECK(region_del(&g, region) == -EBUSY);
    CHECK(!munmap(word, bytes));
    CHECK(region_del(&g, region) == -EBUSY); /* the worker's is left */
    CHECK(ask(&g, ECHO_UNMAP, region, NULL) == 0);
    CHECK(!region_del(&g, region));
    CHECK(region_del(&g, region) == -ENOENT);
    printf("region %u of %zu pages: sum %llu\n", region, pages, seen);
    session_close(&g);
}

static void do_fill(size_t pages) {
    struct guest g;
    __u32 region;
    unsigned int n = 0;
    int err;

    must_open(&g);
    while (!(err = region_add(&g, pages * PAGE, &region)))
        n++;
    printf("%u regions, then %s\n", n, strerrorname_np(-err));
    session_close(&g);
}

static void must_be_dead(struct guest *g) {
    struct pollfd p = {.fd = g->fd, .events = POLLIN};
    __u64 count;
    __u32 region;

    CHECK(poll(&p, 1, 5000) == 1);
    CHECK(p.revents & POLLHUP);
    CHECK(read(g->fd, &count, sizeof(count)) < 0 && errno == EPIPE);
    CHECK(write(g->fd, &count, sizeof(count)) < 0 && errno == EPIPE);
    CHECK(region_add(g, PAGE, &region) == -EPIPE);
}

static __u32 *add_marked(struct guest *g, size_t pages) {
    __u32 region = 0;
    __u32 *word;

    CHECK(!region_add(g, pages * PAGE, &region));
    word = map(g->fd, region, pages * PAGE);
    CHECK(word != MAP_FAILED);
    for (size_t i = 0; i < pages; i++)
        word[i * (PAGE / 4)] = i + 1;
    CHECK(ask(g, ECHO_MAP, region, NULL) == 0);
    return word;
}

static void must_be_marked(const __u32 *word, size_t pages) {
    for (size_t i = 0; i < pages; i++)
        CHECK(word[i * (PAGE / 4)] == i + 1);
}

#define DEATH_MAX_S 30

/* The session whose worker dies, for too_late(). */
static struct guest dying;

/* The death has not come through: what is known of where it is. */
static void too_late(int signal) {
    struct vcuda_ioc_counters c = {0};
    struct guest *g = &dying;

    (void)signal;
    ioctl(g->fd, VCUDA_IOC_COUNTERS, &c);
    FAIL("session %u: no news for %d s; we wrote %u read %u wait %x, the worker wrote %u read %u "
         "wait %x, slept %llu, notifications sent %llu, received %llu",
         g->session, DEATH_MAX_S, g->ring.own->prod, g->ring.own->cons, g->ring.own->wait,
         g->ring.peer->prod, g->ring.peer->cons, g->ring.peer->wait, g->slept, c.notifications_sent,
         c.notifications_received);
}

static void die_once(struct guest *g) {
    struct echo_rec rec = {.head = {.len = sizeof(rec), .call = ECHO_DIE, .tag = 1}};
    __u64 answer[sizeof(rec) / 8];
    __u32 *word;

    alarm(DEATH_MAX_S);
    must_open(g);
    word = add_marked(g, 8);
    send_record(g, &rec, sizeof(rec));
    CHECK(receive(g, answer) == -EPIPE);
    must_be_dead(g);
    must_be_marked(word, 8);
    CHECK(!munmap(word, 8 * PAGE));
    session_close(g);
    alarm(0);
}

static void do_die(long count) {
    signal(SIGALRM, too_late);
    for (long i = 0; i < count; i++)
        die_once(&dying);
    printf("%ld sessions died, the last was %u\n", count, dying.session);
}

static void do_hold(size_t pages) {
    struct guest g;

    must_open(&g);
    add_marked(&g, pages);
    printf("holding %u\n", g.session);
    fflush(stdout);
    for (;;)
        pause();
}

static void do_outlive(void) {
    struct guest g;
    __u64 count;
    __u32 *word;
    int err;

    must_open(&g);
    word = add_marked(&g, 64);
    printf("holding %u\n", g.session);
    fflush(stdout);
    while (read(g.fd, &count, sizeof(count)) == sizeof(count))
        ;
    CHECK(errno == EPIPE);
    must_be_dead(&g);
    must_be_marked(word, 64);
    session_close(&g);
    printf("died\n");
    fflush(stdout);
    while ((err = session_open(&g))) {
        CHECK(err == -ENODEV || err == -ESHUTDOWN);
        usleep(100000);
    }
    CHECK(ask(&g, ECHO_SUM, 9, NULL) == EINVAL);
    printf("lives again\n");
    session_close(&g);
}

static void usage(void) {
    fprintf(stderr,
            "usage: guest-echo [-s MICROSECONDS] "
            "open|echo COUNT|ping COUNT|region PAGES|fill PAGES|die COUNT|hold PAGES|outlive\n");
    exit(2);
}

static void run(const char *command, const char *argument) {
    long number = argument ? atol(argument) : 0;

    if (!strcmp(command, "open"))
        do_open();
    else if (!strcmp(command, "outlive"))
        do_outlive();
    else if (number <= 0)
        usage();
    else if (!strcmp(command, "echo"))
        do_echo(number);
    else if (!strcmp(command, "ping"))
        do_ping(number);
    else if (!strcmp(command, "region"))
        do_region(number);
    else if (!strcmp(command, "fill"))
        do_fill(number);
    else if (!strcmp(command, "die"))
        do_die(number);
    else if (!strcmp(command, "hold"))
        do_hold(number);
    else
        usage();
}

int main(int argc, char **argv) {
    int c;

    vcuda_clock_start();
    while ((c = getopt(argc, argv, "s:")) >= 0) {
        if (c != 's')
            usage();
        spin_us = atol(optarg);
    }
    if (optind >= argc)
        usage();
    run(argv[optind], optind + 1 < argc ? argv[optind + 1] : NULL);
    return 0;
}
