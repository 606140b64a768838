// SPDX-License-Identifier: Apache-2.0
/* Libraries and kernels: code that belongs to no context, as cudart loads it. */
#include <pthread.h>

#include "common.h"

KERNELS(basics);
KERNELS(vector_add);

/* What nvcc puts into a program, and cudart passes on. */
static struct {
    int magic, version;
    const void *data;
    void *unused;
} wrapper = {0x466243b1, 1, ptx_vector_add, NULL};

extern const char fatbin[];
__asm__(
    ".section .rodata\n.balign 16\nfatbin:\n.incbin \"kernels/vector_add.fatbin\"\n.previous\n");

static CUlibrary loaded(const void *code) {
    CUlibrary l;

    CK(cuLibraryLoadData(&l, code, NULL, NULL, 0, NULL, NULL, 0));
    return l;
}

static void without_a_context(void) {
    CUlibrary l = loaded(ptx_basics), again, of_kernel;
    CUkernel k, same, listed[16] = {0};
    unsigned int count = 0;
    const char *name;
    size_t offset, size;
    int value;

    printf("-- no context\n");
    SHOW(cuLibraryGetKernelCount(&count, l));
    printf("%u kernels\n", count);
    SHOW(cuLibraryGetKernel(&k, l, "mixed_params"));
    SHOW(cuLibraryGetKernel(&same, l, "mixed_params"));
    printf("the same: %d\n", k == same);
    SHOW(cuKernelGetName(&name, k));
    printf("%s\n", name);
    SHOW(cuKernelGetLibrary(&of_kernel, k));
    printf("its library: %d\n", of_kernel == l);
    for (size_t i = 0; i < 6; i++) {
        CUresult r = cuKernelGetParamInfo(k, i, &offset, &size);

        printf("parameter %zu: %d", i, r);
        printf(r == CUDA_SUCCESS ? " at %zu, %zu bytes\n" : "\n", offset, size);
    }
    SHOW(cuLibraryEnumerateKernels(listed, 16, l));
    for (unsigned int i = 0; i < count && i < 16; i++) {
        CK(cuKernelGetName(&name, listed[i]));
        CK(cuLibraryGetKernel(&same, l, name));
        printf("kernel %u: known by its name %d\n", i, same == listed[i]);
    }
    SHOW(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0));
    printf("threads %d\n", value);
    SHOW(cuLibraryGetKernel(&k, l, "no_such_kernel"));
    SHOW(cuLibraryGetModule((CUmodule *)&again, l));
    SHOW(cuKernelGetFunction((CUfunction *)&again, same));
    SHOW(cuLibraryGetGlobal((CUdeviceptr *)&offset, &size, l, "counter"));
    SHOW(cuLibraryUnload(l));
}

