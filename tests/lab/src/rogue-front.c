// SPDX-License-Identifier: Apache-2.0
/*
 * A frontend that breaks the protocol: a guest's user program with a control
 * page and a port of its own (gntalloc, evtchn) instead of vcuda-front. Each
 * case connects, does its mischief, and looks at what the backend makes of it:
 * it cuts us off where the protocol is broken, and answers with an errno where a
 * request only asks for what it cannot have.
 *
 *   rogue-front CASE...      one line a case; exit status 1 if one went otherwise
 *   rogue-front list         the cases' names
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef __u16 domid_t; /* xen/evtchn.h wants it and does not say where from */
#include <xen/evtchn.h>
#include <xen/gntalloc.h>

#include "../../../protocol/control.h"
#include "../../../protocol/ring.h"
#include "cases.h"

#define RINGS_PAGES (2 + 2 * VCUDA_RING_MIN / VCUDA_PAGE)
#define GRANTS_MAX 256

struct run {
    __u8 *base;
    __u32 refs[GRANTS_MAX];
    __u32 pages;
    int fd; /* its close ends the grants */
};

static struct {
    struct run control;
    struct vcuda_duplex ring;
    int events;
    unsigned int port;
    __u32 id;
} front;

/* ---- Grants, ports, xenstore --------------------------------------------- */

static void grant(struct run *run, __u32 pages, int writable) {
    struct ioctl_gntalloc_alloc_gref *arg = calloc(1, sizeof(*arg) + 4 * pages);

    run->fd = open("/dev/xen/gntalloc", O_RDWR);
    arg->flags = writable ? GNTALLOC_FLAG_WRITABLE : 0;
    arg->count = pages;
    if (run->fd < 0 || ioctl(run->fd, IOCTL_GNTALLOC_ALLOC_GREF, arg))
        fail("no %u grants: %m", pages);
    run->pages = pages;
    memcpy(run->refs, arg->gref_ids, 4 * pages);
    run->base = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, run->fd, arg->index);
    if (run->base == MAP_FAILED)
        fail("mmap of own pages: %m");
    free(arg);
}

static void ungrant(struct run *run) {
    munmap(run->base, run->pages * 4096);
    close(run->fd);
}

static unsigned int new_port(void) {
    struct ioctl_evtchn_bind_unbound_port arg = {.remote_domain = 0};
    int port = ioctl(front.events, IOCTL_EVTCHN_BIND_UNBOUND_PORT, &arg);

    if (port < 0)
        fail("no port: %m");
    return port;
}

static void notify(unsigned int port) {
    struct ioctl_evtchn_notify arg = {.port = port};

    ioctl(front.events, IOCTL_EVTCHN_NOTIFY, &arg);
}

static void say(int state) {
    char text[200];

    snprintf(text, sizeof(text), "xenstore-write device/vcuda/0/state %d", state);
    if (system(text))
        fail("%s", text);
}

static int backend_state(void) {
    FILE *f = popen("xenstore-read $(xenstore-read device/vcuda/0/backend)/state", "r");
    int state = -1;

    if (!f || fscanf(f, "%d", &state) != 1)
        state = -1;
    if (f)
        pclose(f);
    return state;
}

static void await_backend(int state) {
    int seen = -1;

    for (int i = 0; i < 100; i++) {
        seen = backend_state();
        if (seen == state)
            return;
        usleep(50000);
    }
    fail("backend's state is %d, not %d", seen, state);
}

static void connect_front(void) {
    char text[400];

    say(1);
    await_backend(2);
    front.events = open("/dev/xen/evtchn", O_RDWR);
    if (front.events < 0)
        fail("/dev/xen/evtchn: %m");
    grant(&front.control, 1, 1);
    memset(front.control.base, 0, 4096);
    vcuda_duplex_control(&front.ring, front.control.base, VCUDA_PARTY_G);
    front.port = new_port();
    snprintf(text, sizeof(text),
             "xenstore-write device/vcuda/0/version 1 "
             "device/vcuda/0/features 0 device/vcuda/0/ctl-ring-ref %u "
             "device/vcuda/0/event-channel %u",
             front.control.refs[0], front.port);
    if (system(text))
        fail("%s", text);
    say(3);
    await_backend(4);
    say(4);
}

static void disconnect_front(void) {
    say(6);
    await_backend(6);
    ungrant(&front.control);
    close(front.events);
}

/* ---- The control channel ------------------------------------------------- */

