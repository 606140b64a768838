// SPDX-License-Identifier: Apache-2.0
/*
 * The entries of a fat binary. The layout is what nvcc 11 to 13 write; of the words whose meaning
 * is not known here none is needed.
 */
#include "image.h"

#include <string.h>

struct entry_header {
    uint16_t kind;
    uint16_t version;
    uint32_t header_size;
    uint64_t payload_size; /* with padding */
    uint32_t compressed_size;
    uint32_t options_offset;
    uint32_t code_version; /* of the PTX or ELF */
    uint32_t sm;
    uint32_t name_offset;
    uint32_t name_size;
    uint64_t flags;
    uint64_t reserved;
    uint64_t plain_size;
};

#define ENTRY_LZ4 0x2000u
#define ENTRY_ZSTD 0x8000u

CUresult cuda_fatbin_begin(const void *data, size_t size, struct cuda_fatbin_iter *iter) {
    struct cuda_image image;
    uint16_t header_size;
    CUresult result = cuda_image_measure(data, size, &image);

    if (result != CUDA_SUCCESS)
        return result;
    if (image.kind != CUDA_IMAGE_FATBIN)
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&header_size, (const uint8_t *)data + 6, sizeof(header_size));
    iter->next = (const uint8_t *)image.data + header_size;
    iter->end = (const uint8_t *)image.data + image.size;
    return CUDA_SUCCESS;
}

static enum cuda_compression compression(uint64_t flags) {
    if (flags & ENTRY_ZSTD)
        return CUDA_COMPRESSION_ZSTD;
    return flags & ENTRY_LZ4 ? CUDA_COMPRESSION_LZ4 : CUDA_COMPRESSION_NONE;
}

CUresult cuda_fatbin_next(struct cuda_fatbin_iter *iter, struct cuda_fatbin_entry *entry) {
    size_t left = (size_t)(iter->end - iter->next);
    struct entry_header header;

    if (left == 0)
        return CUDA_ERROR_NOT_FOUND;
    if (left < sizeof(header))
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&header, iter->next, sizeof(header));
    if (header.header_size < sizeof(header) || header.header_size > left ||
        header.payload_size > left - header.header_size)
        return CUDA_ERROR_INVALID_IMAGE;

    *entry = (struct cuda_fatbin_entry){
        .kind = header.kind,
        .sm = header.sm,
        .compression = compression(header.flags),
        .payload = iter->next + header.header_size,
        .payload_size = header.payload_size,
        .plain_size = header.payload_size,
    };
    if (entry->compression != CUDA_COMPRESSION_NONE) {
        if (header.compressed_size > header.payload_size || header.plain_size > CUDA_IMAGE_MAX)
            return CUDA_ERROR_INVALID_IMAGE;
        entry->payload_size = header.compressed_size;
        entry->plain_size = header.plain_size;
    }
    iter->next += header.header_size + header.payload_size;
    return CUDA_SUCCESS;
}
