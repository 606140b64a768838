// SPDX-License-Identifier: Apache-2.0
/* The bytes of a fat binary's entry: apart, since it needs the unpackers' libraries. */
#include "image.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Unpacks into exactly plain_size bytes at `out`; false if the stored bytes give anything else. */
static bool unpack(const struct cuda_fatbin_entry *entry, char *out) {
    const char *payload = (const char *)entry->payload;

    switch (entry->compression) {
    case CUDA_COMPRESSION_NONE:
        memcpy(out, payload, entry->plain_size);
        return true;
    case CUDA_COMPRESSION_LZ4:
        return entry->plain_size <= LZ4_MAX_INPUT_SIZE &&
               LZ4_decompress_safe(payload, out, (int)entry->payload_size,
                                   (int)entry->plain_size) == (int)entry->plain_size;
    case CUDA_COMPRESSION_ZSTD:
        return ZSTD_decompress(out, entry->plain_size, payload, entry->payload_size) ==
               entry->plain_size;
    }
    return false;
}

CUresult cuda_fatbin_unpack(const struct cuda_fatbin_entry *entry, char **out, size_t *size) {
    char *plain = malloc(entry->plain_size + 1);

    if (!plain)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!unpack(entry, plain)) {
        free(plain);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    plain[entry->plain_size] = '\0';
    *out = plain;
    *size = entry->plain_size;
    return CUDA_SUCCESS;
}
