// SPDX-License-Identifier: Apache-2.0
/*
 * cp.async: copies from global to shared memory that may be done at any time until they are waited
 * for. Here they are done at once, so that there is nothing to wait for.
 */
#include "exec.h"
#include "load.h"

struct async_copy {
    struct insn to, from; /* for their addresses */
    unsigned bytes;
    uint32_t size; /* ref: so many of them are read, the rest is 0 */
};

/* Where a lane that reads less than everything reads from. */
static char *part(struct warp *w, const struct insn *from, int lane, size_t bytes) {
    char *p[WARP];

    if (!pointers(w, from, 1u << lane, 1, p))
        return NULL;
    if (global_pointer(w, (uint64_t)(uintptr_t)p[lane], bytes))
        return p[lane];
    fault(w, from, lane, PTX_ERR_ILLEGAL_ADDRESS, "%zu bytes lie not all in one allocation", bytes);
    return NULL;
}

static enum step exec_copy(struct warp *w, const struct insn *i, uint32_t mask) {
    const struct async_copy *c = i->info;
    const uint32_t *size = at(w, c->size);
    char *to[WARP], *from[WARP];
    uint32_t whole = 0;

    LANES(mask, whole |= (uint32_t)(size[l] >= c->bytes) << l);
    if (!pointers(w, &c->to, mask, c->bytes, to) ||
        (whole && !pointers(w, &c->from, whole, c->bytes, from)))
        return STEP_FAULT;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        size_t bytes = whole >> l & 1 ? c->bytes : size[l];

        if (!(whole >> l & 1) && bytes) {
            from[l] = part(w, &c->from, l, bytes);
            if (!from[l])
                return STEP_FAULT;
        }
        if (bytes)
            memcpy(to[l], from[l], bytes);
        memset(to[l] + bytes, 0, c->bytes - bytes);
    }
    return STEP_NEXT;
}

static enum step exec_nothing(struct warp *w, const struct insn *i, uint32_t mask) {
    (void)w, (void)i, (void)mask;
    return STEP_NEXT;
}

static void build_wait(struct loader *ld, struct stmt *st, bool group) {
    int64_t n;

    if (!need_ops(ld, group ? 1 : 0))
        return;
    if (group && !const_int(&st->op[0], &n))
        st_syntax(ld, "a number was expected");
    emit(ld, exec_nothing);
}

/* cp.async.ca.shared.global [to], [from], bytes{, bytes to read}; */
static void build_cp(struct loader *ld, struct stmt *st) {
    static const char *const hints[] = {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"};
    struct address to, from;
    int64_t bytes;

    if (!take(st, "async") || take(st, "bulk") || take(st, "mbarrier")) {
        st_refuse(ld, "");
        return;
    }
    if (take(st, "commit_group") || take(st, "wait_all")) {
        build_wait(ld, st, false);
        return;
    }
    if (take(st, "wait_group")) {
        build_wait(ld, st, true);
        return;
    }
    if (!take(st, "ca"))
        take(st, "cg");
    for (size_t k = 1; k < sizeof(hints) / sizeof(*hints); k++)
        take(st, hints[k]);
    if (take(st, hints[0]) || (!take(st, "shared") && !take(st, "shared::cta")) ||
        !take(st, "global")) {
        st_refuse(ld, "");
        return;
    }
    if (st->op_count != 4 && !need_ops(ld, 3))
        return;
    if (!const_int(&st->op[2], &bytes) || (bytes != 4 && bytes != 8 && bytes != 16)) {
        st_syntax(ld, "impossible size");
        return;
    }
    to = address(ld, &st->op[0], SP_SHARED);
    from = address(ld, &st->op[1], SP_GLOBAL);
    uint32_t size =
        st->op_count == 4 ? src(ld, &st->op[3], T_B32) : pool_const(ld, 4, (uint64_t)bytes);
    struct async_copy *c = ld_own(ld, sizeof(*c));
    if (!c || ld->status != PTX_OK)
        return;
    struct insn *i = emit(ld, exec_copy);
    c->to.line = c->from.line = i->line;
    set_address(&c->to, &to);
    set_address(&c->from, &from);
    c->bytes = (unsigned)bytes;
    c->size = size;
    i->info = c;
}

const struct opcode ops_async[] = {{"cp", build_cp}, {NULL, NULL}};
