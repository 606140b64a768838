/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target states about the code under test. */
#ifndef VCUDA_FUZZ_REQUIRE_H
#define VCUDA_FUZZ_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define require(what)                                                                              \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
