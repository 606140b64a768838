// SPDX-License-Identifier: Apache-2.0
/*
 * Compares our declarations with NVIDIA's header, at compile time. It includes that header in place
 * of cuda_types.h, then our lists and prototypes on top of it: a number that differs fails an
 * assertion, a prototype that differs is a conflicting declaration.
 */
#define __CUDA_API_VERSION_INTERNAL /* declares every version of every call */
#include <cuda.h>
#undef __CUDA_API_VERSION_INTERNAL

#include "list_device_attributes.h"
#include "list_errors.h"

#define SAME_ERROR(name, value, message) _Static_assert(name == (value), #name);
CUDA_LIST_ERRORS(SAME_ERROR)

#define SAME_ATTRIBUTE(name, value) _Static_assert(CU_DEVICE_ATTRIBUTE_##name == (value), #name);
CUDA_LIST_DEVICE_ATTRIBUTES(SAME_ATTRIBUTE)
CUDA_LIST_DEVICE_ATTRIBUTE_ALIASES(SAME_ATTRIBUTE)

#define VCUDA_CUDA_TYPES_H /* NVIDIA's types stand in for ours */
#include "cuda_calls.h"

int main(void) {
    return 0;
}
