// SPDX-License-Identifier: Apache-2.0
/* Managed variables of code that a program loads itself: one address for it and for the GPU. */
#include "common.h"

KERNELS(managed_variables);
KERNELS(vector_add);

__asm__(".section .rodata\n.balign 16\n.global fatbin\nfatbin:\n"
        ".incbin \"kernels/managed_variables.fatbin\"\n.previous\n");
extern const char fatbin[];

#define ENTRIES 1000

/* Of one variable, as its module tells. */
static void *variable(CUmodule m, const char *name, size_t wanted) {
    CUdeviceptr p = 0;
    size_t bytes = 0;

    CK(cuModuleGetGlobal(&p, &bytes, m, name));
    if (bytes != wanted)
        printf("%s has %zu bytes\n", name, bytes);
    return (void *)p;
}

static void run(CUfunction f, void *value, unsigned int threads) {
    void *args[] = {value};

    CK(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, args, NULL));
    CK(cuCtxSynchronize());
}

static void run_one(CUfunction f, int value) {
    run(f, &value, 1);
}

/* Host and kernels write each variable in turns. */
static void both_sides(CUmodule m) {
    int *counter = variable(m, "counter", 4), **target = variable(m, "target", 8), wrong = 0;
    float *table = variable(m, "table", ENTRIES * sizeof(float)), base = 0.5f;
    long long *wide = variable(m, "wide", 8);

    printf("counter %d wide %llx table %g %g target %s\n", *counter, *wide, table[0],
           table[ENTRIES - 1], *target ? "something" : "nothing");
    run_one(function(m, "add"), 37);
    printf("counter %d wide %llx\n", *counter, *wide);
    *counter = -1;
    *wide = 1ll << 40;
    run_one(function(m, "add"), 1);
    printf("counter %d wide %llx\n", *counter, *wide);
    for (int i = 0; i < ENTRIES; i++)
        table[i] = (float)i;
    run(function(m, "fill"), &base, 32);
    for (int i = 0; i < ENTRIES; i++)
        wrong += table[i] != 3.0f * (float)i + 0.5f;
    printf("table wrong %d\n", wrong);
    *target = counter;
    run_one(function(m, "follow"), 77);
    printf("through a pointer: counter %d\n", *counter);
}

/* What kernels take for the addresses, and a variable that only the GPU reaches. */
static void same_addresses(CUmodule m) {
    static const char *const names[] = {"counter", "table", "wide", "target"};
    static const size_t sizes[] = {4, ENTRIES * sizeof(float), 8, 8};
    int plain = 0, same = 0;
    CUdeviceptr out, p;
    void *seen[4];

    CK(cuMemAlloc(&out, sizeof(seen)));
    run(function(m, "addresses"), &out, 1);
    CK(cuMemcpyDtoH(seen, out, sizeof(seen)));
    for (int i = 0; i < 4; i++)
        same += seen[i] == variable(m, names[i], sizes[i]);
    CK(cuModuleGetGlobal(&p, NULL, m, "plain"));
    CK(cuMemcpyDtoH(&plain, p, sizeof(plain)));
    printf("same addresses %d, plain %d\n", same, plain);
    CK(cuMemFree(out));
}

static void attributes(CUmodule m) {
    CUdeviceptr p = (CUdeviceptr)variable(m, "table", ENTRIES * sizeof(float)), device = 0, q;
    unsigned int type = 77, managed = 77;
    int ordinal = 77;
    void *host = NULL;

    SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    SHOW(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p + 40));
    SHOW(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    SHOW(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 40));
    SHOW(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p + 40));
    printf("type %u managed %u device %d, the same for device %d and host %d\n", type, managed,
           ordinal, device == p + 40, host == (void *)(p + 40));
    CK(cuModuleGetGlobal(&q, NULL, m, "plain"));
    SHOW(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, q));
    printf("another variable: managed %u\n", managed);
    SHOW(cuModuleGetGlobal(&q, NULL, m, "no_such_variable"));
    SHOW(cuMemFree(p));
}

