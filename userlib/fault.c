// SPDX-License-Identifier: Apache-2.0
#include "barrier.h"
#include "guest.h"

CUresult guest_fault(const struct thread *t) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, t->context);

    return c ? (CUresult)vcuda_load_once(&c->sticky) : CUDA_SUCCESS;
}
