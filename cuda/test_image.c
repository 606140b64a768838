// SPDX-License-Identifier: Apache-2.0
/* Measuring and unpacking module images: made up here, and (with arguments) files from nvcc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "image.h"

static const char ptx[] = "// a comment\n/* another */ .version 7.0\n.target sm_70\n"
                          ".address_size 64\n.visible .entry k() { ret; }\n";

static void expect_kind(const void *data, size_t limit, enum cuda_image_kind kind, size_t size) {
    struct cuda_image image;

    assert_int_equal(cuda_image_measure(data, limit, &image), CUDA_SUCCESS);
    assert_int_equal(image.kind, kind);
    assert_int_equal(image.size, size);
}

static void expect_invalid(const void *data, size_t limit) {
    struct cuda_image image;

    assert_int_equal(cuda_image_measure(data, limit, &image), CUDA_ERROR_INVALID_IMAGE);
}

static void measures_ptx(void **state) {
    (void)state;
    expect_kind(ptx, CUDA_IMAGE_UNBOUNDED, CUDA_IMAGE_PTX, sizeof(ptx));
    expect_kind(ptx, sizeof(ptx), CUDA_IMAGE_PTX, sizeof(ptx));
    expect_invalid(ptx, sizeof(ptx) - 1); /* its NUL is missing */
    expect_invalid("", CUDA_IMAGE_UNBOUNDED);
    expect_invalid("hello", CUDA_IMAGE_UNBOUNDED);
    expect_invalid("/* never closed", CUDA_IMAGE_UNBOUNDED);
    expect_invalid(".", 0);
}

static void refuses_null(void **state) {
    struct cuda_image image;

    (void)state;
    assert_int_equal(cuda_image_measure(NULL, 8, &image), CUDA_ERROR_INVALID_VALUE);
}

static void measures_elf(void **state) {
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[2];
        char tail[24];
    } elf = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                   .e_machine = EM_CUDA,
                   .e_shoff = sizeof(Elf64_Ehdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 2},
        .sections[1] = {.sh_type = SHT_PROGBITS, .sh_offset = 192, .sh_size = 24},
    };

    (void)state;
    expect_kind(&elf, sizeof(elf), CUDA_IMAGE_CUBIN, sizeof(elf));
    expect_invalid(&elf, sizeof(elf) - 1);
    elf.sections[1].sh_offset = UINT64_MAX - 3; /* the sum would wrap */
    expect_invalid(&elf, sizeof(elf));
    elf.sections[1].sh_type = SHT_NOBITS;
    expect_kind(&elf, sizeof(elf), CUDA_IMAGE_CUBIN, 192);
    elf.header.e_shnum = 0; /* section 0 has the count */
    elf.sections[0].sh_size = 2;
    expect_kind(&elf, sizeof(elf), CUDA_IMAGE_CUBIN, 192);
    elf.sections[0].sh_size = UINT64_MAX / 32;
    expect_invalid(&elf, sizeof(elf));
    elf.header.e_shnum = 2;
    elf.header.e_machine = EM_X86_64;
    expect_invalid(&elf, sizeof(elf));
}

struct built {
    uint8_t bytes[4096];
    size_t size;
};

static void put(struct built *b, const void *data, size_t size) {
    assert_true(b->size + size <= sizeof(b->bytes));
    memcpy(b->bytes + b->size, data, size);
    b->size += size;
}

static void put_entry(struct built *b, uint16_t kind, uint32_t sm, uint64_t flags,
                      const void *payload, size_t stored, size_t plain) {
    uint64_t padded = (stored + 7) & ~(uint64_t)7;
    uint8_t header[0x40] = {0}, zero[8] = {0};

    memcpy(header, &kind, 2);
    memcpy(header + 4, &(uint32_t){sizeof(header)}, 4);
    memcpy(header + 8, &padded, 8);
    memcpy(header + 16, &(uint32_t){(uint32_t)(flags ? stored : 0)}, 4);
    memcpy(header + 28, &sm, 4);
    memcpy(header + 40, &flags, 8);
    memcpy(header + 56, &(uint64_t){flags ? plain : 0}, 8);
    put(b, header, sizeof(header));
    put(b, payload, stored);
    put(b, zero, padded - stored);
}

/* A fat binary with the same text stored plainly, with LZ4 and with zstd. */
static void build_fatbin(struct built *b) {
    char packed[1024];
    uint32_t start[4] = {0xba55ed50, 0x00100001, 0, 0};
    uint64_t body;

    b->size = 0;
    put(b, start, sizeof(start));
    put_entry(b, CUDA_ENTRY_PTX, 70, 0, ptx, sizeof(ptx), 0);
    put_entry(b, CUDA_ENTRY_PTX, 80, 0x2000, packed,
              (size_t)LZ4_compress_default(ptx, packed, sizeof(ptx), sizeof(packed)), sizeof(ptx));
    put_entry(b, CUDA_ENTRY_PTX, 90, 0x8000, packed,
              ZSTD_compress(packed, sizeof(packed), ptx, sizeof(ptx), 3), sizeof(ptx));
    body = b->size - sizeof(start);
    memcpy(b->bytes + 8, &body, sizeof(body));
}

