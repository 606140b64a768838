// SPDX-License-Identifier: Apache-2.0
/* Loading and unloading a module; errors and memory of the loader. */
#include "load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ld_error(struct loader *ld, unsigned line, enum ptx_status status, const char *fmt, ...) {
    if (ld->status != PTX_OK)
        return;
    ld->status = status;
    if (!ld->log || !ld->log_size)
        return;
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    for (char *c = what; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    snprintf(ld->log, ld->log_size, "line %u: %s", line, what);
}

/* The statement's opcode with all its modifiers. */
static const char *mnemonic(const struct stmt *st, char *buf, size_t size) {
    size_t n =
        (size_t)snprintf(buf, size, "%.*s", (int)(st->name_len < 40 ? st->name_len : 40), st->name);
    for (unsigned i = 0; i < st->mod_count && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, ".%.*s",
                              (int)(st->mods[i].len < 40 ? st->mods[i].len : 40), st->mods[i].s);
    return buf;
}

void st_syntax(struct loader *ld, const char *what) {
    char buf[128];
    ld_error(ld, ld->st->line, PTX_ERR_SYNTAX, "%s: %s", mnemonic(ld->st, buf, sizeof(buf)), what);
}

void st_refuse(struct loader *ld, const char *what) {
    char buf[128];
    ld_error(ld, ld->st->line, PTX_ERR_UNSUPPORTED, "%s is not executed here%s%s",
             mnemonic(ld->st, buf, sizeof(buf)), *what ? ": " : "", what);
}

static void *keep(struct loader *ld, void ***list, size_t *count, size_t *cap, size_t size) {
    if (!ld_grow(ld, list, cap, *count + 1, sizeof(void *)))
        return NULL;
    void *p = calloc(1, size ? size : 1);
    if (!p)
        ld_error(ld, ld->tok.line, PTX_ERR_NOMEM, "out of memory");
    else
        (*list)[(*count)++] = p;
    return p;
}

void *ld_alloc(struct loader *ld, size_t size) {
    return keep(ld, &ld->arena, &ld->arena_count, &ld->arena_cap, size);
}

void *ld_own(struct loader *ld, size_t size) {
    struct ptx_module *m = ld->m;
    return keep(ld, &m->owned, &m->owned_count, &m->owned_cap, size);
}

bool ld_grow(struct loader *ld, void *array, size_t *cap, size_t need, size_t elem) {
    void **p = array;
    if (need <= *cap)
        return true;
    size_t want = *cap ? *cap * 2 : 16;
    if (want < need)
        want = need;
    void *bigger = want > SIZE_MAX / elem / 2 ? NULL : realloc(*p, want * elem);
    if (!bigger) {
        ld_error(ld, ld->tok.line, PTX_ERR_NOMEM, "out of memory");
        return false;
    }
    *p = bigger;
    *cap = want;
    return true;
}

static void loader_free(struct loader *ld) {
    for (size_t i = 0; i < ld->m->var_count; i++) {
        free(ld->m->vars[i]->init);
        ld->m->vars[i]->init = NULL;
    }
    for (size_t i = 0; i < ld->arena_count; i++)
        free(ld->arena[i]);
    free(ld->arena);
    free(ld->pending);
    free(ld->fixups);
    free(ld->relocs);
    free(ld->pool_entries);
    free(ld->shared_vars);
    free(ld->uses);
    map_free(&ld->globals);
    map_free(&ld->locals);
    free(ld);
}

void ptx_module_unload(struct ptx_module *m) {
    if (!m)
        return;
    if (m->global_base)
        m->mem.free(m->mem.opaque, m->global_base);
    if (m->const_base)
        m->mem.free(m->mem.opaque, m->const_base);
    for (size_t i = 0; i < m->owned_count; i++)
        free(m->owned[i]);
    for (size_t i = 0; i < m->func_count; i++) {
        free(m->funcs[i]->callees);
        free(m->funcs[i]->shared_used);
        free(m->funcs[i]);
    }
    free(m->owned);
    free(m->funcs);
    free(m->vars);
    free(m->entries);
    free(m->code);
    free(m->pool);
    free(m);
}

enum ptx_status ptx_module_load(const char *text, size_t len, const struct ptx_memory *mem,
                                struct ptx_module **out, char *log, size_t log_size) {
    *out = NULL;
    if (log && log_size)
        log[0] = '\0';
    struct loader *ld = calloc(1, sizeof(*ld));
    struct ptx_module *m = calloc(1, sizeof(*m));
    if (!ld || !m) {
        free(ld);
        free(m);
        return PTX_ERR_NOMEM;
    }
    m->mem = *mem;
    ld->m = m;
    ld->log = log;
    ld->log_size = log_size;
    ld->lx = (struct lexer){.p = text, .end = text + len, .line = 1};
    parse_module(ld);
    if (ld->status == PTX_OK)
        link_module(ld);
    enum ptx_status status = ld->status;
    loader_free(ld);
    if (status != PTX_OK)
        ptx_module_unload(m);
    else
        *out = m;
    return status;
}

