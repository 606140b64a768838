// SPDX-License-Identifier: Apache-2.0
#include "params.h"

#include <stdlib.h>

#include "guest.h"

CUresult params_take(struct layout *l, const struct vcuda_function_info *info, uint32_t len) {
    if (len < sizeof(*info) || info->params > VCUDA_PARAMS_MAX ||
        len < sizeof(*info) + info->params * sizeof(info->param[0]))
        return VCUDA_ERROR_LOST;
    l->param = calloc(info->params + 1, sizeof(*l->param));
    if (!l->param)
        return CUDA_ERROR_OUT_OF_MEMORY;
    l->params = info->params;
    for (uint32_t i = 0; i < l->params; i++) {
        uint64_t end = (uint64_t)info->param[i].offset + info->param[i].size;

        /* One after the other: what lies between them is all that has to be cleared. */
        if (end > VCUDA_PARAM_BYTES_MAX || info->param[i].offset < l->bytes)
            return VCUDA_ERROR_LOST;
        *(i ? &l->param[i - 1].gap : &l->lead) = info->param[i].offset - l->bytes;
        l->param[i].offset = info->param[i].offset;
        l->param[i].size = info->param[i].size;
        l->bytes = (uint32_t)end;
    }
    if (l->params)
        l->param[l->params - 1].gap = VCUDA_PAD8(l->bytes) - l->bytes;
    return CUDA_SUCCESS;
}

CUresult params_answer(const struct layout *l, size_t index, size_t *offset, size_t *size) {
    if (index >= l->params)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = l->param[index].offset;
    if (size)
        *size = l->param[index].size;
    return CUDA_SUCCESS;
}

CUresult params_extra(const struct layout *l, void **extra, uint8_t *to) {
    const void *params = NULL;
    size_t size = 0;

    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            params = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (size && !params)
        return CUDA_ERROR_INVALID_VALUE;
    if (size > l->bytes)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (size)
        memcpy(to, params, size);
    memset(to + size, 0, VCUDA_PAD8(l->bytes) - size);
    return CUDA_SUCCESS;
}

void params_clear(uint8_t *to, uint32_t size) {
    memset(to, 0, size);
}
