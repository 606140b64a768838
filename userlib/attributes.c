// SPDX-License-Identifier: Apache-2.0
#include "attributes.h"

void attributes_told(struct attributes *a, uint32_t before, const int32_t *values) {
    if (a->changes != before)
        return;
    for (int i = 0; i < VCUDA_FUNCTION_ATTRIBUTES; i++)
        vcuda_store_once(&a->value[i], values[i]);
    vcuda_store_release(&a->known, 1);
}

static void changed(struct attributes *a) {
    vcuda_store_release(&a->known, 0);
    vcuda_store_release(&a->changes, a->changes + 1);
}

bool attributes_set(struct attributes *a, uint32_t before, CUfunction_attribute attribute,
                    int value) {
    bool last = a->changes == before;

    changed(a);
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        vcuda_store_once(&a->shared_set, last ? (uint32_t)value + 1 : 0);
    return last;
}

void attributes_forget(struct attributes *a) {
    changed(a);
    vcuda_store_once(&a->shared_set, 0);
}
