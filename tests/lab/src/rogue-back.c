// SPDX-License-Identifier: Apache-2.0
/*
 * A backend that breaks the protocol: maps the control page of a guest's
 * frontend, waits for its first request and answers it as the case says.
 *
 *   rogue-back list                   prints "CASE EXPECTED" for each case
 *   rogue-back DOMID REF PORT CASE    prints "ready", answers, stays until killed
 *
 * EXPECTED is what the program in the guest must see of its OPEN: an errno's
 * name, where ENODEV means that the frontend must have cut us off.
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
#include <unistd.h>

/* The next two want these and do not say where from. */
typedef __u16 domid_t;
typedef __u32 grant_ref_t;
#include <xen/evtchn.h>
#include <xen/gntdev.h>

#include "../../../protocol/control.h"
#include "../../../protocol/ring.h"

#define RESTARTSYS 512 /* the kernel's own errno: it must never see it from us */

struct rogue {
    int events;
    __u32 port;
    struct vcuda_side *own;
    struct vcuda_duplex ring;
    struct vcuda_ctl asked;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void *map_control(__u32 domid, __u32 ref) {
    struct ioctl_gntdev_map_grant_ref arg = {.count = 1, .refs = {{.domid = domid, .ref = ref}}};
    int fd = open("/dev/xen/gntdev", O_RDWR | O_CLOEXEC);
    void *page;

    if (fd < 0 || ioctl(fd, IOCTL_GNTDEV_MAP_GRANT_REF, &arg))
        die("gntdev");
    page = mmap(NULL, VCUDA_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, arg.index);
    if (page == MAP_FAILED)
        die("mmap");
    return page;
}

static void bind_port(struct rogue *r, __u32 domid, __u32 port) {
    struct ioctl_evtchn_bind_interdomain arg = {.remote_domain = domid, .remote_port = port};
    int local;

    r->events = open("/dev/xen/evtchn", O_RDWR | O_CLOEXEC);
    if (r->events < 0)
        die("evtchn");
    local = ioctl(r->events, IOCTL_EVTCHN_BIND_INTERDOMAIN, &arg);
    if (local < 0)
        die("bind");
    r->port = local;
}

static void notify(struct rogue *r) {
    struct ioctl_evtchn_notify arg = {.port = r->port};

    if (ioctl(r->events, IOCTL_EVTCHN_NOTIFY, &arg))
        die("notify");
}

/* The next request; other than in a real backend by looking again and again. */
static void await(struct rogue *r) {
    int len;

    while (!(len = vcuda_rx_take(&r->ring, &r->asked, sizeof(r->asked), sizeof(r->asked))))
        usleep(10000);
    if (len < 0)
        exit(1);
}

static struct vcuda_ctl reply_to(const struct vcuda_ctl *asked) {
    struct vcuda_ctl c = {
        .len = sizeof(c),
        .op = asked->op | VCUDA_CTL_REPLY,
        .id = asked->id,
        .session = asked->session,
        .status = -EACCES,
    };

