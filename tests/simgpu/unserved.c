// SPDX-License-Identifier: Apache-2.0
/*
 * What the interface has and this driver does not: each such call says so. A weak name that stands
 * back behind the call, where there is one.
 */
#include "list_procaddress.h"

int sim_unserved(void);

int sim_unserved(void) {
    return 801; /* CUDA_ERROR_NOT_SUPPORTED; the declarations of the calls are not wanted here */
}

#define TEXT(x) #x
#define UNSERVED(meaning, name, since, symbol)                                                     \
    ".weak " TEXT(symbol) "\n.type " TEXT(symbol) ", @function\n.set " TEXT(                       \
        symbol) ", sim_unserved\n"
__asm__(CUDA_LIST_PROCADDRESS(UNSERVED));
