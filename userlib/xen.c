// SPDX-License-Identifier: Apache-2.0
/* The Xen transport: one open file of /dev/vcuda, see protocol/ioctl.h. */
#define _GNU_SOURCE
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ioctl.h"
#include "layout.h"
#include "version.h"

static bool xen_sleep(struct transport *t) {
    uint64_t news;

    return read(t->wait_fd, &news, sizeof(news)) > 0 || errno == EINTR;
}

static int xen_region_add(struct transport *t, uint64_t bytes, uint32_t *region) {
    struct vcuda_ioc_region r = {.bytes = bytes};

    if (ioctl(t->wait_fd, VCUDA_IOC_REGION_ADD, &r))
        return -errno;
    *region = r.region;
    return 0;
}

static int xen_region_map(struct transport *t, uint32_t region, void *address, uint64_t bytes,
                          enum transport_place place) {
    void *unused;

    return transport_map(t->wait_fd, vcuda_region_offset(region), bytes, address, place, &unused);
}

/* The worker's kernel knows of it already. */
static int xen_region_offer(struct transport *t, uint32_t region, uint64_t bytes) {
    (void)t;
    (void)region;
    (void)bytes;
    return 0;
}

static void *xen_region_alias(struct transport *t, uint32_t region, uint64_t bytes) {
    void *alias = NULL;

    transport_map(t->wait_fd, vcuda_region_offset(region), bytes, NULL, TRANSPORT_FREE, &alias);
    return alias;
}

static void xen_region_del(struct transport *t, uint32_t region, uint64_t bytes) {
    struct vcuda_ioc_region r = {.bytes = bytes, .region = region};

    ioctl(t->wait_fd, VCUDA_IOC_REGION_DEL, &r);
}

static void xen_close(struct transport *t) {
    close(t->wait_fd);
}

int transport_open_xen(struct transport *t, uint32_t sub_bytes, uint32_t cmp_bytes) {
    struct vcuda_ioc_open o = {.version = VCUDA_VERSION_MAX,
                               .features = VCUDA_SESSION_FEATURES,
                               .sub_bytes = sub_bytes,
                               .cmp_bytes = cmp_bytes};
    int fd, r;

    memset(t, 0, sizeof(*t));
    t->rings_bytes = vcuda_rings_bytes(sub_bytes, cmp_bytes);
    fd = open(VCUDA_DEVICE, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENXIO ? -ENODEV : -errno;
    do
        r = ioctl(fd, VCUDA_IOC_OPEN, &o) ? -errno : 0;
    while (r == -EINTR);
    if (!r)
        r = transport_map(fd, 0, t->rings_bytes, NULL, TRANSPORT_FREE, &t->rings);
    if (r) {
        close(fd);
        return r;
    }
    t->wait_fd = t->kick_fd = fd;
    t->kind = "xen";
    t->elsewhere = true;
    t->sleep = xen_sleep;
    t->region_add = xen_region_add;
    t->region_map = xen_region_map;
    t->region_offer = xen_region_offer;
    t->region_alias = xen_region_alias;
    t->region_del = xen_region_del;
    t->close = xen_close;
    return 0;
}
