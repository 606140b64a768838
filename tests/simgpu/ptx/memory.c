// SPDX-License-Identifier: Apache-2.0
/*
 * Where an address of a kernel lies. A generic address is a host address: of device memory, of the
 * block's shared memory, of the lane's own local memory or of the parameters.
 */
#include "exec.h"

static bool inside(uint64_t addr, size_t len, const void *base, uint64_t size) {
    uint64_t offset = addr - (uint64_t)(uintptr_t)base;
    return offset < size && size - offset >= len;
}

/* Asks the driver for the allocation around addr and remembers it. */
static char *learn_range(struct warp *w, uint64_t addr, size_t len) {
    const struct ptx_memory *mem = &w->grid->m->mem;
    struct ranges *known = w->ranges;
    uint64_t base, size;

    if (!mem->range(mem->opaque, addr, &base, &size))
        return mem->resolve(mem->opaque, addr, len);
    if (addr < base || addr - base >= size || size - (addr - base) < len)
        return NULL;
    known->r[known->next].base = base;
    known->r[known->next].size = size;
    known->next = (known->next + 1) % RANGES;
    return (char *)(uintptr_t)addr;
}

static int known_range(const struct ranges *known, uint64_t addr, size_t len) {
    for (int k = 0; k < RANGES; k++)
        if (known->r[k].size >= len && addr - known->r[k].base <= known->r[k].size - len)
            return k;
    return -1;
}

char *global_pointer(struct warp *w, uint64_t addr, size_t len) {
    if (known_range(w->ranges, addr, len) >= 0)
        return (char *)(uintptr_t)addr;
    return learn_range(w, addr, len);
}

char *lane_pointer(struct warp *w, int lane, uint64_t addr, size_t len) {
    const struct grid *g = w->grid;

    if (inside(addr, len, w->block->shared, g->shared_bytes) ||
        inside(addr, len, lane_local(w, lane), g->local_bytes) ||
        inside(addr, len, g->params, g->f->param_bytes) ||
        (g->cluster_blocks > 1 && in_cluster(w, addr, len)))
        return (char *)(uintptr_t)addr;
    return global_pointer(w, addr, len);
}

static void addresses(const struct warp *w, const struct insn *i, uint32_t mask, uint64_t *addr) {
    uint64_t imm = (uint64_t)i->imm;

    if (i->a == REF_NONE || i->a == REF_SP) {
        uint64_t v = imm + (i->a == REF_SP ? (uint32_t)w->frame : 0);
        for (int l = 0; l < WARP; l++)
            addr[l] = v;
    } else if (i->flags & F_ADDR32) {
        const uint32_t *a = at(w, i->a);
        LANES(mask, addr[l] = a[l] + imm);
    } else {
        const uint64_t *a = at(w, i->a);
        LANES(mask, addr[l] = a[l] + imm);
    }
}

static bool bad_address(struct warp *w, const struct insn *i, int lane, uint64_t addr, size_t len) {
    if (addr & (len - 1))
        fault(w, i, lane, PTX_ERR_MISALIGNED, "misaligned address 0x%llx of %zu bytes",
              (unsigned long long)addr, len);
    else
        fault(w, i, lane, PTX_ERR_ILLEGAL_ADDRESS, "illegal address 0x%llx of %zu bytes",
              (unsigned long long)addr, len);
    return false;
}

/* Offsets into one block of memory for all lanes, or one for each (stride). */
static bool windowed(struct warp *w, const struct insn *i, uint32_t mask, size_t len, char **p,
                     char *base, size_t stride, uint64_t size) {
    uint64_t addr[WARP];

    addresses(w, i, mask, addr);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (addr[l] & (len - 1) || addr[l] >= size || size - addr[l] < len)
            return bad_address(w, i, l, addr[l], len);
        p[l] = base + stride * (size_t)l + addr[l];
    }
    return true;
}

static bool clustered(struct warp *w, const struct insn *i, uint32_t mask, size_t len, char **p) {
    uint64_t addr[WARP];

    addresses(w, i, mask, addr);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        p[l] = addr[l] & (len - 1) ? NULL : cluster_pointer(w, addr[l], len);
        if (!p[l])
            return bad_address(w, i, l, addr[l], len);
    }
    return true;
}

static bool generic(struct warp *w, const struct insn *i, uint32_t mask, size_t len, char **p) {
    uint64_t addr[WARP], wrong = 0;

    addresses(w, i, mask, addr);
    int k = known_range(w->ranges, addr[__builtin_ctz(mask)], len);
    if (k >= 0) { /* mostly all lanes access one allocation */
        uint64_t base = w->ranges->r[k].base, room = w->ranges->r[k].size - len;
        LANES(mask, wrong |= (addr[l] - base > room) | (addr[l] & (len - 1));
              p[l] = (char *)(uintptr_t)addr[l]);
        if (!wrong)
            return true;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        p[l] = addr[l] & (len - 1) ? NULL : lane_pointer(w, l, addr[l], len);
        if (!p[l])
            return bad_address(w, i, l, addr[l], len);
    }
    return true;
}

bool pointers(struct warp *w, const struct insn *i, uint32_t mask, size_t len, char **p) {
    const struct grid *g = w->grid;

    switch (i->space) {
    case SP_SHARED:
        return windowed(w, i, mask, len, p, w->block->shared, 0, g->shared_bytes);
    case SP_CLUSTER:
        return clustered(w, i, mask, len, p);
    case SP_LOCAL:
        return windowed(w, i, mask, len, p, w->local, g->local_bytes, g->local_bytes);
    case SP_PARAM:
        return windowed(w, i, mask, len, p, (char *)(uintptr_t)g->params, 0, g->f->param_bytes);
    default:
        return generic(w, i, mask, len, p);
    }
}