static void wrong(void) {
    CUlibrary l = loaded(ptx_basics), none = NULL;
    CUkernel k;
    unsigned int count;
    CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED, unknown = 77;
    void *yes = (void *)1;
    const char *name;
    size_t offset;

    printf("-- wrong arguments\n");
    SHOW(cuLibraryLoadData(NULL, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryLoadData(&none, NULL, NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryLoadData(&none, ptx_basics, NULL, NULL, 0, &unknown, &yes, 1));
    SHOW(cuLibraryLoadData(&none, ptx_basics, NULL, NULL, 0, &preserved, &yes, 1));
    SHOW(cuLibraryUnload(none));
    SHOW(cuLibraryLoadFromFile(&none, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryUnload(NULL));
    SHOW(cuLibraryGetKernel(NULL, l, "count"));
    SHOW(cuLibraryGetKernel(&k, l, NULL));
    SHOW(cuLibraryGetKernel(&k, NULL, "count"));
    SHOW(cuLibraryGetKernelCount(NULL, l));
    SHOW(cuLibraryEnumerateKernels(NULL, 1, l));
    SHOW(cuLibraryEnumerateKernels(&k, 0, l));
    CK(cuLibraryGetKernel(&k, l, "count"));
    SHOW(cuKernelGetLibrary(NULL, k));
    SHOW(cuKernelGetName(NULL, k));
    SHOW(cuKernelGetName(&name, NULL));
    SHOW(cuKernelGetParamInfo(k, 0, &offset, NULL));
    SHOW(cuKernelGetParamInfo(NULL, 0, &offset, NULL));
    SHOW(cuLibraryGetManaged(NULL, NULL, l, "counter"));
    SHOW(cuLibraryGetUnifiedFunction(NULL, l, "counter"));
    SHOW(cuLibraryGetKernelCount(&count, NULL));
    SHOW(cuLibraryUnload(l));
}

static void with_a_context(void) {
    CUlibrary l = loaded(ptx_basics);
    CUdeviceptr counter, address, out;
    CUmodule m, same, of_function;
    CUfunction f, f2, by_module;
    CUkernel k, shared;
    size_t bytes;
    int value = 0, wrong = 0, result[64];
    const char *name;

    printf("-- a context\n");
    CK(cuLibraryGetKernel(&k, l, "count"));
    SHOW(cuLaunchKernel((CUfunction)k, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuLibraryGetGlobal(&counter, &bytes, l, "counter"));
    printf("%zu bytes\n", bytes);
    CK(cuMemcpyDtoH(&value, counter, sizeof(value)));
    printf("counted %d\n", value);
    SHOW(cuLibraryGetGlobal(&address, NULL, l, "counter"));
    printf("the same address: %d\n", address == counter);
    SHOW(cuLibraryGetGlobal(NULL, NULL, l, "counter"));
    SHOW(cuLibraryGetGlobal(&address, NULL, l, "no_such_variable"));
    SHOW(cuKernelGetFunction(&f, k));
    SHOW(cuKernelGetFunction(&f2, k));
    printf("the same function: %d\n", f == f2);
    SHOW(cuFuncGetName(&name, f));
    printf("%s\n", name);
    SHOW(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CK(cuMemcpyDtoH(&value, counter, sizeof(value)));
    printf("counted %d\n", value);
    SHOW(cuLibraryGetModule(&m, l));
    SHOW(cuLibraryGetModule(&same, l));
    printf("the same module: %d\n", m == same);
    SHOW(cuFuncGetModule(&of_function, f));
    printf("the function's module: %d\n", of_function == m);
    SHOW(cuModuleGetFunction(&by_module, m, "count"));
    SHOW(cuModuleGetGlobal(&address, &bytes, m, "counter"));
    printf("the same address: %d\n", address == counter);

    CK(cuLibraryGetKernel(&shared, l, "dynamic_shared"));
    CK(cuMemAlloc(&out, sizeof(result)));
    void *args[] = {&out};
    SHOW(cuLaunchKernel((CUfunction)shared, 1, 1, 1, 64, 1, 1, 65536, NULL, args, NULL));
    SHOW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, shared, 0));
    SHOW(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared, 0));
    printf("limit %d\n", value);
    SHOW(cuLaunchKernel((CUfunction)shared, 1, 1, 1, 64, 1, 1, 65536, NULL, args, NULL));
    CK(cuMemcpyDtoH(result, out, sizeof(result)));
    for (int i = 0; i < 64; i++)
        wrong += result[i] != 63 - i;
    printf("%d wrong\n", wrong);
    SHOW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30, shared, 0));
    SHOW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, shared, 0));
    SHOW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, shared, 99));
    SHOW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, NULL, 0));
    SHOW(cuKernelGetAttribute(&value, 1000, shared, 0));
    SHOW(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, shared, 99));
    SHOW(cuKernelGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, shared, 0));
    SHOW(cuKernelSetCacheConfig(shared, CU_FUNC_CACHE_PREFER_L1, 0));
    SHOW(cuKernelSetCacheConfig(shared, 99, 0));
    SHOW(cuKernelSetCacheConfig(shared, CU_FUNC_CACHE_PREFER_L1, 99));
    SHOW(cuKernelGetFunction(NULL, k));
    SHOW(cuLibraryGetModule(NULL, l));
    SHOW(cuLibraryUnload(l));
    SHOW(cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuKernelGetFunction(&f, NULL));
    SHOW(cuCtxSynchronize());
}

static void add(const char *what, const void *code) {
    float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, c[3] = {0};
    CUlibrary l = loaded(code);
    CUdeviceptr d[3];
    int n = 3;
    CUkernel k;

    CK(cuLibraryGetKernel(&k, l, "vector_add"));
    for (int i = 0; i < 3; i++)
        CK(cuMemAlloc(&d[i], sizeof(a)));
    CK(cuMemcpyHtoD(d[0], a, sizeof(a)));
    CK(cuMemcpyHtoD(d[1], b, sizeof(b)));
    void *args[] = {&d[0], &d[1], &d[2], &n};
    CK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(c, d[2], sizeof(c)));
    printf("%s: %g %g %g\n", what, c[0], c[1], c[2]);
    CK(cuLibraryUnload(l));
}

