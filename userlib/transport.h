/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program reaches its worker: memory that both map, a way to wake the
 * worker, a descriptor to sleep on. Everything else is the same over Xen
 * (xen.c: /dev/vcuda) and on one machine (local.c: a Unix socket).
 */
#ifndef VCUDA_USERLIB_TRANSPORT_H
#define VCUDA_USERLIB_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

/* What is to be at an address where a region is mapped. */
enum transport_place {
    TRANSPORT_FREE, /* nothing: -EEXIST if there is something */
    TRANSPORT_OVER, /* memory of the program's, which goes; a child of fork has the region too */
};

struct transport {
    int wait_fd;          /* what sleep() sleeps on */
    int kick_fd;          /* write of 8 bytes notifies the worker */
    int life_fd;          /* local: the connection, which is the session */
    void *rings;          /* region 0, mapped */
    uint64_t rings_bytes; /* whole pages */
    const char *kind;
    bool elsewhere; /* the worker has processors that this kernel does not see */
    /*
     * Sleeps until the worker has notified since the last sleep, or a signal came, and takes the
     * notifications: a single system call. False: the session is dead. One thread at a time.
     */
    bool (*sleep)(struct transport *t);
    /* Makes a region of whole pages, zeroed: 0 and its number, or -errno. */
    int (*region_add)(struct transport *t, uint64_t bytes, uint32_t *region);
    /* Maps it at `address`: 0 or -errno. */
    int (*region_map)(struct transport *t, uint32_t region, void *address, uint64_t bytes,
                      enum transport_place place);
    /*
     * Hands it to the worker, right before the call that has it map the region, and not again: 0 or
     * -errno. Before or after it is mapped here; one at a time.
     */
    int (*region_offer)(struct transport *t, uint32_t region, uint64_t bytes);
    /* Maps it once more, anywhere; to be unmapped by the caller. NULL: it cannot be. */
    void *(*region_alias)(struct transport *t, uint32_t region, uint64_t bytes);
    /* Ends one that is mapped nowhere any more: its number may come again. */
    void (*region_del)(struct transport *t, uint32_t region, uint64_t bytes);
    void (*close)(struct transport *t);
};

/*
 * Opens a session with rings of these sizes: 0 or -errno (ENODEV: no GPU attached or no such
 * transport here; ESHUTDOWN or ECONNREFUSED: no helper; EDQUOT: over a limit; EACCES; ...).
 */
int transport_open_xen(struct transport *t, uint32_t sub_bytes, uint32_t cmp_bytes);
int transport_open_local(struct transport *t, const char *socket_path, uint32_t sub_bytes,
                         uint32_t cmp_bytes);

/* Unmaps the rings of a transport that is closed, or could not be opened; no thread uses them. */
void transport_unmap(struct transport *t);

/* Maps shared pages so that neither fork nor a core dump takes them along: 0 or -errno. */
int transport_map(int fd, uint64_t offset, uint64_t bytes, void *fixed, enum transport_place place,
                  void **out);

#endif