    return c;
}

/* Whatever its length says, one record's place in the ring is used. */
static void say(struct rogue *r, const struct vcuda_ctl *c) {
    vcuda_tx_put(&r->ring, 0, c, sizeof(*c));
    vcuda_tx_publish(&r->ring, sizeof(*c));
    notify(r);
}

static void say_dead(struct rogue *r, __u32 session) {
    struct vcuda_ctl c = {
        .len = sizeof(c), .op = VCUDA_CTL_DEAD, .session = session, .status = -EIO};

    say(r, &c);
}

/* ---- Cases: replies with one thing wrong --------------------------------- */

static void bad_id(struct vcuda_ctl *c) {
    c->id += 1;
}
static void bad_op(struct vcuda_ctl *c) {
    c->op = VCUDA_CTL_CLOSE | VCUDA_CTL_REPLY;
}
static void no_op(struct vcuda_ctl *c) {
    c->op = 7;
}
static void bad_session(struct vcuda_ctl *c) {
    c->session ^= 1;
}
static void bad_region(struct vcuda_ctl *c) {
    c->region = 1;
}
static void status_above(struct vcuda_ctl *c) {
    c->status = 1;
}
static void status_below(struct vcuda_ctl *c) {
    c->status = -RESTARTSYS;
}
static void dead_above(struct vcuda_ctl *c) {
    c->op = VCUDA_CTL_DEAD;
    c->status = 1;
}
static void len_short(struct vcuda_ctl *c) {
    c->len = 8;
}
static void len_long(struct vcuda_ctl *c) {
    c->len = 128;
}
static void len_odd(struct vcuda_ctl *c) {
    c->len = 60;
}
static void len_huge(struct vcuda_ctl *c) {
    c->len = ~7u;
}
static void nothing(struct vcuda_ctl *c) {
    (void)c;
}

/* ---- Cases: other things ------------------------------------------------- */

static void index_far(struct rogue *r) {
    vcuda_tx_publish(&r->ring, 1 << 20);
    notify(r);
}

static void index_odd(struct rogue *r) {
    vcuda_tx_publish(&r->ring, 4);
    notify(r);
}

static void reply_twice(struct rogue *r) {
    struct vcuda_ctl c = reply_to(&r->asked);

    c.status = 0;
    vcuda_tx_put(&r->ring, 0, &c, sizeof(c));
    vcuda_tx_put(&r->ring, sizeof(c), &c, sizeof(c));
    vcuda_tx_publish(&r->ring, 2 * sizeof(c));
    notify(r);
}

static void dead_unknown(struct rogue *r) {
    struct vcuda_ctl c = reply_to(&r->asked);

    for (int i = 0; i < 8; i++)
        say_dead(r, 4711 + i);
    usleep(500000);
    say(r, &c);
}

static void dead_first(struct rogue *r) {
    say_dead(r, r->asked.session);
}

static void storm(struct rogue *r) {
    struct vcuda_ctl c = reply_to(&r->asked);

    for (int i = 0; i < 20000; i++)
        notify(r);
    say(r, &c);
}

/* Sleeps that it is not in, in every epoch: makes the frontend notify, no more. */
static void lying_wait(struct rogue *r) {
    struct vcuda_ctl c = reply_to(&r->asked);

    for (__u32 i = 0; i < 100000; i++)
        r->own->wait = i << 2 | VCUDA_WAIT_DATA | VCUDA_WAIT_SPACE;
    say(r, &c);
}

static const struct {
    const char *name;
    const char *expected;
    void (*reply)(struct vcuda_ctl *c);
    void (*other)(struct rogue *r);
} cases[] = {
    {"honest", "EACCES", nothing, NULL},
    {"bad-id", "ENODEV", bad_id, NULL},
    {"bad-op", "ENODEV", bad_op, NULL},
    {"no-op", "ENODEV", no_op, NULL},
    {"bad-session", "ENODEV", bad_session, NULL},
    {"bad-region", "ENODEV", bad_region, NULL},
    {"status-above", "ENODEV", status_above, NULL},
    {"status-below", "ENODEV", status_below, NULL},
    {"dead-above", "ENODEV", dead_above, NULL},
    {"len-short", "ENODEV", len_short, NULL},
    {"len-long", "ENODEV", len_long, NULL},
    {"len-odd", "ENODEV", len_odd, NULL},
    {"len-huge", "ENODEV", len_huge, NULL},
    {"index-far", "ENODEV", NULL, index_far},
    {"index-odd", "ENODEV", NULL, index_odd},
    {"reply-twice", "opened", NULL, reply_twice},
    {"dead-unknown", "EACCES", NULL, dead_unknown},
    {"dead-first", "EIO", NULL, dead_first},
    {"storm", "EACCES", NULL, storm},
    {"lying-wait", "EACCES", NULL, lying_wait},
};

#define CASES (sizeof(cases) / sizeof(*cases))

static void act(struct rogue *r, size_t i) {
    struct vcuda_ctl c;

    await(r);
    if (cases[i].other) {
        cases[i].other(r);
        return;
    }
    c = reply_to(&r->asked);
    cases[i].reply(&c);
    say(r, &c);
}

static size_t case_named(const char *name) {
    for (size_t i = 0; i < CASES; i++)
        if (!strcmp(cases[i].name, name))
            return i;
    fprintf(stderr, "rogue-back: no case %s\n", name);
    exit(2);
}

int main(int argc, char **argv) {
    struct rogue r;
    size_t which;
    char *page;

    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (size_t i = 0; i < CASES; i++)
            printf("%s %s\n", cases[i].name, cases[i].expected);
        return 0;
    }
    if (argc != 5)
        return 2;
    which = case_named(argv[4]);
    page = map_control(atoi(argv[1]), atoi(argv[2]));
    bind_port(&r, atoi(argv[1]), atoi(argv[3]));
    r.own = (struct vcuda_side *)(page + VCUDA_CTL_SIDE_H_OFFSET);
    vcuda_duplex_control(&r.ring, page, VCUDA_PARTY_H);
    printf("ready\n");
    fflush(stdout);
    act(&r, which);
    for (;;)
        pause();
}
