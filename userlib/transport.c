// SPDX-License-Identifier: Apache-2.0
#include "transport.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

int transport_map(int fd, uint64_t offset, uint64_t bytes, void *fixed, enum transport_place place,
                  void **out) {
    int at = place == TRANSPORT_OVER ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    int flags = MAP_SHARED | (fixed ? at : 0);
    void *p = mmap(fixed, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);

    if (p == MAP_FAILED)
        return -errno;
    if (fixed && p != fixed) { /* a kernel older than MAP_FIXED_NOREPLACE takes it as a hint */
        munmap(p, bytes);
        return -EEXIST;
    }
    /* The worker belongs to this process: a child must not write into its rings. */
    if (place != TRANSPORT_OVER)
        madvise(p, bytes, MADV_DONTFORK);
    madvise(p, bytes, MADV_DONTDUMP);
    *out = p;
    return 0;
}

void transport_unmap(struct transport *t) {
    if (t->rings)
        munmap(t->rings, t->rings_bytes);
    t->rings = NULL;
}
