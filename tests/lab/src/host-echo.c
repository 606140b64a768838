// SPDX-License-Identifier: Apache-2.0
/*
 * dom0's half of the echo test: claims every session of /dev/vcuda-host and
 * serves each in a process of its own, as vcudad and its workers do.
 *
 *   host-echo [-s MICROSECONDS] [-p pipe|xdp] [-h SECONDS] [-r] [-d MICROSECONDS]
 *
 *   -s  spin that long for a record before sleeping (default 50)
 *   -p  pin every region when it is mapped: by pages in a pipe, or for long by
 *       an XDP socket (as a GPU's driver pins, with FOLL_LONGTERM)
 *   -h  a third process holds the pins that long after the worker is gone
 *   -r  refuse every session with -EACCES
 *   -d  take up to that long to refuse
 *
 * One line on stdout for each event.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_xdp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../../protocol/ioctl.h"
#include "../../../protocol/clock.h"
#include "../../../protocol/ring.h"
#include "echo.h"

#ifndef AF_XDP
#define AF_XDP 44
#endif
#ifndef SOL_XDP
#define SOL_XDP 283
#endif

static struct {
    long spin_us;
    const char *pin;
    int hold_s;
    int refuse;
    long delay_us;
} option = {.spin_us = 50};

struct worker {
    int fd;
    __u32 domid;
    __u32 session;
    struct vcuda_duplex ring;
    struct {
        void *base;
        size_t bytes;
    } region[VCUDA_REGIONS_MAX];
};

static long now_us(void) {
    return (long)(vcuda_now_ns() / 1000);
}

static void say(struct worker *w, const char *what, long value) {
    printf("%s domid=%u session=%u %ld\n", what, w->domid, w->session, value);
    fflush(stdout);
}

/* The pages stay in the pipe, referenced, until it is closed. */
static int pin_by_pipe(void *base, size_t bytes) {
    struct iovec iov = {base, bytes};
    int fds[2];

    if (pipe(fds))
        return -1;
    fcntl(fds[1], F_SETPIPE_SZ, 1 << 20);
    return vmsplice(fds[1], &iov, 1, SPLICE_F_NONBLOCK) > 0 ? 0 : -1;
}

static int pin_by_xdp(void *base, size_t bytes) {
    struct xdp_umem_reg umem = {
        .addr = (__u64)base,
        .len = bytes,
        .chunk_size = 4096,
    };
    int fd = socket(AF_XDP, SOCK_RAW, 0);

    if (fd < 0)
        return -1;
    return setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem));
}

/* The holder keeps the pins' descriptors, and nothing else of the worker. */
static void pin(struct worker *w, void *base, size_t bytes) {
    int err = strcmp(option.pin, "xdp") ? pin_by_pipe(base, bytes) : pin_by_xdp(base, bytes);

    say(w, "pinned", err ? -errno : 0);
    if (err || !option.hold_s || fork())
        return;
    close(w->fd);
    sleep(option.hold_s);
    say(w, "unpinned", 0);
    _exit(0);
}

static int map_region(struct worker *w, __u32 region) {
    struct vcuda_ioc_region info = {.region = region};
    void *base;

    if (region >= VCUDA_REGIONS_MAX)
        return EINVAL;
    if (ioctl(w->fd, VCUDA_IOC_REGION_INFO, &info))
        return errno;
    base = mmap(NULL, info.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd,
                vcuda_region_offset(region));
    if (base == MAP_FAILED)
        return errno;
    w->region[region].base = base;
    w->region[region].bytes = info.bytes;
    if (option.pin)
        pin(w, base, info.bytes);
    return 0;
}

static int unmap_region(struct worker *w, __u32 region) {
    if (region >= VCUDA_REGIONS_MAX || !w->region[region].base)
        return EINVAL;
    if (munmap(w->region[region].base, w->region[region].bytes))
        return errno;
    w->region[region].base = NULL;
    return 0;
}

static int sum_region(struct worker *w, __u32 region, __u64 *sum) {
    __u32 *word;
    size_t i;

    if (region >= VCUDA_REGIONS_MAX || !w->region[region].base)
        return EINVAL;
    word = w->region[region].base;
    *sum = 0;
    for (i = 0; i < w->region[region].bytes / sizeof(*word); i++) {
        *sum += word[i];
        word[i] = ~word[i];
    }
    return 0;
}

static void answer(struct worker *w, struct echo_rec *rec) {
    if (rec->head.call == ECHO_SAME || rec->head.len < sizeof(*rec))
        return;
    switch (rec->head.call) {
    case ECHO_MAP:
        rec->head.status = map_region(w, rec->slots[0]);
        break;
    case ECHO_UNMAP:
        rec->head.status = unmap_region(w, rec->slots[0]);
        break;
    case ECHO_SUM:
        rec->head.status = sum_region(w, rec->slots[0], &rec->slots[1]);
        break;
    case ECHO_DIE:
        say(w, "dies", 0);
        kill(getpid(), SIGKILL);
        break;
    default:
        rec->head.status = ENOSYS;
    }
}

