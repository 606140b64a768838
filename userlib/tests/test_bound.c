// SPDX-License-Identifier: Apache-2.0
/* Code with managed variables: when it is looked at, how often it is loaded, what remains of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "bound.h"
#include "code.h"
#include "test_cubin.h"
#include "wire.h"

enum { NONE, SYMBOLS, NAMES, ZEROED, FILLED, RELOCATIONS, TABLE, SECTIONS };

struct cubin {
    Elf64_Ehdr head;
    Elf64_Shdr section[SECTIONS];
    Elf64_Sym symbol[3];
    char names[12];
    Elf64_Rela relocation;
    uint64_t table;
    uint32_t filled;
};

#define PART(type, member, ...) CUBIN_PART(struct cubin, type, member, __VA_ARGS__)

static const struct cubin two_variables = {
    .head = CUBIN_HEAD(struct cubin, SECTIONS, NAMES),
    .section = {[SYMBOLS] = PART(SHT_SYMTAB, symbol, .sh_link = NAMES),
                [NAMES] = PART(SHT_STRTAB, names),
                [ZEROED] = {.sh_type = SHT_NOBITS, .sh_size = 400},
                [FILLED] = PART(SHT_PROGBITS, filled),
                [RELOCATIONS] = PART(SHT_RELA, relocation, .sh_link = SYMBOLS, .sh_info = TABLE),
                [TABLE] = PART(SHT_PROGBITS, table)},
    .symbol = {[1] = CUBIN_MANAGED(1, ZEROED, 0, 400), [2] = CUBIN_MANAGED(7, FILLED, 0, 4)},
    .names = "\0zeros\0five",
    .relocation = {0, ELF64_R_INFO(2, 2), 0},
    .filled = 5,
};

static const char text[] = ".version 9.0 .global .attribute(.managed) .u32 x;";
static const char plain_text[] = ".version 9.0 .global .u32 x;";

/* What the worker is, and what it was asked for. */
static struct {
    struct cubin code; /* that it makes of a text */
    CUresult makes, loads[4], call;
    int made, ended, loaded, unloaded, blocks;
    bool bound[4], with_logs[4];
} worker;

static char memory[1024];
static struct jit asked;

CUresult wire_machine_code(struct thread *t, uint64_t *link, int32_t device, uint64_t address,
                           uint64_t bytes, const void *options, uint32_t options_len,
                           uint64_t *made) {
    (void)t, (void)address, (void)bytes, (void)options, (void)options_len;
    assert_int_equal(device, 3);
    worker.made++;
    *link = 99;
    *made = sizeof(worker.code);
    return worker.makes;
}

CUresult wire_link_destroy(struct thread *t, uint64_t state) {
    (void)t;
    assert_int_equal(state, 99);
    worker.ended++;
    return CUDA_SUCCESS;
}

CUresult linker_read(struct thread *t, uint64_t name, void *to, size_t all) {
    (void)t;
    assert_int_equal(name, 99);
    memcpy(to, &worker.code, all);
    return CUDA_SUCCESS;
}

CUresult image_send(struct thread *t, const struct cuda_image *image,
                    CUresult (*send)(struct thread *t, void *arg, uint64_t address, uint64_t bytes),
                    void *arg) {
    return send(t, arg, (uint64_t)image->data, image->size);
}

CUresult managed_alloc(struct thread *t, size_t bytes, enum arena_kind kind, unsigned int flags,
                       void **out) {
    (void)t, (void)flags;
    assert_int_equal(kind, ARENA_VARIABLES);
    assert_true(bytes <= sizeof(memory));
    worker.blocks++;
    *out = memory;
    return CUDA_SUCCESS;
}

CUresult arena_free(void *p, enum arena_kind kind) {
    (void)p, (void)kind;
    worker.blocks--;
    return CUDA_SUCCESS;
}

void guest_log(const char *format, ...) {
    (void)format;
}

bool jit_wants_answer(const struct jit *jit) {
    return jit->info;
}

uint32_t jit_scalar_bytes(const struct jit *jit) {
    (void)jit;
    return 0;
}

static CUresult load(struct thread *t, const struct loading *l, struct jit *jit, uint64_t address,
                     uint64_t bytes, CUresult *status) {
    const struct cubin *c = (const void *)address;

    (void)t, (void)l;
    worker.with_logs[worker.loaded] = jit->info;
    worker.bound[worker.loaded] = bytes == sizeof(*c) && c->section[RELOCATIONS].sh_size == 0 &&
                                  c->table >= (uint64_t)memory &&
                                  c->table < (uint64_t)memory + sizeof(memory);
    *status = worker.loads[worker.loaded++];
    return worker.call;
}

static CUresult unload(struct thread *t, uint64_t name) {
    (void)t;
    assert_int_equal(name, 7);
    worker.unloaded++;
    return CUDA_SUCCESS;
}

static const struct loading how = {7, &asked, 3, load, unload};

static int setup(void **state) {
    (void)state;
    memset(&worker, 0, sizeof(worker));
    memset(memory, 0x55, sizeof(memory));
    worker.code = two_variables;
    asked = (struct jit){0};
    return 0;
}

static struct cuda_image of_text(const char *s) {
    return (struct cuda_image){CUDA_IMAGE_PTX, s, strlen(s) + 1};
}

static struct cuda_image of_code(const struct cubin *c) {
    return (struct cuda_image){CUDA_IMAGE_CUBIN, c, sizeof(*c)};
}

static CUresult try(struct cuda_image image, struct bound **b) {
    return bound_load(NULL, &how, &image, b);
}

