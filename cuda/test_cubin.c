// SPDX-License-Identifier: Apache-2.0
/* Managed variables of machine code: which there are, and code that is bound to other memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "test_cubin.h"

enum { NONE, SYMBOLS, NAMES, RELOCATIONS, TABLE, ZEROED, FILLED, TEXT_RELOCATIONS, TEXT, SECTIONS };

static const char names[] = "\0x\0y\0plain";

/* As nvcc makes it, but for what is of no use here. */
struct cubin {
    Elf64_Ehdr head;
    Elf64_Shdr section[SECTIONS];
    Elf64_Sym symbol[4];
    char names[sizeof(names)];
    Elf64_Rela table_relocation[2], text_relocation[2];
    uint64_t table[2];
    uint32_t filled[3];
    uint32_t text[8];
};

#define PART(type, member, ...) CUBIN_PART(struct cubin, type, member, __VA_ARGS__)

static const struct cubin good = {
    .head = CUBIN_HEAD(struct cubin, SECTIONS, NAMES),
    .section = {[SYMBOLS] = PART(SHT_SYMTAB, symbol, .sh_link = NAMES),
                [NAMES] = PART(SHT_STRTAB, names),
                [RELOCATIONS] =
                    PART(SHT_RELA, table_relocation, .sh_link = SYMBOLS, .sh_info = TABLE),
                [TABLE] = PART(SHT_PROGBITS, table),
                [ZEROED] = {.sh_type = SHT_NOBITS, .sh_size = 808},
                [FILLED] = PART(SHT_PROGBITS, filled),
                [TEXT_RELOCATIONS] =
                    PART(SHT_RELA, text_relocation, .sh_link = SYMBOLS, .sh_info = TEXT),
                [TEXT] = PART(SHT_PROGBITS, text)},
    .symbol = {[1] = CUBIN_MANAGED(1, FILLED, 4, 4),
               [2] = CUBIN_MANAGED(3, ZEROED, 8, 800),
               [3] = {.st_name = 5, .st_info = STT_OBJECT, .st_shndx = FILLED, .st_size = 4}},
    .names = "\0x\0y\0plain",
    .table_relocation = {{0, ELF64_R_INFO(1, 2), 0}, {8, ELF64_R_INFO(3, 2), 0}},
    .text_relocation = {{0, ELF64_R_INFO(2, 56), 16}, {16, ELF64_R_INFO(2, 57), 16}},
    .filled = {3, 41, 5},
};

static char block[1024];

static CUresult bind(struct cubin *c, uint64_t room) {
    memset(block, 0x55, sizeof(block));
    return cuda_managed_bind(c, sizeof(*c), block, room);
}

static void lists(void **state) {
    struct cuda_managed *list;
    unsigned int count;
    uint64_t bytes;

    (void)state;
    assert_int_equal(cuda_managed_list(&good, sizeof(good), &list, &count, &bytes), CUDA_SUCCESS);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].name, "x");
    assert_int_equal(list[0].offset, 0);
    assert_int_equal(list[0].size, 4);
    assert_string_equal(list[1].name, "y");
    assert_int_equal(list[1].offset, 8);
    assert_int_equal(list[1].size, 800);
    assert_int_equal(bytes, 808);
    free(list);
}

static void binds(void **state) {
    struct cubin c = good;
    uint64_t x = (uint64_t)block, y = x + 8 + 16;

    (void)state;
    assert_int_equal(bind(&c, 808), CUDA_SUCCESS);
    assert_int_equal(c.table[0], x);
    assert_int_equal(c.text[1], (uint32_t)y);
    assert_int_equal(c.text[5], y >> 32);
    /* Only what is not ours is left to the driver. */
    assert_int_equal(c.section[RELOCATIONS].sh_size, sizeof(Elf64_Rela));
    assert_int_equal(ELF64_R_SYM(c.table_relocation[0].r_info), 3);
    assert_int_equal(c.section[TEXT_RELOCATIONS].sh_size, 0);
    assert_int_equal(*(int *)block, 41);
    for (int i = 4; i < 808; i++)
        assert_int_equal(block[i], 0);
    assert_int_equal(block[808], 0x55);
}

static void refuses(void **state) {
    struct cuda_managed *list;
    struct cubin c = good;
    unsigned int count;
    uint64_t bytes;

    (void)state;
    assert_int_equal(bind(&c, 807), CUDA_ERROR_INVALID_VALUE);
    c = good;
    c.text_relocation[1].r_info = ELF64_R_INFO(2, 99);
    assert_int_equal(bind(&c, 808), CUDA_ERROR_NOT_SUPPORTED);
    c = good;
    c.text_relocation[1].r_offset = sizeof(c.text) - 4;
    assert_int_equal(bind(&c, 808), CUDA_ERROR_NOT_SUPPORTED);
    c = good; /* it begins with an address that the driver gives */
    c.section[RELOCATIONS].sh_info = FILLED;
    c.table_relocation[1].r_offset = 4;
    assert_int_equal(bind(&c, 808), CUDA_ERROR_NOT_SUPPORTED);
    c = good; /* what is written changes how large the variable is */
    c.section[RELOCATIONS].sh_info = SYMBOLS;
    c.table_relocation[0].r_offset =
        offsetof(struct cubin, symbol[1].st_size) - offsetof(struct cubin, symbol);
    assert_int_equal(bind(&c, 808), CUDA_ERROR_INVALID_IMAGE);
    c = good; /* it reaches out of its section: none of ours */
    c.symbol[2].st_size = 801;
    assert_int_equal(cuda_managed_list(&c, sizeof(c), &list, &count, &bytes), CUDA_SUCCESS);
    assert_int_equal(count, 1);
    free(list);
    c = good;
    c.section[ZEROED].sh_size = c.symbol[2].st_size = UINT64_MAX - 64;
    c.symbol[2].st_value = 0;
    assert_int_equal(bind(&c, 808), CUDA_ERROR_INVALID_IMAGE);
    c = good;
    c.symbol[1].st_name = sizeof(names);
    assert_int_equal(cuda_managed_list(&c, sizeof(c), &list, &count, &bytes),
                     CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuda_managed_list(".version 7.0", 13, &list, &count, &bytes),
                     CUDA_ERROR_INVALID_IMAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(binds),
        cmocka_unit_test(refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
