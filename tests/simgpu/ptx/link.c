// SPDX-License-Identifier: Apache-2.0
/* The end of a load: places for variables, values of addresses, who calls whom. */
#include "load.h"

#include <stdlib.h>
#include <string.h>

#include "flow.h"

#define MAX_SHARED (48u << 10)
#define SHARED_ALIGN 128

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t align_up(uint64_t v, uint64_t align) {
    return (v + align - 1) & ~(align - 1);
}

static uint64_t alloc_block(struct loader *ld, uint64_t size) {
    const struct ptx_memory *mem = &ld->m->mem;
    uint64_t base = size ? mem->alloc(mem->opaque, size, 4096) : 0;
    if (size && !base)
        ld_error(ld, 0, PTX_ERR_NOMEM, "no memory for the module's variables");
    return base;
}

static uint64_t variable_base(const struct loader *ld, const struct var *v) {
    if (v->address)
        return v->address;
    switch (v->space) {
    case SP_GLOBAL:
        return ld->m->global_base + v->offset;
    case SP_CONST:
        return ld->m->const_base + v->offset;
    default:
        return (v->owner ? v->owner->shared_base : 0) + v->offset;
    }
}

/* --- calls --- */

struct walk {
    struct func *f;
    size_t next;
};

static bool check_callee(struct loader *ld, const struct func *callee, unsigned line) {
    if (callee->has_body)
        return true;
    ld_error(ld, line, PTX_ERR_UNSUPPORTED, "function %.80s is defined in no module", callee->name);
    return false;
}

/* All callees of f are done: what f needs follows from them. */
static void sum_up(struct loader *ld, struct func *f) {
    uint64_t frames = 0, local = 0;

    for (size_t i = 0; i < f->callee_count; i++) {
        const struct func *c = f->callees[i];
        if (c->mark != 2 || c->recursive)
            f->recursive = true;
        frames = later(frames, c->max_frames);
        local = later(local, c->max_local);
        f->reg_units = c->reg_units > f->reg_units ? c->reg_units : f->reg_units;
        if (!ld_grow(ld, &f->shared_used, &f->shared_words_cap, c->shared_words, 8))
            return;
        for (; f->shared_words < c->shared_words; f->shared_words++)
            f->shared_used[f->shared_words] = 0;
        for (size_t w = 0; w < c->shared_words; w++)
            f->shared_used[w] |= c->shared_used[w];
    }
    if (f->calls_indirect)
        f->recursive = true;
    f->max_frames = f->frame_size + frames;
    f->max_local = align_up(f->local_size, 64) + local;
    f->mark = 2;
}

/* Depth first, without recursion of our own: chains of calls may be long. */
static void walk_calls(struct loader *ld, struct func *root) {
    struct walk *stack = NULL;
    size_t depth = 0, cap = 0;

    if (root->mark || !ld_grow(ld, &stack, &cap, 1, sizeof(*stack)))
        return;
    stack[depth++] = (struct walk){.f = root};
    root->mark = 1;
    while (depth && ld->status == PTX_OK) {
        struct walk *top = &stack[depth - 1];
        if (top->next == top->f->callee_count) {
            sum_up(ld, top->f);
            depth--;
            continue;
        }
        struct func *c = top->f->callees[top->next++];
        if (!check_callee(ld, c, c->call_line) || c->mark)
            continue;
        c->mark = 1;
        if (!ld_grow(ld, &stack, &cap, depth + 1, sizeof(*stack)))
            break;
        stack[depth++] = (struct walk){.f = c};
    }
    free(stack);
}

static void place_shared(struct loader *ld, struct func *f) {
    uint64_t end = 0;

    if (f->recursive) { /* whatever it may reach */
        end = ld->m->shared_size;
    } else {
        for (size_t i = 0; i < ld->shared_count && i / 64 < f->shared_words; i++)
            if (f->shared_used[i / 64] >> (i % 64) & 1)
                end = later(end, ld->shared_vars[i]->offset + ld->shared_vars[i]->size);
    }
    f->shared_base = f->own_shared ? align_up(end, SHARED_ALIGN) : end;
    f->static_shared = f->shared_base + f->own_shared;
    if (f->static_shared > MAX_SHARED)
        ld_error(ld, 0, PTX_ERR_SYNTAX, "kernel %.80s uses too much shared memory: %llu bytes",
                 f->name, (unsigned long long)f->static_shared);
}

