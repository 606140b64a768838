// SPDX-License-Identifier: Apache-2.0
/* libFuzzer: no bytes may make measuring, walking, unpacking or binding leave an image. */
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "cubin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void bind(const struct cuda_image *image) {
    struct cuda_managed *list;
    unsigned int count;
    uint64_t bytes;
    void *copy, *block;

    if (cuda_managed_list(image->data, image->size, &list, &count, &bytes) != CUDA_SUCCESS)
        return;
    free(list);
    if (bytes > 1 << 20)
        return;
    copy = malloc(image->size);
    block = malloc(bytes);
    if (copy && (block || !bytes)) {
        memcpy(copy, image->data, image->size);
        cuda_managed_bind(copy, image->size, block, bytes);
    }
    free(copy);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cuda_fatbin_entry entry;
    struct cuda_fatbin_iter iter;
    struct cuda_image image;

    if (cuda_image_measure(data, size, &image) != CUDA_SUCCESS)
        return 0;
    if (image.size > size)
        abort();
    if (image.kind == CUDA_IMAGE_CUBIN)
        bind(&image);
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