static void leaves_others_alone(void **state) {
    struct cubin c = two_variables;
    struct bound *b;

    (void)state;
    c.symbol[1].st_other = c.symbol[2].st_other = 0;
    assert_int_equal(try(of_text(plain_text), &b), CUDA_SUCCESS);
    assert_int_equal(try(of_code(&c), &b), CUDA_SUCCESS);
    assert_null(b);
    assert_int_equal(worker.made, 0);
    assert_int_equal(worker.loaded, 2);
    assert_int_equal(worker.blocks, 0);
}

static void binds_machine_code(void **state) {
    CUdeviceptr p;
    struct bound *b;
    size_t bytes;

    (void)state;
    assert_int_equal(try(of_code(&two_variables), &b), CUDA_SUCCESS);
    assert_int_equal(worker.made, 0);
    assert_int_equal(worker.loaded, 1);
    assert_true(worker.bound[0]);
    assert_true(bound_find(b, "five", &p, &bytes));
    assert_int_equal(bytes, 4);
    assert_int_equal(*(int *)p, 5);
    assert_true(bound_find(b, "zeros", &p, NULL));
    assert_int_equal(*(int *)p, 0);
    assert_false(bound_find(b, "six", &p, NULL));
    assert_int_equal(worker.blocks, 1);
    bound_free(b);
    assert_int_equal(worker.blocks, 0);
}

static void binds_text(void **state) {
    struct bound *b;

    (void)state;
    assert_int_equal(try(of_text(text), &b), CUDA_SUCCESS);
    assert_int_equal(worker.made, 1);
    assert_int_equal(worker.ended, 1);
    assert_int_equal(worker.loaded, 1);
    assert_true(worker.bound[0]);
    bound_free(b);
}

/* The text's own load is the one that is heard. */
static void lets_the_compiler_speak(void **state) {
    struct bound *b;
    char log[8];

    (void)state;
    asked.info = log;
    assert_int_equal(try(of_text(text), &b), CUDA_SUCCESS);
    assert_int_equal(worker.loaded, 2);
    assert_true(worker.with_logs[0] && !worker.bound[0]);
    assert_true(!worker.with_logs[1] && worker.bound[1]);
    assert_int_equal(worker.unloaded, 1);
    bound_free(b);
    worker.loaded = worker.unloaded = 0;
    worker.loads[0] = CUDA_ERROR_INVALID_PTX;
    assert_int_equal(try(of_text(text), &b), CUDA_ERROR_INVALID_PTX);
    assert_null(b);
    assert_int_equal(worker.loaded, 1);
    assert_int_equal(worker.blocks, 0);
}

/* Nothing is made of it: the load tells why, or finds nothing wrong. */
static void loads_what_cannot_be_made(void **state) {
    struct bound *b;

    (void)state;
    worker.makes = CUDA_ERROR_NOT_FOUND;
    assert_int_equal(try(of_text(text), &b), CUDA_SUCCESS);
    assert_null(b);
    assert_int_equal(worker.loaded, 1);
    worker.loaded = 0;
    worker.makes = worker.loads[0] = CUDA_ERROR_INVALID_PTX;
    assert_int_equal(try(of_text(text), &b), CUDA_ERROR_INVALID_PTX);
    assert_int_equal(worker.loaded, 1);
}

static void loads_what_cannot_be_bound(void **state) {
    struct bound *b;

    (void)state;
    worker.code.relocation.r_info = ELF64_R_INFO(2, 99);
    assert_int_equal(try(of_text(text), &b), CUDA_SUCCESS);
    assert_null(b);
    assert_int_equal(worker.loaded, 1);
    assert_false(worker.bound[0]);
    worker.code = two_variables; /* a driver that does not take it */
    worker.loaded = 0;
    worker.loads[0] = CUDA_ERROR_INVALID_IMAGE;
    assert_int_equal(try(of_text(text), &b), CUDA_SUCCESS);
    assert_null(b);
    assert_int_equal(worker.loaded, 2);
    assert_true(worker.bound[0] && !worker.bound[1]);
    assert_int_equal(worker.blocks, 0);
}

/* An earlier call's error comes with the load: once, and nothing is hidden by another load. */
static void passes_others_errors_on(void **state) {
    struct bound *b;

    (void)state;
    worker.call = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(try(of_text(text), &b), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_null(b);
    assert_int_equal(worker.loaded, 1);
    assert_int_equal(worker.blocks, 0);
}

static void loads_again(void **state) {
    struct cuda_image image = of_text(text);
    struct bound *b;

    (void)state;
    assert_int_equal(bound_load_again(NULL, &how, &image, &b), CUDA_SUCCESS);
    assert_non_null(b);
    assert_int_equal(worker.unloaded, 1);
    assert_int_equal(worker.loaded, 1);
    bound_free(b);
    worker.loaded = worker.unloaded = 0;
    worker.makes = CUDA_ERROR_NOT_FOUND; /* it stays as it is */
    assert_int_equal(bound_load_again(NULL, &how, &image, &b), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(worker.unloaded, 0);
    assert_int_equal(worker.loaded, 0);
    worker.makes = CUDA_SUCCESS;
    worker.loads[0] = CUDA_ERROR_INVALID_IMAGE; /* it is as it was */
    assert_int_equal(bound_load_again(NULL, &how, &image, &b), CUDA_ERROR_NOT_SUPPORTED);
    assert_null(b);
    assert_int_equal(worker.unloaded, 1);
    assert_int_equal(worker.loaded, 2);
    assert_false(worker.bound[1]);
    assert_int_equal(worker.blocks, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(leaves_others_alone),
        TEST(binds_machine_code),
        TEST(binds_text),
        TEST(lets_the_compiler_speak),
        TEST(loads_what_cannot_be_made),
        TEST(loads_what_cannot_be_bound),
        TEST(passes_others_errors_on),
        TEST(loads_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
