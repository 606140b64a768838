// SPDX-License-Identifier: Apache-2.0
/* Branches, calls, returns and the ends of threads. */
#include "flow.h"
#include "load.h"

/* --- branches --- */

static enum step exec_bra(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t other = w->active & ~mask;

    if (!other) {
        w->pc = i->target;
        return STEP_JUMP;
    }
    park(w, mask, i->target);
    park(w, other, w->pc + 1);
    return STEP_SELECT;
}

static void build_bra(struct loader *ld, struct stmt *st) {
    take(st, "uni");
    if (!need_ops(ld, 1))
        return;
    emit(ld, exec_bra);
    jump_to(ld, &st->op[0], (uint32_t)(ld->m->code_count - 1));
}

static enum step exec_brx(struct warp *w, const struct insn *i, uint32_t mask) {
    const struct targets *t = i->info;
    const uint32_t *index = at(w, i->a);

    park(w, w->active & ~mask, w->pc + 1);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (index[l] >= t->count)
            return fault(w, i, l, PTX_ERR_INVALID_PC, "brx.idx: no target %u", index[l]);
        w->lane_pc[l] = t->pc[index[l]];
    }
    return STEP_SELECT;
}

static void build_brx(struct loader *ld, struct stmt *st) {
    if (!take(st, "idx")) {
        st_syntax(ld, ".idx is missing");
        return;
    }
    take(st, "uni");
    if (!need_ops(ld, 2))
        return;
    uint32_t index = src(ld, &st->op[0], T_U32);
    struct sym *sym =
        st->op[1].kind == OPD_NAME ? map_find(&ld->locals, st->op[1].s, st->op[1].len) : NULL;
    if (!sym || sym->kind != SYM_LIST) {
        st_syntax(ld, "a list of .branchtargets was expected");
        return;
    }
    struct insn *i = emit(ld, exec_brx);
    i->a = index;
    i->info = sym->targets;
}

/* --- the end of threads --- */

static enum step exec_exit(struct warp *w, const struct insn *i, uint32_t mask) {
    (void)i;
    park(w, w->active & ~mask, w->pc + 1);
    retire(w, mask);
    return STEP_SELECT;
}

static void build_exit(struct loader *ld, struct stmt *st) {
    (void)st;
    if (need_ops(ld, 0))
        emit(ld, exec_exit);
}

static enum step exec_trap(struct warp *w, const struct insn *i, uint32_t mask) {
    return fault(w, i, __builtin_ctz(mask), PTX_ERR_TRAP, "trap");
}

static enum step exec_brkpt(struct warp *w, const struct insn *i, uint32_t mask) {
    return fault(w, i, __builtin_ctz(mask), PTX_ERR_ILLEGAL_INSTRUCTION, "brkpt");
}

static void build_trap(struct loader *ld, struct stmt *st) {
    if (need_ops(ld, 0))
        emit(ld, st->name_len == 4 ? exec_trap : exec_brkpt);
}

/* --- calls --- */

static uint32_t frame_regs(uint64_t frame) {
    return (uint32_t)(frame >> 32);
}

static uint32_t frame_local(uint64_t frame) {
    return (uint32_t)frame;
}

/* One argument or result of one lane. */
static void copy_value(struct warp *w, int lane, const struct copy *c, uint64_t caller,
                       uint64_t callee, bool to_callee) {
    char *local = lane_local(w, lane);
    char *a = c->caller_reg ? w->regs + frame_regs(caller) + c->caller + (size_t)lane * c->size
                            : local + frame_local(caller) + c->caller;
    char *b = c->callee_reg ? w->regs + frame_regs(callee) + c->callee + (size_t)lane * c->size
                            : local + frame_local(callee) + c->callee;
    if (c->caller & 1 && c->caller_reg) /* a constant */
        a = w->base[1] + (c->caller & ~1u) + (size_t)lane * c->size;
    memcpy(to_callee ? b : a, to_callee ? a : b, c->size);
}

