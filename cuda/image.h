/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module images, as programs hand them to cuModuleLoadData and cuLibraryLoadData: without a length.
 *
 * An image is measured by its own headers, and only bytes that those promise are read. The same
 * code checks images that came from a guest, so nothing in an image is trusted: every sum is
 * checked against the limit before it is used.
 */
#ifndef VCUDA_CUDA_IMAGE_H
#define VCUDA_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

/* Nothing larger is taken for an image; the largest seen is a library's fat binary of 64 MiB. */
#define CUDA_IMAGE_MAX ((size_t)1 << 31)

/* As limit: the image lies in this very process and ends where its headers say. */
#define CUDA_IMAGE_UNBOUNDED SIZE_MAX

enum cuda_image_kind {
    CUDA_IMAGE_PTX,    /* text, ended by a NUL */
    CUDA_IMAGE_CUBIN,  /* ELF64 for EM_CUDA */
    CUDA_IMAGE_FATBIN, /* header 0xba55ed50 and entries */
};

struct cuda_image {
    enum cuda_image_kind kind;
    const void *data; /* the image itself; not the wrapper that pointed to it */
    size_t size;      /* bytes, for PTX with its NUL */
};

/*
 * Finds kind and size of the image at `image`, of which at most `limit` bytes may be read. A fat
 * binary's wrapper (0x466243b1) is followed only with CUDA_IMAGE_UNBOUNDED: a wrapper holds a
 * pointer, which means nothing when it comes from elsewhere.
 * CUDA_ERROR_INVALID_VALUE: no image. CUDA_ERROR_INVALID_IMAGE: none of these kinds, or damaged.
 */
CUresult cuda_image_measure(const void *image, size_t limit, struct cuda_image *out);

/* The same for what is taken for PTX whatever it says; not for what begins as another image. */
CUresult cuda_image_measure_text(const void *image, size_t limit, struct cuda_image *out);

enum cuda_entry_kind {
    CUDA_ENTRY_PTX = 1,
    CUDA_ENTRY_CUBIN = 2,
};

enum cuda_compression {
    CUDA_COMPRESSION_NONE,
    CUDA_COMPRESSION_LZ4,
    CUDA_COMPRESSION_ZSTD,
};

struct cuda_fatbin_entry {
    unsigned kind; /* enum cuda_entry_kind, or one that we do not know */
    unsigned sm;   /* architecture it was built for: 90 */
    enum cuda_compression compression;
    const uint8_t *payload;
    size_t payload_size; /* bytes as stored */
    size_t plain_size;   /* bytes when unpacked */
};

struct cuda_fatbin_iter {
    const uint8_t *next;
    const uint8_t *end;
};

/* Starts at the first entry of the fat binary at `data`, `size` bytes as measured. */
CUresult cuda_fatbin_begin(const void *data, size_t size, struct cuda_fatbin_iter *iter);

/*
 * CUDA_SUCCESS: *entry is the next entry, pointing into the image. CUDA_ERROR_NOT_FOUND: there is
 * no further one. CUDA_ERROR_INVALID_IMAGE: the entry reaches out of the image.
 */
CUresult cuda_fatbin_next(struct cuda_fatbin_iter *iter, struct cuda_fatbin_entry *entry);

/*
 * Unpacks an entry into memory that the caller frees; a NUL follows the *size bytes.
 * CUDA_ERROR_INVALID_IMAGE: the compressed bytes are damaged. CUDA_ERROR_OUT_OF_MEMORY.
 */
CUresult cuda_fatbin_unpack(const struct cuda_fatbin_entry *entry, char **out, size_t *size);

#endif
