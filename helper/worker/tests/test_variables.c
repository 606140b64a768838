// SPDX-License-Identifier: Apache-2.0
/* What the variables of code take. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image.h"
#include "variables.h"

/* As an image comes here: measured. */
static uint64_t of_image(const void *image, size_t size) {
    struct cuda_image measured;

    if (cuda_image_measure(image, size, &measured) != CUDA_SUCCESS &&
        cuda_image_measure_text(image, size, &measured) != CUDA_SUCCESS)
        return 0;
    return variables_bytes(&measured);
}

static uint64_t of(const char *text) {
    return of_image(text, strlen(text) + 1);
}

static void test_text(void **state) {
    (void)state;
    assert_int_equal(of(".version 7.0\n.global .u32 x;\n"), 4);
    assert_int_equal(of(".version 7.0\n.visible .global .align 16 .b8 big[1048576];\n"), 1 << 20);
    assert_int_equal(of(".version 7.0\n.global .align 8 .f64 m[4][8] = {0.0};\n"), 256);
    assert_int_equal(of(".version 7.0\n.global .v4 .f32 v[3];\n.global .s16 w;\n"), 50);
    assert_int_equal(of(".version 7.0\n.global .b8 text[] = {104, 105, 0};\n"), 3);
    assert_true(of(".version 7.0\n.global .u32 a, b[10], c;\n") >= 12);
    assert_int_equal(of(".version 7.0\n\tld.global.u32 %r1, [%rd1];\n\tst.global.f32 [x], %f;\n"),
                     0);
    assert_true(of(".version 7.0\n.global .b64 x[0xffffffffffffffff];\n") == UINT64_MAX);
    assert_int_equal(of(".version 7.0\n.global"), 0);
    assert_int_equal(of(".version 7.0\n.global .align"), 0);
    assert_int_equal(of("."), 0);
}

static void test_sections(void **state) {
    static const char names[] = "\0.nv.global\0.text";
    struct {
        Elf64_Ehdr head;
        Elf64_Shdr section[4];
        char names[sizeof(names)];
    } e = {.head = {.e_machine = EM_CUDA,
                    .e_shoff = offsetof(__typeof__(e), section),
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 4,
                    .e_shstrndx = 1}};

    (void)state;
    memcpy(e.head.e_ident, ELFMAG, SELFMAG);
    e.head.e_ident[EI_CLASS] = ELFCLASS64;
    e.head.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(e.names, names, sizeof(names));
    e.section[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                .sh_offset = offsetof(__typeof__(e), names),
                                .sh_size = sizeof(names)};
    e.section[2] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_NOBITS, .sh_size = 1ull << 34};
    e.section[3] = (Elf64_Shdr){.sh_name = 12, .sh_type = SHT_PROGBITS, .sh_size = 8};
    assert_true(of_image(&e, sizeof(e)) == 1ull << 34);
    e.section[2].sh_name = UINT32_MAX;
    assert_int_equal(of_image(&e, sizeof(e)), 0);
    e.section[2].sh_name = sizeof(names) - 2;
    assert_int_equal(of_image(&e, sizeof(e)), 0);
    e.head.e_shstrndx = 9;
    assert_int_equal(of_image(&e, sizeof(e)), 0);
    assert_int_equal(of_image(&e, 10), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_sections),
    };

    return cmocka_run_group_tests_name("variables of code", tests, NULL, NULL);
}
