// SPDX-License-Identifier: Apache-2.0
/* A dynamically linked program of the developer's machine: must run in both images. */
#include <stdio.h>

int main(void) {
    return puts("hello, this is C") < 0;
}
