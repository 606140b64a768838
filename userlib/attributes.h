/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a function's attributes, or of a kernel's on a device. They change only when one
 * is set; but a thread may ask for them, or set one, while another sets one. So changes are
 * counted: what a call learnt is kept only if there was none since it began. All that writes is
 * done under code_lock().
 */
#ifndef VCUDA_USERLIB_ATTRIBUTES_H
#define VCUDA_USERLIB_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

#include "barrier.h"
#include "cuda_types.h"
#include "info.h"

struct attributes {
    uint32_t changes;
    uint32_t known;      /* 1: the values are */
    uint32_t shared_set; /* dynamic shared memory that was allowed last, and 1; 0: unknown */
    int32_t value[VCUDA_FUNCTION_ATTRIBUTES]; /* VCUDA_ATTRIBUTE_NONE: the driver had no answer */
};

/* Before a call that asks for them, or sets one. */
static inline uint32_t attributes_before(const struct attributes *a) {
    return vcuda_load_acquire(&a->changes);
}

/* A value, if they are known. */
static inline bool attributes_get(const struct attributes *a, CUfunction_attribute attribute,
                                  int32_t *value) {
    bool known = vcuda_load_acquire(&a->known);

    if (known)
        *value = vcuda_load_once(&a->value[attribute]);
    return known;
}

/*
 * Whether an attribute has the value already that a program sets: libraries set the same before
 * each of their launches.
 */
static inline bool attributes_has(const struct attributes *a, CUfunction_attribute attribute,
                                  int value) {
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 &&
           vcuda_load_once(&a->shared_set) == (uint32_t)value + 1;
}

/* The worker told all values. */
void attributes_told(struct attributes *a, uint32_t before, const int32_t *values);

/* One was set. False: something else changed meanwhile, and which came last is not known. */
bool attributes_set(struct attributes *a, uint32_t before, CUfunction_attribute attribute,
                    int value);

/* Some were set otherwise. */
void attributes_forget(struct attributes *a);

#endif
