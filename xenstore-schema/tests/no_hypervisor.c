// SPDX-License-Identifier: Apache-2.0
/*
 * Preloaded, this lets a real xenstored (4.17) run on a machine without Xen:
 * it answers for the hypervisor, and for nothing else. Domain N lives as long
 * as the file N exists in $NO_HYPERVISOR_DIR; a byte written into the FIFO
 * `virq` there is Xen's interrupt that says that some domain died. Guests'
 * rings are empty pages: xenstored serves its socket only.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xenctrl.h>
#include <xenevtchn.h>
#include <xengnttab.h>

#define VIRQ_PORT 1
#define FIRST_RING_PORT 16
#define RING_SIZE 4096

/* Handles are opaque to callers. */
static char handle;

static int open_in_dir(const char *file, int flags) {
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", getenv("NO_HYPERVISOR_DIR"), file);
    return openat(AT_FDCWD, path, flags);
}

static int lives(uint32_t domid) {
    char file[16];
    int fd;

    if (domid == 0)
        return 1;
    snprintf(file, sizeof(file), "%u", domid);
    fd = open_in_dir(file, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* ---- xenctrl ---- */

xc_interface *xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild,
                                unsigned flags) {
    (void)logger, (void)dombuild, (void)flags;
    return (xc_interface *)&handle;
}

int xc_interface_close(xc_interface *xc) {
    (void)xc;
    return 0;
}

int xc_domain_getinfo(xc_interface *xc, uint32_t first, unsigned max, xc_dominfo_t *info) {
    (void)xc, (void)max;
    memset(info, 0, sizeof(*info));
    info->domid = first;
    return lives(first);
}

int xc_domain_getinfolist(xc_interface *xc, uint32_t first, unsigned max, xc_domaininfo_t *info) {
    (void)xc, (void)max;
    memset(info, 0, sizeof(*info));
    info->domain = (domid_t)first;
    return lives(first);
}

/* ---- event channels ---- */

xenevtchn_handle *xenevtchn_open(xentoollog_logger *logger, unsigned flags) {
    (void)logger, (void)flags;
    return (xenevtchn_handle *)&handle;
}

int xenevtchn_fd(xenevtchn_handle *xce) {
    static int fd = -1;

    (void)xce;
    if (fd < 0)
        fd = open_in_dir("virq", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return fd;
}

xenevtchn_port_or_error_t xenevtchn_pending(xenevtchn_handle *xce) {
    char byte;

    return read(xenevtchn_fd(xce), &byte, 1) == 1 ? VIRQ_PORT : -1;
}

xenevtchn_port_or_error_t xenevtchn_bind_virq(xenevtchn_handle *xce, unsigned virq) {
    (void)xce, (void)virq;
    return VIRQ_PORT;
}

xenevtchn_port_or_error_t xenevtchn_bind_interdomain(xenevtchn_handle *xce, uint32_t domid,
                                                     evtchn_port_t remote) {
    (void)xce, (void)remote;
    return (xenevtchn_port_or_error_t)(FIRST_RING_PORT + domid);
}

int xenevtchn_unbind(xenevtchn_handle *xce, evtchn_port_t port) {
    (void)xce, (void)port;
    return 0;
}

int xenevtchn_notify(xenevtchn_handle *xce, evtchn_port_t port) {
    (void)xce, (void)port;
    return 0;
}

int xenevtchn_unmask(xenevtchn_handle *xce, evtchn_port_t port) {
    (void)xce, (void)port;
    return 0;
}

/* ---- grants: each domain's ring ---- */

xengnttab_handle *xengnttab_open(xentoollog_logger *logger, unsigned flags) {
    (void)logger, (void)flags;
    return (xengnttab_handle *)&handle;
}

int xengnttab_close(xengnttab_handle *xgt) {
    (void)xgt;
    return 0;
}

int xengnttab_set_max_grants(xengnttab_handle *xgt, uint32_t count) {
    (void)xgt, (void)count;
    return 0;
}

void *xengnttab_map_grant_ref(xengnttab_handle *xgt, uint32_t domid, uint32_t ref, int prot) {
    void *ring;

    (void)xgt, (void)domid, (void)ref;
    ring = mmap(NULL, RING_SIZE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ring == MAP_FAILED ? NULL : ring;
}

int xengnttab_unmap(xengnttab_handle *xgt, void *start, uint32_t count) {
    (void)xgt;
    return munmap(start, (size_t)count * RING_SIZE);
}

/* ---- dom0's own ring and port, which a Xen kernel offers as files ---- */

static int port_file(void) {
    int ends[2];

    if (pipe(ends))
        return -1;
    if (write(ends[1], "2", 1) != 1)
        return -1;
    close(ends[1]);
    return ends[0];
}

static int ring_file(void) {
    int fd = memfd_create("xsd_kva", MFD_CLOEXEC);

    return fd >= 0 && ftruncate(fd, RING_SIZE) == 0 ? fd : -1;
}

int open(const char *path, int flags, ...) {
    va_list args;
    mode_t mode;

    if (!strcmp(path, "/proc/xen/xsd_port"))
        return port_file();
    if (!strcmp(path, "/proc/xen/xsd_kva"))
        return ring_file();
    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    return openat(AT_FDCWD, path, flags, mode);
}