static struct vcuda_ctl request(__u16 op, __u32 session) {
    struct vcuda_ctl c = {.len = sizeof(c), .op = op, .id = ++front.id, .session = session};

    return c;
}

static void send_ctl(const struct vcuda_ctl *c) {
    if (vcuda_tx_fits(&front.ring, sizeof(*c)) != 1)
        fail("no room to send");
    vcuda_tx_put(&front.ring, 0, c, sizeof(*c));
    vcuda_tx_publish(&front.ring, sizeof(*c));
    notify(front.port);
}

/* The next message's status, within 5 s. */
static int receive(struct vcuda_ctl *c) {
    for (int i = 0; i < 5000; i++) {
        int len = vcuda_rx_take(&front.ring, c, sizeof(*c), sizeof(*c));

        if (len)
            return len < 0 ? len : c->status;
        usleep(1000);
    }
    fail("no answer");
    return 0;
}

static void expect(const struct vcuda_ctl *sent, int status) {
    struct vcuda_ctl c;
    int seen = receive(&c);

    if (seen != status || c.op != (sent->op | VCUDA_CTL_REPLY) || c.id != sent->id)
        fail("answer %d to op %d, not %d to op %d", seen, c.op, status, sent->op);
}

/* Connected still, and served. */
static void expect_served(void) {
    struct vcuda_ctl c = request(VCUDA_CTL_CLOSE, 0xffffffff);

    send_ctl(&c);
    expect(&c, -ENOENT);
}

static void expect_cut(void) {
    await_backend(6);
}

struct session {
    struct run rings;
    struct run directory;
    unsigned int port;
};

static struct vcuda_ctl open_request(struct session *s, __u32 number) {
    struct vcuda_ctl c = request(VCUDA_CTL_OPEN, number);
    struct vcuda_directory *dir;

    grant(&s->rings, RINGS_PAGES, 1);
    grant(&s->directory, 1, 0);
    dir = (void *)s->directory.base;
    memcpy(dir->refs, s->rings.refs, 4 * RINGS_PAGES);
    s->port = new_port();
    c.pages = RINGS_PAGES;
    c.sub_bytes = VCUDA_RING_MIN;
    c.cmp_bytes = VCUDA_RING_MIN;
    c.dir_ref = s->directory.refs[0];
    c.port = s->port;
    return c;
}

static void session_free(struct session *s) {
    ungrant(&s->rings);
    ungrant(&s->directory);
}

static void close_session(__u32 number) {
    struct vcuda_ctl c = request(VCUDA_CTL_CLOSE, number);

    send_ctl(&c);
    expect(&c, 0);
}

/* ---- Cases --------------------------------------------------------------- */

static void case_index(void) {
    *(volatile __u32 *)&front.ring.own->prod = 0xdeadbeef;
    notify(front.port);
    expect_cut();
}

static void case_index_far(void) {
    *(volatile __u32 *)&front.ring.own->prod = 2048;
    notify(front.port);
    expect_cut();
}

static void case_cons(void) {
    struct vcuda_ctl c = request(VCUDA_CTL_CLOSE, 1);

    /* Only looked at when the backend runs out of room: fill its ring. */
    *(volatile __u32 *)&front.ring.own->cons = 0x12345;
    for (int i = 0; i < 20; i++) {
        if (vcuda_tx_fits(&front.ring, sizeof(c)) != 1)
            break;
        send_ctl(&c);
        usleep(20000);
    }
    expect_cut();
}

static void case_length(void) {
    struct vcuda_ctl c = request(VCUDA_CTL_CLOSE, 1);

    c.len = 8;
    send_ctl(&c);
    expect_cut();
}

static void case_operation(void) {
    struct vcuda_ctl c = request(77, 1);

    send_ctl(&c);
    expect_cut();
}

static void case_reply(void) {
    struct vcuda_ctl c = request(VCUDA_CTL_OPEN | VCUDA_CTL_REPLY, 1);

    send_ctl(&c);
    expect_cut();
}

static void case_pages(void) {
    struct vcuda_ctl c = request(VCUDA_CTL_REGION_ADD, 1);

    c.region = 1;
    c.pages = VCUDA_REGION_PAGES_MAX + 1;
    send_ctl(&c);
    expect_cut();
}

static void case_region_number(void) {
    struct vcuda_ctl c = request(VCUDA_CTL_REGION_ADD, 1);

    c.region = VCUDA_REGIONS_MAX;
    c.pages = 1;
    send_ctl(&c);
    expect_cut();
}