/* --- values --- */

static void settle_constants(struct loader *ld) {
    for (size_t i = 0; i < ld->fixup_count; i++) {
        const struct fixup *fx = &ld->fixups[i];
        uint64_t value = variable_base(ld, fx->var) + fx->addend;
        for (unsigned l = 0; l < WARP; l++)
            memcpy(ld->m->pool + fx->pool_at + (size_t)l * fx->width, &value, fx->width);
    }
}

static char *variable_bytes(const struct loader *ld, const struct var *v) {
    const struct ptx_memory *mem = &ld->m->mem;
    return mem->resolve(mem->opaque, variable_base(ld, v), v->size);
}

static void settle_addresses(struct loader *ld) {
    for (size_t i = 0; i < ld->reloc_count && ld->status == PTX_OK; i++) {
        const struct reloc *r = &ld->relocs[i];
        if (r->at->address) { /* whoever has it would have to know */
            ld_error(ld, 0, PTX_ERR_UNSUPPORTED, "a managed variable begins with an address");
            return;
        }
        char *bytes = variable_bytes(ld, r->at);
        if (!bytes || (r->var && r->var->is_extern)) {
            ld_error(ld, 0, PTX_ERR_UNSUPPORTED, "an initial value names what is not defined");
            return;
        }
        uint64_t value = r->func ? FUNC_ADDR(r->func->index) : variable_base(ld, r->var);
        value = (value + r->addend) & r->mask;
        if (r->mask && ~r->mask)
            value >>= __builtin_ctzll(r->mask);
        memcpy(bytes + r->offset, &value, r->width);
    }
}

/* Where a variable lies apart: false if what it begins with is there already. */
static bool find_place(struct loader *ld, struct var *v) {
    const struct ptx_memory *mem = &ld->m->mem;
    bool fresh = true;

    if (!v->managed || !mem->managed)
        return true;
    v->address = mem->managed(mem->opaque, v->name, v->size, v->align, &fresh);
    if (!v->address)
        ld_error(ld, 0, PTX_ERR_NOMEM, "no memory for the module's managed variables");
    return fresh && v->address;
}

static void fill_variables(struct loader *ld) {
    struct ptx_module *m = ld->m;

    m->global_base = alloc_block(ld, m->global_size);
    m->const_base = alloc_block(ld, m->const_size);
    for (size_t i = 0; i < m->var_count && ld->status == PTX_OK; i++) {
        struct var *v = m->vars[i];
        bool fill = find_place(ld, v) && v->init_len;
        char *bytes = fill ? variable_bytes(ld, v) : NULL;
        if (bytes)
            memcpy(bytes, v->init, v->init_len);
        else if (fill)
            ld_error(ld, 0, PTX_ERR_NOMEM, "the module's variables cannot be written");
    }
    settle_addresses(ld);
}

void link_module(struct loader *ld) {
    struct ptx_module *m = ld->m;
    size_t entries = 0;

    for (size_t i = 0; i < m->func_count && ld->status == PTX_OK; i++)
        if (m->funcs[i]->has_body)
            walk_calls(ld, m->funcs[i]);
    for (size_t i = 0; i < m->func_count; i++)
        if (m->funcs[i]->is_entry && m->funcs[i]->has_body) {
            place_shared(ld, m->funcs[i]);
            entries++;
        }
    m->entries = calloc(entries + 1, sizeof(*m->entries));
    if (!m->entries)
        ld_error(ld, 0, PTX_ERR_NOMEM, "out of memory");
    if (ld->status != PTX_OK)
        return;
    for (size_t i = 0; i < m->func_count; i++)
        if (m->funcs[i]->is_entry && m->funcs[i]->has_body)
            m->entries[m->entry_count++].f = m->funcs[i];
    fill_variables(ld);
    if (ld->status == PTX_OK)
        settle_constants(ld);
}
