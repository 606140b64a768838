// SPDX-License-Identifier: Apache-2.0
/*
 * Registers by name, and an estimate of how many a real compiler would need: PTX has a new one for
 * every value, so what counts is how many are between their first and last use at one time.
 */
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define MAX_USES 65536 /* beyond, the estimate is at its limit anyway */

static void note_use(struct loader *ld, const struct reg *r, uint32_t ref) {
    size_t index = ref / 64;
    uint32_t now = (uint32_t)ld->m->code_count;

    if (r->type == T_PRED || index >= MAX_USES ||
        !ld_grow(ld, &ld->uses, &ld->use_cap, index + 1, sizeof(*ld->uses)))
        return;
    if (ld->use_count <= index) {
        memset(ld->uses + ld->use_count, 0, (index + 1 - ld->use_count) * sizeof(*ld->uses));
        ld->use_count = index + 1;
    }
    struct use *u = &ld->uses[index];
    if (!u->units)
        *u = (struct use){.first = now, .units = reg_size(r->type) == 8 ? 2 : 1};
    u->last = now;
}

unsigned count_registers(struct loader *ld) {
    size_t length = ld->m->code_count - ld->f->start + 2;
    int64_t *change = calloc(length, sizeof(*change));
    int64_t now = 0, most = 0;

    if (!change)
        return 255;
    for (size_t k = 0; k < ld->use_count; k++) {
        const struct use *u = &ld->uses[k];
        if (!u->units)
            continue;
        change[u->first - ld->f->start] += u->units;
        change[u->last - ld->f->start + 1] -= u->units;
    }
    for (size_t k = 0; k < length; k++) {
        now += change[k];
        most = now > most ? now : most;
    }
    free(change);
    return most > 255 ? 255 : (unsigned)most;
}

/* The member of a family: %r<9> declares %r0 to %r8. */
static struct reg *find_family(struct loader *ld, const char *s, size_t len, uint32_t *ref) {
    size_t digits = 0;
    uint64_t number = 0, scale = 1;

    while (digits < len - 1 && digits < 9 && s[len - 1 - digits] >= '0' &&
           s[len - 1 - digits] <= '9') {
        number += (uint64_t)(s[len - 1 - digits] - '0') * scale;
        scale *= 10;
        digits++;
        if (s[len - digits] == '0' && digits > 1)
            continue; /* %r01 is not %r1 */
        struct sym *sym = map_find(&ld->locals, s, len - digits);
        if (sym && sym->kind == SYM_REG && number < sym->reg.count) {
            unsigned each = sym->reg.type == T_PRED ? 4 : reg_size(sym->reg.type) * WARP;
            *ref = sym->reg.ref + (uint32_t)number * each;
            return &sym->reg;
        }
    }
    return NULL;
}

struct reg *find_reg(struct loader *ld, const char *s, size_t len, uint32_t *ref) {
    struct sym *sym = len ? map_find(&ld->locals, s, len) : NULL;
    struct reg *r = NULL;

    if (sym && sym->kind == SYM_REG && !sym->reg.count) {
        *ref = sym->reg.ref;
        r = &sym->reg;
    } else if (len) {
        r = find_family(ld, s, len, ref);
    }
    if (r)
        note_use(ld, r, *ref);
    return r;
}
