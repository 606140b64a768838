// SPDX-License-Identifier: Apache-2.0
/* cuGetProcAddress: the same name means another function in another version. */
#include <string.h>

#include "cuda_calls.h"
#include "guest.h"
#include "list_procaddress.h"
#include "session.h"

/* Rows of the list whose function this library does not have come out as NULL. */
#define TEXT_OF(x) #x
#define DO_PRAGMA(x) _Pragma(TEXT_OF(x))
#define WEAK(which, name, since, symbol) DO_PRAGMA(weak symbol)
CUDA_LIST_PROCADDRESS(WEAK)

enum { LEGACY = 1, PER_THREAD = 2, ANY = 3 };

static const struct {
    const char *name;
    int which;
    int since;
    void *function;
} entries[] = {
#define ENTRY(which, name, since, symbol) {#name, which, since, (void *)symbol},
    CUDA_LIST_PROCADDRESS(ENTRY)
#undef ENTRY
};

/* The first row of a name; the list is sorted by them. Its number if there is none. */
static size_t first_row(const char *symbol) {
    size_t low = 0, high = sizeof(entries) / sizeof(entries[0]);

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(entries[middle].name, symbol) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void *look_up(const char *symbol, int version, int which,
                     CUdriverProcAddressQueryResult *status) {
    void *found = NULL;

    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (size_t i = first_row(symbol);
         i < sizeof(entries) / sizeof(entries[0]) && !strcmp(entries[i].name, symbol); i++) {
        if (!(entries[i].which & which))
            continue;
        if (entries[i].since > version) {
            if (*status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
                *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            break;
        }
        found = entries[i].function;
        *status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return found;
}

VCUDA_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                                          uint64_t flags,
                                          CUdriverProcAddressQueryResult *symbolStatus) {
    CUdriverProcAddressQueryResult status;
    int driver = CUDA_VERSION;

    if (!symbol || !pfn || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    cuDriverGetVersion(&driver);
    *pfn = NULL;
    if (cudaVersion > driver)
        return CUDA_ERROR_INVALID_VALUE;
    *pfn = look_up(symbol, cudaVersion,
                   flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? PER_THREAD : LEGACY,
                   &status);
    if (!*pfn)
        guest_log("cuGetProcAddress: no %s for version %d", symbol, cudaVersion);
    if (symbolStatus)
        *symbolStatus = status;
    else if (!*pfn)
        return CUDA_ERROR_NOT_FOUND;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
                                       uint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