/* Each context has variables of its own; a kernel is the same in both. */
static void two_contexts(CUcontext first) {
    CUlibrary l = loaded(ptx_basics);
    CUdeviceptr a, b;
    CUcontext second;
    CUfunction in_first, in_second;
    CUmodule module_first, module_second;
    CUkernel k;
    int value;

    printf("-- two contexts\n");
    CK(cuLibraryGetKernel(&k, l, "count"));
    CK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CK(cuLibraryGetGlobal(&a, NULL, l, "counter"));
    CK(cuKernelGetFunction(&in_first, k));
    CK(cuLibraryGetModule(&module_first, l));
    CK(cuCtxCreate(&second, NULL, 0, 0));
    CK(cuLaunchKernel((CUfunction)k, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CK(cuLibraryGetGlobal(&b, NULL, l, "counter"));
    CK(cuKernelGetFunction(&in_second, k));
    CK(cuLibraryGetModule(&module_second, l));
    printf("functions differ %d, modules differ %d, variables differ %d\n", in_first != in_second,
           module_first != module_second, a != b);
    CK(cuMemcpyDtoH(&value, b, sizeof(value)));
    printf("second %d\n", value);
    CK(cuCtxDestroy(second));
    CK(cuCtxSetCurrent(first));
    CK(cuMemcpyDtoH(&value, a, sizeof(value)));
    printf("first %d\n", value);
    SHOW(cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CK(cuMemcpyDtoH(&value, a, sizeof(value)));
    printf("first %d\n", value);
    SHOW(cuLibraryUnload(l));
}

static void *launch_from_thread(void *arg) {
    CUfunction f;
    CUcontext c;

    CK(cuDevicePrimaryCtxRetain(&c, 0));
    CK(cuCtxSetCurrent(c));
    CK(cuKernelGetFunction(&f, arg));
    for (int i = 0; i < 100; i++)
        CK(cuLaunchKernel((CUfunction)arg, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CK(cuCtxSynchronize());
    return f;
}

/* All threads see one function, however they race for it. */
static void many_threads(void) {
    CUlibrary l = loaded(ptx_basics);
    pthread_t threads[8];
    CUdeviceptr counter;
    void *functions[8];
    CUkernel k;
    int value, same = 1;

    printf("-- threads\n");
    CK(cuLibraryGetKernel(&k, l, "count"));
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, launch_from_thread, k);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &functions[i]);
        same &= functions[i] == functions[0];
    }
    CK(cuLibraryGetGlobal(&counter, NULL, l, "counter"));
    CK(cuMemcpyDtoH(&value, counter, sizeof(value)));
    printf("one function %d, counted %d\n", same, value);
    CK(cuLibraryUnload(l));
}

/* Libraries outlive what happens to contexts. */
static void reset(CUcontext c) {
    CUlibrary l = loaded(ptx_basics);
    CUdeviceptr counter;
    CUkernel k;
    int value;

    printf("-- reset\n");
    CK(cuLibraryGetKernel(&k, l, "count"));
    CK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CK(cuCtxSynchronize());
    CK(cuDevicePrimaryCtxReset(0));
    CK(cuDevicePrimaryCtxRetain(&c, 0));
    CK(cuCtxSetCurrent(c));
    SHOW(cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuLibraryGetGlobal(&counter, NULL, l, "counter"));
    CK(cuMemcpyDtoH(&value, counter, sizeof(value)));
    printf("counted %d\n", value);
    SHOW(cuLibraryUnload(l));
}

int main(void) {
    CUlibrary l;
    CUcontext c;

    SHOW(cuLibraryLoadData(&l, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuInit(0));
    without_a_context();
    wrong();
    c = start();
    with_a_context();
    printf("-- images\n");
    add("text", ptx_vector_add);
    add("fat binary", fatbin);
    wrapper.data = fatbin;
    add("its wrapper", &wrapper);
    two_contexts(c);
    many_threads();
    reset(c);
    return 0;
}
