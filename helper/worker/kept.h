/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of compiled code, as vcudad keeps it (share.h): sealed memory with the text, what compiled
 * it and for which architecture, and the code. Its reader compares all that comes before the code.
 */
#ifndef VCUDA_WORKER_KEPT_H
#define VCUDA_WORKER_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What code is of. */
struct kept_text {
    int32_t driver; /* version */
    uint32_t sm;    /* architecture: 90 for compute capability 9.0 */
    const char *text;
    size_t bytes;
};

/* The key to keep it under: two texts may have the same. */
uint64_t kept_key(const struct kept_text *of);
/* A sealed file with the code: a descriptor, the caller's, close-on-exec; -1: no memory. */
int kept_write(const struct kept_text *of, const char *code, size_t code_bytes);
/* The code in a file, if it is that text's: *code is the caller's to free. */
bool kept_read(int fd, const struct kept_text *of, char **code, size_t *code_bytes);

#endif
