// SPDX-License-Identifier: Apache-2.0
/*
 * Two threads, one session: G sends records of all lengths, H answers each with
 * a record of another length, both sleep on an eventfd whenever they have
 * nothing to do. Shown: every record arrives, once, in order and whole; nobody
 * sleeps for ever; a sleep costs at most one notification.
 */
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "ring.h"

#define RING VCUDA_RING_MIN
/* Bounds that end a run: whichever comes first. */
#define RECORDS 400000u
#define SECONDS 3
/* The record that ends a run. */
#define END_TAG 0xffffffffu
/* Longer than any scheduling delay: whoever sleeps this long was not woken. */
#define LOST_MS 20000
/* So many records may be unanswered: small and large windows sleep differently. */
static const unsigned windows[] = {1, 16, 100000};

struct end {
    struct vcuda_duplex rings;
    int own_event, peer_event;
    unsigned seed;
    unsigned long sleeps, notifications;
};

struct session {
    struct end g, h;
    unsigned window;
    unsigned sent; /* final once G has stopped */
};

static void die(const char *format, ...) {
    va_list args;

    va_start(args, format);
    printf("not ok - ");
    vprintf(format, args);
    printf("\nBail out! the rings broke\n");
    fflush(stdout);
    _exit(1);
}

static unsigned random_below(struct end *e, unsigned bound) {
    e->seed = e->seed * 1664525u + 1013904223u;
    return (e->seed >> 8) % bound;
}

static double now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A copy that is looked at again afterwards is a race to the sanitizer, which knows no fences. */
#ifdef __SANITIZE_THREAD__
#define CAN_TELL 0
#else
#define CAN_TELL 1
#endif

/* Mostly short records, many of one line, now and then the longest. */
static unsigned record_length(struct end *e) {
    unsigned longest = random_below(e, 64) ? 256 : VCUDA_REC_MAX - sizeof(struct vcuda_rec);

    if (random_below(e, 4) == 0)
        return VCUDA_CACHE_LINE;
    return VCUDA_PAD8((unsigned)sizeof(struct vcuda_rec) + random_below(e, longest + 1));
}

static void notify_if(struct end *e, unsigned what) {
    const uint64_t one = 1;

    if (!vcuda_must_wake(&e->rings, what))
        return;
    __atomic_fetch_add(&e->notifications, 1, __ATOMIC_RELAXED);
    if (write(e->peer_event, &one, sizeof(one)) != sizeof(one))
        die("eventfd write failed");
}

/* The payload is a function of number and length, checked byte for byte. */
static void fill(unsigned char *record, unsigned len, unsigned number) {
    struct vcuda_rec head = {.len = len, .tag = number};

    for (unsigned i = sizeof(head); i < len; i++)
        record[i] = (unsigned char)(number * 7 + i);
    memcpy(record, &head, sizeof(head));
}

static bool try_send(struct end *e, unsigned len, unsigned number) {
    static _Thread_local unsigned char record[VCUDA_REC_MAX];
    int fits = vcuda_tx_fits(&e->rings, len);

    if (fits < 0)
        die("tx_fits(%u) says %d", len, fits);
    if (!fits)
        return false;
    fill(record, len, number);
    vcuda_tx_put(&e->rings, 0, record, len);
    if (len == VCUDA_CACHE_LINE && CAN_TELL && number % 4)
        vcuda_tx_tell(&e->rings, record, VCUDA_NEWS_MAX / 8);
    else
        vcuda_tx_publish(&e->rings, len);
    notify_if(e, VCUDA_WAIT_DATA);
    return true;
}

enum taken { NOTHING, A_RECORD, THE_END };

/* Takes the record of this number, if it is there. */
static enum taken try_take(struct end *e, unsigned number) {
    static _Thread_local unsigned char record[VCUDA_REC_MAX], expected[VCUDA_REC_MAX];
    struct vcuda_rec head;
    int len = vcuda_rx_take(&e->rings, record, sizeof(record), sizeof(head));

    if (len < 0)
        die("rx_take says %d", len);
    if (!len)
        return NOTHING;
    notify_if(e, VCUDA_WAIT_SPACE);
    memcpy(&head, record, sizeof(head));
    if (head.tag == END_TAG)
        return THE_END;
    fill(expected, (unsigned)len, number);
    /* What can be told ends with padding, which is not told. */
    if (memcmp(record, expected, len == VCUDA_CACHE_LINE ? VCUDA_NEWS_MAX : (size_t)len) != 0)
        die("record %u is not what was sent", number);
    return A_RECORD;
}

