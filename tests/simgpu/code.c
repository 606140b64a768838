// SPDX-License-Identifier: Apache-2.0
/* What modules and libraries are loaded from: a text, and where its managed variables lie. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

bool sim_code_place(struct sim_code *code, uint64_t address) {
    uint64_t *more = realloc(code->address, (code->count + 1) * sizeof(*more));
    bool *ours;

    if (!more)
        return false;
    code->address = more;
    ours = realloc(code->ours, (code->count + 1) * sizeof(*ours));
    if (!ours)
        return false;
    code->ours = ours;
    code->address[code->count] = address;
    code->ours[code->count++] = false;
    return true;
}

uint64_t sim_code_managed(struct sim_code *code, const struct sim_space *space, size_t size,
                          bool *fresh) {
    struct sim_space anywhere = *space;
    size_t i = code->next++;

    anywhere.owner = 0; /* it ends with the code, not with a context */
    if (i == code->count && !sim_code_place(code, 0))
        return 0;
    *fresh = !code->address[i];
    if (*fresh && sim_memory_alloc_host(&anywhere, SIM_MEMORY_MANAGED, size, 0,
                                        &code->address[i]) == CUDA_SUCCESS)
        code->ours[i] = true;
    return code->address[i];
}

void sim_code_free(struct sim_code *code) {
    struct sim_block block;

    for (size_t i = 0; i < code->count; i++)
        if (code->ours[i] && sim_memory_find(code->address[i], &block))
            sim_memory_free(&block);
    free(code->address);
    free(code->ours);
    free(code->text);
    *code = (struct sim_code){0};
}
