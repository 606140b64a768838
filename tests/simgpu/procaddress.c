// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cuda_abi.h"
#include "list_procaddress.h"
#include "sim.h"

enum meaning { ANY, LEGACY, PER_THREAD };

struct row {
    enum meaning meaning;
    const char *name;
    int since;     /* first version of the interface that gets this symbol */
    void *address; /* of the call, or of one that says that it is not supported */
};

static const struct row rows[] = {
#define ROW(meaning, name, since, symbol) {meaning, #name, since, (void *)symbol},
    CUDA_LIST_PROCADDRESS(ROW)
#undef ROW
};

/* The last row that applies; *known tells whether the name exists in any version. */
static const struct row *look_up(const char *symbol, int version, enum meaning meaning,
                                 bool *known) {
    const struct row *found = NULL;

    *known = false;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((rows[i].meaning != ANY && rows[i].meaning != meaning) ||
            strcmp(rows[i].name, symbol) != 0)
            continue;
        *known = true;
        if (rows[i].since <= version)
            found = &rows[i];
    }
    return found;
}

static CUresult get(const char *symbol, void **pfn, int version, uint64_t flags,
                    CUdriverProcAddressQueryResult *status) {
    const uint64_t both =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    const struct row *row;
    bool known;

    if (!symbol || !pfn || version > CUDA_VERSION || (flags & ~both) || flags == both)
        return CUDA_ERROR_INVALID_VALUE;
    row = look_up(symbol, version,
                  flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? PER_THREAD : LEGACY,
                  &known);
    *pfn = row ? row->address : NULL;
    if (*pfn)
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    else
        *status = known && !row ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus) {
    CUdriverProcAddressQueryResult ignored;

    return get(symbol, pfn, cudaVersion, flags, symbolStatus ? symbolStatus : &ignored);
}

/* The first version of the call has no status to return: what is not found is an error. */
CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, uint64_t flags) {
    CUdriverProcAddressQueryResult status;
    CUresult result = get(symbol, pfn, cudaVersion, flags, &status);

    return result == CUDA_SUCCESS && status != CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_ERROR_NOT_FOUND
                                                                           : result;
}
