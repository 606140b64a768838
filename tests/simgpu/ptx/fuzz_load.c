// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzz target: any text is a module or an error; what loads also runs, for a bounded time, or
 * faults.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../ptx.h"

#define MAX_VARIABLES (1u << 20)

#define BLOCKS 8

static struct block { uint64_t base, size; } blocks[BLOCKS]; /* variables, and a buffer */

static void *resolve(void *opaque, uint64_t addr, size_t len) {
    (void)opaque;
    for (int k = 0; k < BLOCKS; k++)
        if (addr - blocks[k].base < blocks[k].size &&
            blocks[k].size - (addr - blocks[k].base) >= len)
            return (void *)(uintptr_t)addr;
    return NULL;
}

static bool range(void *opaque, uint64_t addr, uint64_t *base, uint64_t *size) {
    (void)opaque;
    for (int k = 0; k < BLOCKS; k++)
        if (addr - blocks[k].base < blocks[k].size) {
            *base = blocks[k].base;
            *size = blocks[k].size;
            return true;
        }
    return false;
}

static uint64_t alloc(void *opaque, size_t size, size_t align) {
    void *p = NULL;

    (void)opaque;
    for (int k = 0; k < BLOCKS; k++) {
        if (blocks[k].base)
            continue;
        if (size > MAX_VARIABLES || posix_memalign(&p, align, size))
            return 0;
        memset(p, 0, size);
        blocks[k] = (struct block){(uint64_t)(uintptr_t)p, size};
        return blocks[k].base;
    }
    return 0;
}

static void release(void *opaque, uint64_t addr) {
    (void)opaque;
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].base == addr) {
            free((void *)(uintptr_t)addr);
            blocks[k] = (struct block){0, 0};
        }
}

static uint64_t managed(void *opaque, const char *name, size_t size, size_t align, bool *fresh) {
    (void)name;
    (void)fresh;
    return alloc(opaque, size, align < 8 ? 8 : align);
}

/* Of a shape that the number tells. */
static bool image(void *opaque, uint64_t number, bool surface, struct ptx_image *out) {
    static char elements[8 * 8 * 8 * 16];
    bool layers = number >> 3 & 1;

    (void)opaque;
    (void)surface;
    *out = (struct ptx_image){.data = elements,
                              .channel = (enum ptx_channel)(number >> 4 & 7),
                              .channels = 1u << (number >> 7) % 3,
                              .dims = 1 + (unsigned)(number % (layers ? 2 : 3)),
                              .size = {8, 8, layers ? 1 : 8},
                              .layers = layers ? 8 : 0,
                              .pitch = 128,
                              .slice = 1024,
                              .filtered = number >> 10 & 1,
                              .normalized_coordinates = number >> 11 & 1,
                              .integers = number >> 12 & 1};
    for (int k = 0; k < 3; k++)
        out->beyond[k] = (enum ptx_beyond)(number >> (13 + 2 * k) & 3);
    return true;
}

static volatile bool cancel;

/* Kernels of a fuzzer like to run for ever. */
static void *cancel_soon(void *arg) {
    struct timespec t = {.tv_nsec = 2000000};
    (void)arg;
    nanosleep(&t, NULL);
    cancel = true;
    return NULL;
}

static void run(struct ptx_func *f) {
    struct ptx_func_info info;
    char msg[128];
    pthread_t t;

    ptx_func_info(f, &info);
    uint64_t *params = calloc(1, info.param_bytes + 8);
    uint64_t buffer = alloc(NULL, 4096, 256);
    for (size_t k = 0; k < info.param_bytes / 8; k++)
        params[k] = buffer;
    struct ptx_launch launch = {.grid = {2, 1, 1},
                                .block = {40, 1, 1},
                                .dynamic_shared = 64,
                                .params = params,
                                .cancel = &cancel,
                                .threads = 1};
    for (int k = 0; k < 3; k++)
        if (info.reqntid[0])
            launch.block[k] = (unsigned)info.reqntid[k];
    cancel = false;
    if (!pthread_create(&t, NULL, cancel_soon, NULL)) {
        ptx_launch_run(f, &launch, msg, sizeof(msg));
        pthread_join(t, NULL);
    }
    release(NULL, buffer);
    free(params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct ptx_memory mem = {.resolve = resolve,
                                   .range = range,
                                   .alloc = alloc,
                                   .free = release,
                                   .managed = managed,
                                   .image = image};
    struct ptx_module *m;
    char log[128];

    if (ptx_module_load((const char *)data, size, &mem, &m, log, sizeof(log)) == PTX_OK)
        for (size_t k = 0; k < ptx_module_function_count(m) && k < 4; k++)
            run(ptx_module_function_at(m, k));
    ptx_module_unload(m);
    for (int k = 0; k < BLOCKS; k++) /* managed variables are ours */
        if (blocks[k].base)
            release(NULL, blocks[k].base);
    return 0;
}