/* Answers that are never read fill the backend's ring: 16 records. */
static void case_unread(void) {
    struct vcuda_ctl c = request(VCUDA_CTL_CLOSE, 1);

    for (int i = 0; i < 17; i++) {
        while (vcuda_tx_fits(&front.ring, sizeof(c)) == 0 && backend_state() == 4)
            ;
        if (vcuda_tx_fits(&front.ring, sizeof(c)) == 1)
            send_ctl(&c);
        usleep(10000);
    }
    expect_cut();
}

/* Needs a supervisor that claims. */
static void case_twice(void) {
    struct session s[2];
    struct vcuda_ctl c = open_request(&s[0], 5);

    send_ctl(&c);
    expect(&c, 0);
    c = open_request(&s[1], 5);
    send_ctl(&c);
    expect_cut();
    session_free(&s[0]);
    session_free(&s[1]);
}

static void case_directory(void) {
    struct session s;
    struct vcuda_ctl c = open_request(&s, 1);
    struct vcuda_directory *dir = (void *)s.directory.base;

    c.dir_ref = 0x7fffffff;
    send_ctl(&c);
    expect(&c, -EINVAL);
    c.dir_ref = s.directory.refs[0];

    /* The last page's grant is none: what was mapped must be undone. */
    dir->refs[RINGS_PAGES - 1] = 0x00ffffff;
    send_ctl(&c);
    expect(&c, -EINVAL);
    dir->refs[0] = 0; /* Xen's own */
    send_ctl(&c);
    expect(&c, -EINVAL);

    /* A granted page that may not be written. */
    memcpy(dir->refs, s.rings.refs, 4 * RINGS_PAGES);
    dir->refs[3] = s.directory.refs[0];
    send_ctl(&c);
    expect(&c, -EINVAL);

    /* And the same request, honest at last. */
    memcpy(dir->refs, s.rings.refs, 4 * RINGS_PAGES);
    send_ctl(&c);
    expect(&c, 0);
    close_session(1);
    session_free(&s);
}

static void case_port(void) {
    struct session s;
    struct vcuda_ctl c = open_request(&s, 1);
    struct vcuda_ctl reply;

    c.port = 0xfffffff0;
    send_ctl(&c);
    if (receive(&reply) >= 0)
        fail("a port that is none was taken");
    c.port = front.port; /* bound already */
    send_ctl(&c);
    if (receive(&reply) >= 0)
        fail("the control port was taken");
    session_free(&s);
    expect_served();
}

static void case_quota(void) {
    struct session s;
    struct vcuda_ctl c = open_request(&s, 1);

    send_ctl(&c);
    expect(&c, 0);
    c = request(VCUDA_CTL_REGION_ADD, 1);
    c.region = 1;
    c.pages = VCUDA_REGION_PAGES_MAX;
    c.dir_ref = s.directory.refs[0];
    send_ctl(&c);
    expect(&c, -EDQUOT);
    close_session(1);
    session_free(&s);
}

/* What is not there, and what is there already. */
static void case_missing(void) {
    struct session s;
    struct vcuda_ctl c = request(VCUDA_CTL_REGION_DEL, 9);

    c.region = 1;
    send_ctl(&c);
    expect(&c, -ENOENT);
    c = request(VCUDA_CTL_REGION_ADD, 9);
    c.region = 1;
    c.pages = 1;
    send_ctl(&c);
    expect(&c, -ENOENT);

    c = open_request(&s, 1);
    send_ctl(&c);
    expect(&c, 0);
    for (int i = 0; i < 2; i++) {
        struct vcuda_ctl add = request(VCUDA_CTL_REGION_ADD, 1);

        add.region = 1;
        add.pages = 4;
        add.dir_ref = s.directory.refs[0];
        send_ctl(&add);
        expect(&add, i ? -EEXIST : 0);
    }
    c = request(VCUDA_CTL_REGION_DEL, 1);
    c.region = 1;
    send_ctl(&c);
    expect(&c, 0);
    close_session(1);
    session_free(&s);
}