static bool enter(struct warp *w, const struct insn *i, int lane, const struct func *f) {
    const struct call *call = i->info;
    const struct grid *g = w->grid;
    uint64_t regs = (uint64_t)frame_regs(w->frame) + call->caller->frame_size;
    uint64_t local = (uint64_t)frame_local(w->frame) + ((call->caller->local_size + 63) & ~63u);

    if (regs + f->frame_size > g->regs_bytes || local + f->local_size > g->local_bytes) {
        fault(w, i, lane, PTX_ERR_STACK, "the stack is used up");
        return false;
    }
    uint64_t frame = regs << 32 | local;
    struct frame_header *h = (struct frame_header *)(w->regs + regs);
    h->frame[lane] = w->frame;
    h->pc[lane] = w->pc;
    for (unsigned k = 0; k < call->in_count; k++)
        copy_value(w, lane, &call->in[k], w->frame, frame, true);
    w->lane_frame[lane] = frame;
    w->lane_pc[lane] = f->start;
    return true;
}

static enum step exec_call(struct warp *w, const struct insn *i, uint32_t mask) {
    const struct call *call = i->info;

    park(w, w->active & ~mask, w->pc + 1);
    for (uint32_t m = mask; m; m &= m - 1)
        if (!enter(w, i, __builtin_ctz(m), call->callee))
            return STEP_FAULT;
    return STEP_SELECT;
}

static const struct func *pointed_at(const struct warp *w, uint64_t pointer,
                                     const struct func *shape) {
    const struct ptx_module *m = w->grid->m;
    uint64_t index = (pointer - FUNC_ADDR(0)) >> 4;

    if (pointer & 15 || index >= m->func_count)
        return NULL;
    const struct func *f = m->funcs[index];
    return f->has_body && !f->is_entry && same_shape(f, shape) ? f : NULL;
}

static enum step exec_call_indirect(struct warp *w, const struct insn *i, uint32_t mask) {
    const struct call *call = i->info;
    const uint64_t *pointer = at(w, i->a);

    park(w, w->active & ~mask, w->pc + 1);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const struct func *f = pointed_at(w, pointer[l], call->shape);
        if (!f)
            return fault(w, i, l, PTX_ERR_INVALID_PC, "call of 0x%llx, which is no such function",
                         (unsigned long long)pointer[l]);
        if (!enter(w, i, l, f))
            return STEP_FAULT;
    }
    return STEP_SELECT;
}

enum step exec_ret(struct warp *w, const struct insn *i, uint32_t mask) {
    if (!frame_regs(w->frame))
        return exec_exit(w, i, mask);
    const struct frame_header *h = (const struct frame_header *)w->base[0];
    park(w, w->active & ~mask, w->pc + 1);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const struct call *call = w->code[h->pc[l]].info;
        for (unsigned k = 0; k < call->out_count; k++)
            copy_value(w, l, &call->out[k], h->frame[l], w->frame, false);
        w->lane_pc[l] = h->pc[l] + 1;
        w->lane_frame[l] = h->frame[l];
    }
    return STEP_SELECT;
}

static void build_ret(struct loader *ld, struct stmt *st) {
    take(st, "uni");
    if (need_ops(ld, 0))
        emit(ld, exec_ret);
}

/* --- building a call --- */

#define MAX_ARGS 64

struct call_text {
    struct operand results[MAX_ARGS], args[MAX_ARGS];
    unsigned result_count, arg_count;
    struct operand target, shape;
    bool has_shape;
};

static unsigned parse_list(struct loader *ld, struct operand *list) {
    unsigned n = 0;
    if (ld_punct(ld, ')'))
        return 0;
    do {
        if (n == MAX_ARGS) {
            ld_syntax(ld, "too many arguments");
            return 0;
        }
        parse_operand(ld, &list[n++]);
    } while (ld->status == PTX_OK && ld_punct(ld, ','));
    ld_expect(ld, ')');
    return n;
}

/* call (results), target, (arguments), shape; with all but the target optional */
static void parse_call_text(struct loader *ld, struct call_text *t) {
    if (ld_punct(ld, '(')) {
        t->result_count = parse_list(ld, t->results);
        ld_expect(ld, ',');
    }
    parse_operand(ld, &t->target);
    if (ld_punct(ld, ',') && ld_punct(ld, '(')) {
        t->arg_count = parse_list(ld, t->args);
        if (ld_punct(ld, ','))
            t->has_shape = parse_operand(ld, &t->shape);
    }
    ld_expect(ld, ';');
}