static void copies(CUmodule m) {
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    float *table = variable(m, "table", ENTRIES * sizeof(float)), back[ENTRIES];
    CUdeviceptr p = (CUdeviceptr)table, q;
    size_t bytes = ENTRIES * sizeof(float);
    int read_mostly = 77;

    CK(cuMemAlloc(&q, bytes));
    SHOW(cuMemsetD32(p, 0x40000000, ENTRIES));
    SHOW(cuCtxSynchronize());
    printf("filled %g %g\n", table[0], table[ENTRIES - 1]);
    SHOW(cuMemcpyDtoD(q, p, bytes));
    SHOW(cuMemcpyDtoH(back, q, bytes));
    printf("copied %g\n", back[ENTRIES - 1]);
    back[3] = 9;
    SHOW(cuMemcpyHtoD(p, back, bytes));
    printf("back %g %g\n", table[3], table[4]);
    SHOW(cuMemPrefetchAsync(p, bytes, here, 0, NULL));
    SHOW(cuMemPrefetchAsync(p, bytes, host, 0, NULL));
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAdvise(p, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    SHOW(cuMemRangeGetAttribute(&read_mostly, sizeof(read_mostly),
                                CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, bytes));
    printf("read mostly %d\n", read_mostly);
    SHOW(cuMemAdvise(p, bytes, CU_MEM_ADVISE_UNSET_READ_MOSTLY, here));
    SHOW(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_GLOBAL));
    CK(cuMemFree(q));
}

static void one_module(const void *image) {
    CUmodule m = module(image);

    both_sides(m);
    same_addresses(m);
    CK(cuModuleUnload(m));
}

static void of_text(void) {
    CUmodule m;

    start();
    m = module(ptx_managed_variables);
    both_sides(m);
    same_addresses(m);
    attributes(m);
    copies(m);
    SHOW(cuModuleUnload(m));
}

static void of_a_fat_binary(void) {
    CUmodule m;

    start();
    one_module(fatbin);
    CK(cuModuleLoadFatBinary(&m, fatbin));
    both_sides(m);
    SHOW(cuModuleUnload(m));
}

/* The image of a file. */
static void of_a_file(void) {
    char path[] = "/tmp/vcuda-managed-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    CUmodule m;

    start();
    fputs(ptx_managed_variables, file);
    fclose(file);
    SHOW(cuModuleLoad(&m, path));
    both_sides(m);
    SHOW(cuModuleUnload(m));
    remove(path);
}

static void of_the_linker(void) {
    CUlinkState l;
    size_t size;
    void *cubin;

    start();
    CK(cuLinkCreate(0, NULL, NULL, &l));
    SHOW(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)ptx_managed_variables,
                       strlen(ptx_managed_variables) + 1, "text", 0, NULL, NULL));
    SHOW(cuLinkComplete(l, &cubin, &size));
    one_module(cubin);
    one_module(cubin);
    SHOW(cuLinkDestroy(l));
}

