// SPDX-License-Identifier: Apache-2.0
/* libFuzzer: no bytes may make measuring, walking or unpacking an image leave its bounds. */
#include <stdlib.h>

#include "image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cuda_fatbin_entry entry;
    struct cuda_fatbin_iter iter;
    struct cuda_image image;

    if (cuda_image_measure(data, size, &image) != CUDA_SUCCESS)
        return 0;
    if (image.size > size)
        abort();
    if (cuda_fatbin_begin(data, size, &iter) != CUDA_SUCCESS)
        return 0;
    while (cuda_fatbin_next(&iter, &entry) == CUDA_SUCCESS) {
        size_t plain_size;
        char *plain;

        /* A huge size is lawful, and is refused by memory limits elsewhere: not worth the time. */
        if (entry.plain_size < 1 << 20 &&
            cuda_fatbin_unpack(&entry, &plain, &plain_size) == CUDA_SUCCESS)
            free(plain);
    }
    return 0;
}