/* How one written argument and one declared parameter meet. */
static void build_copy(struct loader *ld, struct copy *c, const struct operand *o,
                       const struct formal *fm, bool result) {
    uint32_t ref;
    struct sym *sym = o->kind == OPD_NAME ? map_find(&ld->locals, o->s, o->len) : NULL;

    *c = (struct copy){.size = (uint32_t)fm->var.size, .callee_reg = fm->is_reg};
    c->callee = fm->is_reg ? fm->ref : (uint32_t)fm->var.offset;
    if (sym && sym->kind == SYM_VAR && sym->var->in_frame) {
        c->caller = (uint32_t)sym->var->offset;
        if (sym->var->size != fm->var.size)
            st_syntax(ld, "an argument has another size than the parameter");
        return;
    }
    if (fm->var.size != reg_size(fm->var.type)) {
        if (!(o->kind == OPD_NAME && find_reg(ld, o->s, o->len, &ref)) ||
            fm->var.size != type_size(fm->var.type))
            st_syntax(ld, "an argument does not fit the parameter");
        else
            st_refuse(ld, "8-bit arguments in registers");
        return;
    }
    c->caller_reg = true;
    c->caller = result ? dst(ld, o, fm->var.type) : src(ld, o, fm->var.type);
}

static bool build_copies(struct loader *ld, struct call *call, const struct call_text *t,
                         const struct func *shape) {
    if (t->arg_count != shape->param_count || t->result_count != shape->result_count) {
        st_syntax(ld, "wrong number of arguments");
        return false;
    }
    call->in_count = t->arg_count;
    call->out_count = t->result_count;
    call->in = ld_own(ld, call->in_count * sizeof(*call->in));
    call->out = ld_own(ld, call->out_count * sizeof(*call->out));
    if (!call->in || !call->out)
        return false;
    for (unsigned k = 0; k < t->arg_count; k++)
        build_copy(ld, &call->in[k], &t->args[k], &shape->params[k], false);
    for (unsigned k = 0; k < t->result_count; k++)
        build_copy(ld, &call->out[k], &t->results[k], &shape->results[k], true);
    return ld->status == PTX_OK;
}

static void build_indirect(struct loader *ld, struct call *call, const struct call_text *t) {
    struct sym *sym = t->has_shape && t->shape.kind == OPD_NAME
                          ? map_find(&ld->locals, t->shape.s, t->shape.len)
                          : NULL;
    if (!sym || sym->kind != SYM_PROTO) {
        st_syntax(ld, "an unknown function, or a pointer without a prototype");
        return;
    }
    uint32_t pointer = src(ld, &t->target, T_B64);
    call->shape = sym->func;
    if (!build_copies(ld, call, t, sym->func))
        return;
    ld->f->calls_indirect = true;
    struct insn *i = emit(ld, exec_call_indirect);
    i->a = pointer;
    i->info = call;
}

static void build_direct(struct loader *ld, struct call *call, const struct call_text *t,
                         struct func *callee) {
    struct func *f = ld->f;

    if (callee->is_entry) {
        st_refuse(ld, "a kernel as callee");
        return;
    }
    call->callee = callee;
    if (!build_copies(ld, call, t, callee))
        return;
    px_exec system = callee->has_body ? NULL : find_system_call(callee);
    struct insn *i = emit(ld, system ? system : exec_call);
    i->info = call;
    if (system)
        return;
    callee->call_line = ld->st->line;
    if (ld_grow(ld, &f->callees, &f->callee_cap, f->callee_count + 1, sizeof(*f->callees)))
        f->callees[f->callee_count++] = callee;
}

void parse_call(struct loader *ld, struct stmt *st) {
    struct call_text *t = ld_alloc(ld, sizeof(*t));
    struct call *call = ld_own(ld, sizeof(*call));

    take(st, "uni");
    if (!t || !call)
        return;
    parse_call_text(ld, t);
    call->caller = ld->f;
    struct sym *sym = NULL;
    uint32_t ref;
    if (t->target.kind == OPD_NAME && !find_reg(ld, t->target.s, t->target.len, &ref))
        sym = map_find(&ld->globals, t->target.s, t->target.len);
    if (ld->status != PTX_OK)
        return;
    if (sym && sym->kind == SYM_FUNC)
        build_direct(ld, call, t, sym->func);
    else
        build_indirect(ld, call, t);
}

const struct opcode ops_flow[] = {{"bra", build_bra},   {"brx", build_brx},    {"exit", build_exit},
                                  {"trap", build_trap}, {"brkpt", build_trap}, {"ret", build_ret},
                                  {"call", build_ret},  {NULL, NULL}};