/* Closed while open is not answered: needs a supervisor that sleeps. */
static void case_impatient(void) {
    struct session s[VCUDA_CTL_REQUESTS_MAX + 1];
    struct vcuda_ctl c, reply;

    c = open_request(&s[0], 1);
    send_ctl(&c);
    usleep(300000);
    c = request(VCUDA_CTL_CLOSE, 1);
    send_ctl(&c);
    if (receive(&reply) >= 0 || reply.op != (VCUDA_CTL_OPEN | VCUDA_CTL_REPLY))
        fail("OPEN was not refused: op %d status %d", reply.op, reply.status);
    expect(&c, 0);
    session_free(&s[0]);

    for (__u32 i = 0; i <= VCUDA_CTL_REQUESTS_MAX; i++) {
        c = open_request(&s[i], 10 + i);
        send_ctl(&c);
    }
    expect_cut();
    for (__u32 i = 0; i <= VCUDA_CTL_REQUESTS_MAX; i++)
        session_free(&s[i]);
}

/* Closed and opened again while the first is refused: needs a supervisor that refuses late. */
static void case_reopen(void) {
    struct session s;
    struct vcuda_ctl open = open_request(&s, 1), reply;
    time_t end = time(NULL) + 5;
    unsigned long opened = 0;

    srand(1);
    for (; time(NULL) < end; opened++) {
        struct vcuda_ctl close = request(VCUDA_CTL_CLOSE, 1);

        open.id = ++front.id;
        send_ctl(&open);
        usleep(rand() % 500);
        send_ctl(&close);
        for (int i = 0; i < 2; i++)
            if (receive(&reply) == 0 && reply.op != (VCUDA_CTL_CLOSE | VCUDA_CTL_REPLY))
                fail("OPEN was not refused: op %d", reply.op);
    }
    expect_served();
    printf("(%lu sessions) ", opened);
    session_free(&s);
}

/* As many events as one can send, for 3 s; then dom0 must serve as before. */
static void case_storm(void) {
    time_t end = time(NULL) + 3;
    unsigned long sent = 0;

    for (; time(NULL) < end; sent++)
        notify(front.port);
    expect_served();
    printf("(%lu events) ", sent);
}

/* Requests of random kinds, numbers and grants, as fast as they are answered. */
static void case_fuzz(void) {
    struct session s;
    struct vcuda_ctl open = open_request(&s, 1), reply;
    time_t end = time(NULL) + 10;
    unsigned long sent = 0;

    srand(1);
    for (; time(NULL) < end; sent++) {
        struct vcuda_ctl c = open;

        c.op = 1 + rand() % 4;
        c.id = sent;
        c.session = rand() % 2;
        c.region = 1 + rand() % 3;
        if (c.op != VCUDA_CTL_OPEN)
            c.pages = 1 + rand() % RINGS_PAGES;
        if (rand() % 8 == 0)
            c.dir_ref = rand();
        if (rand() % 8 == 0)
            c.port = rand();
        if (c.op == VCUDA_CTL_OPEN) { /* the one thing that would cut us off */
            struct vcuda_ctl close = request(VCUDA_CTL_CLOSE, c.session);

            send_ctl(&close);
            while (receive(&reply), reply.op == VCUDA_CTL_DEAD)
                ;
        }
        send_ctl(&c);
        while (receive(&reply), reply.op == VCUDA_CTL_DEAD)
            ;
        if (reply.op != (c.op | VCUDA_CTL_REPLY) || reply.id != c.id)
            fail("answer to another request");
    }
    printf("(%lu requests) ", sent);
    session_free(&s);
}

/* The session's rings say nonsense: the worker's business, not the kernel's. */
static void case_rings(void) {
    struct session s;
    struct vcuda_ctl c = open_request(&s, 1), dead;

    send_ctl(&c);
    expect(&c, 0);
    memset(s.rings.base, 0xa5, 4096);
    notify(s.port);
    receive(&dead);
    if (dead.op != VCUDA_CTL_DEAD || dead.status != -EPIPE)
        fail("op %d status %d instead of DEAD", dead.op, dead.status);
    close_session(1);
    session_free(&s);
    expect_served();
}

static const struct lab_case cases[] = {
    {"index", case_index},         {"index-far", case_index_far},
    {"cons", case_cons},           {"length", case_length},
    {"operation", case_operation}, {"reply", case_reply},
    {"pages", case_pages},         {"region-number", case_region_number},
    {"unread", case_unread},       {"twice", case_twice},
    {"directory", case_directory}, {"port", case_port},
    {"quota", case_quota},         {"missing", case_missing},
    {"rings", case_rings},         {"storm", case_storm},
    {"fuzz", case_fuzz},           {"reopen", case_reopen},
    {"impatient", case_impatient}, {NULL, NULL},
};

int main(int argc, char **argv) {
    return run_cases(cases, connect_front, disconnect_front, argc, argv);
}