static int notify(struct worker *w) {
    __u64 one = 1;

    return write(w->fd, &one, sizeof(one)) == sizeof(one) ? 0 : -errno;
}

/*
 * Sleeps for a record (space 0) or until space bytes may fit: 0, or -errno
 * (-EPIPE: the session is dead).
 */
static int wait_for(struct worker *w, __u32 space) {
    __u64 count;
    int err = 0;

    vcuda_wait_begin(&w->ring, space ? VCUDA_WAIT_SPACE : VCUDA_WAIT_DATA);
    if (!(space ? vcuda_tx_fits(&w->ring, space) : vcuda_rx_ready(&w->ring)))
        err = read(w->fd, &count, sizeof(count)) < 0 ? -errno : 0;
    vcuda_wait_end(&w->ring);
    return err;
}

static int take(struct worker *w, void *buf) {
    long until = now_us() + option.spin_us;
    int len;
    int err;

    while (!(len = vcuda_rx_take(&w->ring, buf, VCUDA_REC_MAX, sizeof(struct vcuda_rec)))) {
        if (now_us() < until)
            continue;
        err = wait_for(w, 0);
        if (err)
            return err;
        until = now_us() + option.spin_us;
    }
    return len;
}

static int put(struct worker *w, const void *buf, __u32 len) {
    int fits;
    int err;

    while (!(fits = vcuda_tx_fits(&w->ring, len))) {
        err = wait_for(w, len);
        if (err)
            return err;
    }
    if (fits < 0)
        return fits;
    vcuda_tx_put(&w->ring, 0, buf, len);
    vcuda_tx_publish(&w->ring, len);
    return vcuda_must_wake(&w->ring, VCUDA_WAIT_DATA | VCUDA_WAIT_SPACE) ? notify(w) : 0;
}

static int serve(struct worker *w) {
    static __u64 buf[VCUDA_REC_MAX / 8];
    struct vcuda_ioc_open info;
    int err;

    if (ioctl(w->fd, VCUDA_IOC_SESSION_INFO, &info))
        return -errno;
    err = map_region(w, 0);
    if (err)
        return -err;
    vcuda_duplex_session(&w->ring, w->region[0].base, info.sub_bytes, info.cmp_bytes,
                         VCUDA_PARTY_H);
    say(w, "serves", getpid());
    while (!err) {
        int len = take(w, buf);

        if (len < 0)
            return len;
        answer(w, (struct echo_rec *)buf);
        err = put(w, buf, len);
    }
    return err;
}

static void claim(int host, const struct vcuda_ioc_host_event *event) {
    struct vcuda_ioc_claim c = {.domid = event->domid, .session = event->session};
    struct worker w = {.domid = event->domid, .session = event->session};

    if (option.refuse) {
        c.status = -EACCES;
        if (option.delay_us > 0)
            usleep(rand() % option.delay_us);
        say(&w, "refused", ioctl(host, VCUDA_HOST_IOC_REFUSE, &c) ? -errno : 0);
        return;
    }
    w.fd = ioctl(host, VCUDA_HOST_IOC_CLAIM, &c);
    if (w.fd < 0) {
        say(&w, "unclaimed", -errno);
        return;
    }
    if (!fork()) {
        close(host);
        say(&w, "ended", serve(&w));
        _exit(0);
    }
    close(w.fd);
}

static void options(int argc, char **argv) {
    int c;

    while ((c = getopt(argc, argv, "s:p:h:rd:")) >= 0) {
        switch (c) {
        case 's':
            option.spin_us = atol(optarg);
            break;
        case 'p':
            option.pin = optarg;
            break;
        case 'h':
            option.hold_s = atoi(optarg);
            break;
        case 'r':
            option.refuse = 1;
            break;
        case 'd':
            option.delay_us = atol(optarg);
            break;
        default:
            exit(2);
        }
    }
}

int main(int argc, char **argv) {
    struct vcuda_ioc_host_event event;
    int host = open(VCUDA_HOST_DEVICE, O_RDWR | O_CLOEXEC);

    vcuda_clock_start();
    options(argc, argv);
    if (host < 0) {
        perror(VCUDA_HOST_DEVICE);
        return 1;
    }
    signal(SIGCHLD, SIG_IGN); /* workers are not waited for */
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct pollfd p = {.fd = host, .events = POLLIN};

        if (poll(&p, 1, -1) < 0)
            return 1;
        if (ioctl(host, VCUDA_HOST_IOC_NEXT, &event))
            continue;
        if (event.what == VCUDA_HOST_SESSION_NEW) {
            claim(host, &event);
        } else {
            printf("gone domid=%u session=%u\n", event.domid, event.session);
            fflush(stdout);
        }
    }
}
