// SPDX-License-Identifier: Apache-2.0
/* The Xen transport: the session's descriptor from /dev/vcuda-host, see protocol/ioctl.h. */
#include "link.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ioctl.h"
#include "layout.h"

static bool xen_sleep(struct link *l, int64_t ns) {
    uint64_t news;

    if (ns >= 0 && !link_ready(l->wait_fd, ns))
        return true;
    return read(l->wait_fd, &news, sizeof(news)) > 0 || errno == EINTR;
}

static int map_region(int fd, uint32_t region, void *fixed, uint64_t bytes, void **out) {
    void *p =
        mmap(fixed, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (fixed ? MAP_FIXED_NOREPLACE : 0),
             fd, (off_t)vcuda_region_offset(region));

    if (p == MAP_FAILED)
        return -errno;
    *out = p;
    return 0;
}

static int xen_map(struct link *l, uint32_t region, void *address, uint64_t bytes) {
    struct vcuda_ioc_region info = {.region = region};
    void *unused;

    /* The kernel's word for the size counts, not the guest's. */
    if (ioctl(l->life_fd, VCUDA_IOC_REGION_INFO, &info))
        return -errno;
    if (info.bytes != bytes)
        return -EINVAL;
    return map_region(l->life_fd, region, address, bytes, &unused);
}

/* The kernel has it, and the program ends it there. */
static void xen_drop(struct link *l) {
    (void)l;
}

int link_open_xen(struct link *l, int fd) {
    struct vcuda_ioc_open info = {0};

    if (ioctl(fd, VCUDA_IOC_SESSION_INFO, &info))
        return -errno;
    l->wait_fd = l->kick_fd = l->life_fd = fd;
    l->sub_bytes = info.sub_bytes;
    l->cmp_bytes = info.cmp_bytes;
    l->version = info.version;
    l->features = info.features;
    l->sleep = xen_sleep;
    l->map = xen_map;
    l->drop = xen_drop;
    l->elsewhere = true;
    return map_region(fd, 0, NULL, vcuda_rings_bytes(l->sub_bytes, l->cmp_bytes), &l->rings);
}