static void unpacks_fatbin(void **state) {
    const enum cuda_compression compressions[] = {CUDA_COMPRESSION_NONE, CUDA_COMPRESSION_LZ4,
                                                  CUDA_COMPRESSION_ZSTD};
    struct cuda_fatbin_entry entry;
    struct cuda_fatbin_iter iter;
    struct built b;

    (void)state;
    build_fatbin(&b);
    expect_kind(b.bytes, CUDA_IMAGE_UNBOUNDED, CUDA_IMAGE_FATBIN, b.size);
    assert_int_equal(cuda_fatbin_begin(b.bytes, b.size, &iter), CUDA_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        size_t size;
        char *text;

        assert_int_equal(cuda_fatbin_next(&iter, &entry), CUDA_SUCCESS);
        assert_int_equal(entry.kind, CUDA_ENTRY_PTX);
        assert_int_equal(entry.sm, 70 + 10 * i);
        assert_int_equal(entry.compression, compressions[i]);
        assert_int_equal(cuda_fatbin_unpack(&entry, &text, &size), CUDA_SUCCESS);
        assert_string_equal(text, ptx);
        free(text);
    }
    assert_int_equal(cuda_fatbin_next(&iter, &entry), CUDA_ERROR_NOT_FOUND);
}

static void follows_wrapper_only_in_this_process(void **state) {
    struct built b;
    struct {
        uint32_t magic, version;
        const void *data, *unused;
    } wrapper = {0x466243b1, 1, b.bytes, NULL};
    struct cuda_image image;

    (void)state;
    build_fatbin(&b);
    assert_int_equal(cuda_image_measure(&wrapper, CUDA_IMAGE_UNBOUNDED, &image), CUDA_SUCCESS);
    assert_ptr_equal(image.data, b.bytes);
    expect_invalid(&wrapper, sizeof(wrapper));
}

static void refuses_damaged_fatbin(void **state) {
    struct cuda_fatbin_entry entry;
    struct cuda_fatbin_iter iter;
    struct built b;
    char *text;
    size_t size;

    (void)state;
    build_fatbin(&b);
    expect_invalid(b.bytes, b.size - 1);
    memset(b.bytes + 16 + 8, 0xff, 8); /* the first entry's payload is endless */
    assert_int_equal(cuda_fatbin_begin(b.bytes, b.size, &iter), CUDA_SUCCESS);
    assert_int_equal(cuda_fatbin_next(&iter, &entry), CUDA_ERROR_INVALID_IMAGE);

    build_fatbin(&b);
    assert_int_equal(cuda_fatbin_begin(b.bytes, b.size, &iter), CUDA_SUCCESS);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(cuda_fatbin_next(&iter, &entry), CUDA_SUCCESS);
    entry.plain_size--;
    assert_int_equal(cuda_fatbin_unpack(&entry, &text, &size), CUDA_ERROR_INVALID_IMAGE);
}

/* A file as nvcc writes it: measured to its last byte, and its PTX has the kernel `probe`. */
static int check_file(const char *path) {
    struct cuda_fatbin_entry entry;
    struct cuda_fatbin_iter iter;
    struct cuda_image image;
    static char data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(data, 1, sizeof(data), file) : 0;
    bool found = false;

    if (!file || fclose(file) || length == sizeof(data) ||
        cuda_image_measure(data, length, &image) != CUDA_SUCCESS || image.size != length)
        return printf("%s: not measured to its end\n", path), 1;
    if (image.kind == CUDA_IMAGE_CUBIN)
        return 0;
    if (cuda_fatbin_begin(data, length, &iter) != CUDA_SUCCESS)
        return printf("%s: not a fat binary\n", path), 1;
    while (cuda_fatbin_next(&iter, &entry) == CUDA_SUCCESS) {
        size_t size;
        char *plain;

        if (cuda_fatbin_unpack(&entry, &plain, &size) != CUDA_SUCCESS)
            return printf("%s: entry not unpacked\n", path), 1;
        found |= entry.kind == CUDA_ENTRY_PTX && strstr(plain, ".entry probe(");
        free(plain);
    }
    if (!found)
        printf("%s: no PTX with the kernel\n", path);
    return !found;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_ptx),
        cmocka_unit_test(refuses_null),
        cmocka_unit_test(measures_elf),
        cmocka_unit_test(unpacks_fatbin),
        cmocka_unit_test(follows_wrapper_only_in_this_process),
        cmocka_unit_test(refuses_damaged_fatbin),
    };
    int failed = 0;

    for (int i = 1; i < argc; i++)
        failed |= check_file(argv[i]);
    return argc > 1 ? failed : cmocka_run_group_tests(tests, NULL, NULL);
}
