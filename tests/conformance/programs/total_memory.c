// SPDX-License-Identifier: Apache-2.0
/* needs: gpu: more memory than 32 bits can say */
/* What the call of old says of a device's memory. */
#include <dlfcn.h>

#include "common.h"

int main(void) {
    CUresult (*total)(unsigned int *, CUdevice) =
        (CUresult(*)(unsigned int *, CUdevice))dlsym(RTLD_DEFAULT, "cuDeviceTotalMem");
    unsigned int bytes = 5;
    size_t all;

    start();
    CK(cuDeviceTotalMem(&all, 0));
    CK(total(&bytes, 0));
    printf("all of it: %d, its lower half: %d, as much as fits: %d\n", bytes == all,
           bytes == (unsigned int)all, bytes == 0xffffffffu);
    return 0;
}