static void with_options(void) {
    char info[4096] = "", error[4096] = "";
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {(void *)32, info, (void *)sizeof(info), error, (void *)sizeof(error)};
    static const char broken[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .global .attribute(.managed) .u32 x;\nnonsense here\n";
    CUmodule m;

    start();
    SHOW(cuModuleLoadDataEx(&m, ptx_managed_variables, 5, options, values));
    printf("error log %d bytes\n", (int)(size_t)values[4]);
    both_sides(m);
    SHOW(cuModuleUnload(m));
    values[2] = (void *)sizeof(info);
    values[4] = (void *)sizeof(error);
    SHOW(cuModuleLoadDataEx(&m, broken, 5, options, values));
    printf("error log: %s\n", error[0] ? "yes" : "no");
    SHOW(cuModuleLoadData(&m, broken));
    SHOW(cuModuleLoadData(&m, ".version 7.0 .managed"));
    options[0] = 999;
    SHOW(cuModuleLoadDataEx(&m, ptx_managed_variables, 5, options, values));
}

/* Each load has variables of its own, which begin anew. */
static void several(void) {
    CUcontext first = start(), second;
    int *counter[3], *again;
    CUmodule m[3];

    CK(cuCtxCreate(&second, NULL, 0, 0));
    for (int i = 0; i < 3; i++) {
        CK(cuCtxSetCurrent(i < 2 ? first : second));
        m[i] = module(ptx_managed_variables);
        counter[i] = variable(m[i], "counter", 4);
        *counter[i] = 10 * i;
    }
    printf("apart %d\n", counter[0] != counter[1] && counter[1] != counter[2]);
    for (int i = 0; i < 3; i++) {
        CK(cuCtxSetCurrent(i < 2 ? first : second));
        run_one(function(m[i], "add"), i + 1);
    }
    printf("%d %d %d\n", *counter[0], *counter[1], *counter[2]);
    CK(cuCtxSetCurrent(first));
    CK(cuModuleUnload(m[0]));
    SHOW(cuModuleGetGlobal(NULL, &(size_t){0}, m[0], "counter"));
    m[0] = module(ptx_managed_variables);
    again = variable(m[0], "counter", 4);
    printf("anew %d, the others %d %d\n", *again, *counter[1], *counter[2]);
    CK(cuCtxDestroy(second));
    run_one(function(m[0], "add"), 4);
    run_one(function(m[1], "add"), 4);
    printf("%d %d\n", *again, *counter[1]);
}

/* Loads and unloads give back what they took. */
static void many(void) {
    long long sum = 0;

    start();
    for (int i = 0; i < 200; i++) {
        CUmodule m = module(ptx_managed_variables);
        int *counter = variable(m, "counter", 4);

        run_one(function(m, "add"), i);
        sum += *counter;
        CK(cuModuleUnload(m));
    }
    printf("sum %lld\n", sum);
}

static void library(const void *image, CUlibraryOption *options, unsigned int count) {
    CUdeviceptr p = 0, q = 0;
    size_t bytes = 0;
    CUlibrary l;
    CUkernel k;
    CUmodule m;

    CK(cuLibraryLoadData(&l, image, NULL, NULL, 0, options, NULL, count));
    SHOW(cuLibraryGetManaged(&p, &bytes, l, "counter"));
    printf("%zu bytes: %d\n", bytes, *(int *)p);
    SHOW(cuLibraryGetManaged(&q, NULL, l, "no_such_variable"));
    SHOW(cuLibraryGetManaged(&q, NULL, l, "plain"));
    CK(cuLibraryGetKernel(&k, l, "add"));
    run_one((CUfunction)k, 6);
    printf("counter %d\n", *(int *)p);
    CK(cuLibraryGetModule(&m, l));
    SHOW(cuModuleGetGlobal(&q, &bytes, m, "counter"));
    printf("its module's: the same %d, %zu bytes\n", p == q, bytes);
    both_sides(m);
    same_addresses(m);
    SHOW(cuLibraryUnload(l));
}

static void libraries(void) {
    CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED;
    CUdeviceptr p;
    CUlibrary l;

    start();
    printf("text\n");
    library(ptx_managed_variables, NULL, 0);
    printf("text that stays\n");
    library(ptx_managed_variables, &preserved, 1);
    printf("fat binary\n");
    library(fatbin, NULL, 0);
    printf("fat binary that stays\n");
    library(fatbin, &preserved, 1);
    printf("without any\n");
    CK(cuLibraryLoadData(&l, ptx_vector_add, NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryGetManaged(&p, NULL, l, "counter"));
    SHOW(cuLibraryUnload(l));
}

/* One block for all contexts. */
static void library_in_contexts(void) {
    CUcontext first = start(), second;
    CUdeviceptr p, q;
    CUlibrary l;
    CUkernel k;

    CK(cuCtxCreate(&second, NULL, 0, 0));
    CK(cuLibraryLoadData(&l, ptx_managed_variables, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryGetKernel(&k, l, "add"));
    SHOW(cuLibraryGetManaged(&p, NULL, l, "counter"));
    run_one((CUfunction)k, 1);
    CK(cuCtxSetCurrent(first));
    run_one((CUfunction)k, 2);
    SHOW(cuLibraryGetManaged(&q, NULL, l, "counter"));
    printf("the same %d, counter %d\n", p == q, *(int *)p);
    CK(cuCtxDestroy(second));
    run_one((CUfunction)k, 3);
    printf("counter %d\n", *(int *)p);
    SHOW(cuLibraryUnload(l));
}

int main(void) {
    apart("text", of_text);
    apart("fat binary", of_a_fat_binary);
    apart("file", of_a_file);
    apart("linker", of_the_linker);
    apart("options and logs", with_options);
    apart("several", several);
    apart("many", many);
    apart("libraries", libraries);
    apart("a library in two contexts", library_in_contexts);
    return 0;
}