size_t ptx_module_function_count(const struct ptx_module *m) {
    return m->entry_count;
}

struct ptx_func *ptx_module_function_at(struct ptx_module *m, size_t index) {
    return index < m->entry_count ? &m->entries[index] : NULL;
}

struct ptx_func *ptx_module_function(struct ptx_module *m, const char *name) {
    for (size_t i = 0; i < m->entry_count; i++)
        if (!strcmp(m->entries[i].f->name, name))
            return &m->entries[i];
    return NULL;
}

const char *ptx_func_name(const struct ptx_func *func) {
    return func->f->name;
}

bool ptx_module_global(struct ptx_module *m, const char *name, uint64_t *addr, size_t *size) {
    for (size_t i = 0; i < m->var_count; i++) {
        const struct var *v = m->vars[i];
        bool is_const = v->space == SP_CONST;
        if (v->owner || (v->space != SP_GLOBAL && !is_const) || v->texref || v->surfref ||
            strcmp(v->name, name))
            continue;
        *addr = v->address ? v->address : (is_const ? m->const_base : m->global_base) + v->offset;
        *size = v->size;
        return true;
    }
    return false;
}

uint64_t ptx_module_reference(const struct ptx_module *m, const char *name, bool surface) {
    for (size_t i = 0; i < m->var_count; i++)
        if ((surface ? m->vars[i]->surfref : m->vars[i]->texref) && !strcmp(m->vars[i]->name, name))
            return m->global_base + m->vars[i]->offset;
    return 0;
}

bool ptx_module_managed(const struct ptx_module *m, const char *name) {
    for (size_t i = 0; i < m->var_count; i++)
        if (m->vars[i]->managed && !strcmp(m->vars[i]->name, name))
            return true;
    return false;
}

void ptx_func_info(const struct ptx_func *func, struct ptx_func_info *info) {
    const struct func *f = func->f;
    unsigned fits = 65536 / f->max_threads, most = f->max_threads < 1024 && fits < 255 ? fits : 255;
    unsigned regs = f->reg_units + 4; /* addresses, the stack, what the hardware reserves */

    *info = (struct ptx_func_info){
        .param_bytes = f->param_bytes,
        .param_count = f->param_count,
        .static_shared = f->static_shared,
        .local_bytes = f->max_local,
        .const_bytes = f->module->const_size,
        .num_regs = (int)(regs < most ? regs : most),
        .max_threads_per_block = (int)f->max_threads,
        .reqntid = {(int)f->reqntid[0], (int)f->reqntid[1], (int)f->reqntid[2]},
        .cluster = {(int)f->cluster[0], (int)f->cluster[1], (int)f->cluster[2]},
        .explicit_cluster = f->explicit_cluster,
        .ptx_version = f->module->version,
        .binary_version = f->module->target,
    };
}

bool ptx_func_param(const struct ptx_func *func, unsigned index, size_t *offset, size_t *size) {
    if (index >= func->f->param_count)
        return false;
    *offset = func->f->params[index].var.offset;
    *size = func->f->params[index].var.size;
    return true;
}

const char *ptx_status_name(enum ptx_status status) {
    static const char *const names[] = {
        [PTX_OK] = "ok",
        [PTX_ERR_SYNTAX] = "invalid PTX",
        [PTX_ERR_UNSUPPORTED] = "PTX that is not executed here",
        [PTX_ERR_VERSION] = "unsupported PTX version or target",
        [PTX_ERR_NOMEM] = "out of memory",
        [PTX_ERR_INVALID_VALUE] = "invalid value",
        [PTX_ERR_ILLEGAL_ADDRESS] = "illegal address",
        [PTX_ERR_LAUNCH_TIMEOUT] = "launch ended from outside",
        [PTX_ERR_ASSERT] = "assertion failed",
        [PTX_ERR_STACK] = "stack overflow",
        [PTX_ERR_ILLEGAL_INSTRUCTION] = "illegal instruction",
        [PTX_ERR_MISALIGNED] = "misaligned address",
        [PTX_ERR_INVALID_PC] = "invalid program counter",
        [PTX_ERR_TRAP] = "trap",
    };
    return (unsigned)status < sizeof(names) / sizeof(*names) ? names[status] : "unknown";
}