/* Sleeps until the peer did what we wait for, as library and worker do. */
static void sleep_for(struct end *e, unsigned what, unsigned blocked_len) {
    struct pollfd event = {.fd = e->own_event, .events = POLLIN};
    uint64_t count;

    vcuda_wait_begin(&e->rings, what);
    e->sleeps++;
    bool ready = ((what & VCUDA_WAIT_DATA) && vcuda_rx_ready(&e->rings) > 0) ||
                 ((what & VCUDA_WAIT_SPACE) && vcuda_tx_fits(&e->rings, blocked_len) > 0);
    if (!ready) {
        if (poll(&event, 1, LOST_MS) != 1)
            die("a wake-up was lost (slept for %u, %lu sleeps so far)", what, e->sleeps);
        if (read(e->own_event, &count, sizeof(count)) != sizeof(count))
            die("eventfd read failed");
    }
    vcuda_wait_end(&e->rings);
}

/* Now and then lets the peer get ahead, or fall asleep. */
static void dawdle(struct end *e) {
    if (!random_below(e, 50))
        for (volatile unsigned i = random_below(e, 5000); i > 0; i--)
            ;
    if (!random_below(e, 2000))
        usleep(random_below(e, 300));
}

static void *run_g(void *arg) {
    struct session *s = arg;
    struct end *e = &s->g;
    double until = now() + SECONDS;
    unsigned sent = 0, answered = 0, len = record_length(e);
    bool stop = false;

    while (!stop || answered < sent) {
        bool progress = false;

        if (!stop && sent - answered < s->window && try_send(e, len, sent)) {
            sent++;
            len = record_length(e);
            stop = sent == RECORDS || (sent % 256 == 0 && now() > until);
            progress = true;
        }
        while (try_take(e, answered) == A_RECORD) {
            answered++;
            progress = true;
        }
        if (!progress) {
            bool blocked = !stop && sent - answered < s->window;

            sleep_for(e, VCUDA_WAIT_DATA | (blocked ? VCUDA_WAIT_SPACE : 0), len);
        }
        dawdle(e);
    }
    while (!try_send(e, sizeof(struct vcuda_rec), END_TAG))
        sleep_for(e, VCUDA_WAIT_SPACE, sizeof(struct vcuda_rec));
    s->sent = sent;
    return NULL;
}

static void *run_h(void *arg) {
    struct session *s = arg;
    struct end *e = &s->h;
    unsigned number = 0;
    enum taken taken;

    while ((taken = try_take(e, number)) != THE_END) {
        if (taken == A_RECORD) {
            unsigned len = record_length(e);

            while (!try_send(e, len, number))
                sleep_for(e, VCUDA_WAIT_SPACE, len);
            number++;
        } else {
            sleep_for(e, VCUDA_WAIT_DATA, 0);
        }
        dawdle(e);
    }
    return NULL;
}

static void end_init(struct end *e, void *memory, enum vcuda_party party, int own, int peer) {
    vcuda_duplex_session(&e->rings, memory, RING, RING, party);
    e->own_event = own;
    e->peer_event = peer;
    e->seed = 12345u + (unsigned)party;
}

static void report(unsigned number, const char *who, const struct end *sleeper,
                   const struct end *waker) {
    bool fine = waker->notifications <= sleeper->sleeps;

    printf("%sok %u - %s: %lu notifications for %lu sleeps\n", fine ? "" : "not ", number, who,
           waker->notifications, sleeper->sleeps);
}

static bool run(unsigned number, unsigned window) {
    struct session s = {.window = window};
    size_t bytes = vcuda_rings_bytes(RING, RING);
    void *memory = aligned_alloc(VCUDA_PAGE, bytes);
    int wakes_g = eventfd(0, EFD_CLOEXEC), wakes_h = eventfd(0, EFD_CLOEXEC);
    pthread_t g, h;

    memset(memory, 0, bytes);
    end_init(&s.g, memory, VCUDA_PARTY_G, wakes_g, wakes_h);
    end_init(&s.h, memory, VCUDA_PARTY_H, wakes_h, wakes_g);
    pthread_create(&g, NULL, run_g, &s);
    pthread_create(&h, NULL, run_h, &s);
    pthread_join(g, NULL);
    pthread_join(h, NULL);
    printf("ok %u - window %u: %u records there and back\n", number, window, s.sent);
    report(number + 1, "G woken", &s.g, &s.h);
    report(number + 2, "H woken", &s.h, &s.g);
    fflush(stdout);
    close(wakes_g);
    close(wakes_h);
    free(memory);
    return s.h.notifications <= s.g.sleeps && s.g.notifications <= s.h.sleeps;
}

int main(void) {
    const unsigned runs = sizeof(windows) / sizeof(windows[0]);
    bool fine = true;

    printf("1..%u\n", 3 * runs);
    for (unsigned i = 0; i < runs; i++)
        fine &= run(3 * i + 1, windows[i]);
    return fine ? 0 : 1;
}
