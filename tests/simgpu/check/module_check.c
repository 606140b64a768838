// SPDX-License-Identifier: Apache-2.0
/* Modules, functions, libraries and kernels. */
#include <elf.h>

#include "check.h"

static void finds_functions(void **state) {
    CUfunction found, all[32];
    const char *name;
    unsigned count;
    CUmodule owner;
    int value;

    (void)state;
    OK(cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 11);
    OK(cuModuleEnumerateFunctions(all, count, module));
    OK(cuModuleGetFunction(&found, module, "add"));
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&found, module, "subtract"));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&found, (CUmodule)context, "add"));
    OK(cuFuncGetName(&name, found));
    assert_string_equal(name, "add");
    OK(cuFuncGetModule(&owner, found));
    assert_ptr_equal(owner, module);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function("bounded")));
    assert_int_equal(value, 64);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, found));
    assert_int_equal(value, 75);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, found));
    assert_int_equal(value, 90);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, found));
    OK(cuModuleUnload(module));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, found));
}

static void finds_globals(void **state) {
    int counter, out, add[4] = {10, 20, 30, 40};
    CUdeviceptr p, table, result;
    size_t size;

    (void)state;
    OK(cuModuleGetGlobal(&p, &size, module, "counter"));
    assert_int_equal(size, 4);
    OK(cuModuleGetGlobal(NULL, &size, module, "table"));
    assert_int_equal(size, 16);
    OK(cuModuleGetGlobal(&table, NULL, module, "table"));
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, &size, module, "nothing"));
    OK(cuMemcpyDtoH(&counter, p, 4));
    assert_int_equal(counter, 7);
    OK(cuMemcpyHtoD(table, add, sizeof(add)));
    OK(cuMemAlloc(&result, 4));
    OK(launch("count", 4, NULL, (void *[]){&result}));
    OK(cuMemcpyDtoH(&counter, p, 4));
    assert_int_equal(counter, 107);
    OK(cuMemcpyDtoH(&out, result, 4));
    assert_int_equal(out, 107); /* the warp's additions are over when it reads */
}

static void refuses_bad_images(void **state) {
    char log[200] = "", info[8] = "x";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_WALL_TIME};
    void *values[] = {log, (void *)sizeof(log), info, (void *)sizeof(info), NULL};
    Elf64_Ehdr cubin = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                        .e_machine = EM_CUDA};
    const char *wrong = ".version 7.0\n.target sm_70\n.address_size 64\n"
                        ".visible .entry k() { nonsense.s32 %r1; ret; }\n";
    CUmodule loaded;

    (void)state;
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&loaded, &cubin));
    FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&loaded, "neither PTX nor anything"));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&loaded, NULL));
    FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&loaded, "/nonexistent"));
    FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&loaded, wrong, 5, options, values));
    assert_non_null(strstr(log, "line 4"));
    assert_int_equal((uintptr_t)values[1], strlen(log) + 1);
    assert_int_equal((uintptr_t)values[3], 0);
    assert_string_equal(info, "");
    options[0] = CU_JIT_NUM_OPTIONS;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&loaded, wrong, 5, options, values));
}

static void loads_files(void **state) {
    CUfunction found;
    CUmodule loaded;

    (void)state;
    OK(cuModuleLoad(&loaded, KERNELS_PTX));
    OK(cuModuleGetFunction(&found, loaded, "add"));
    OK(cuModuleUnload(loaded));
}

static void gives_each_context_a_library_s_module(void **state) {
    char *text = kernels_text();
    CUdeviceptr here, there;
    CUfunction found;
    CUlibrary library;
    CUcontext other;
    CUkernel kernel;
    unsigned count;
    int value;

    (void)state;
    OK(cuCtxPopCurrent(NULL));
    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0)); /* needs no context */
    free(text);
    OK(cuLibraryGetKernelCount(&count, library));
    assert_int_equal(count, 11);
    OK(cuLibraryGetKernel(&kernel, library, "count"));
    FAILS(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "subtract"));
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
    assert_int_equal(value, 1024);
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 70000, kernel, 1));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuKernelGetFunction(&found, kernel));
    OK(cuCtxPushCurrent(context));
    OK(cuLibraryGetGlobal(&here, NULL, library, "counter"));
    OK(cuKernelGetFunction(&found, kernel));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, found));
    assert_int_equal(value, 49152);
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuLibraryGetGlobal(&there, NULL, library, "counter"));
    OK(cuKernelGetFunction(&found, kernel));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, found));
    assert_int_equal(value, 70000);
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 4, 1, 1, 0, NULL, (void *[]){&there}, NULL));
    OK(cuMemcpyDtoH(&value, there, 4));
    assert_int_equal(value, 17);
    OK(cuCtxDestroy(other));
    OK(cuMemcpyDtoH(&value, here, 4));
    assert_int_equal(value, 7);
    OK(cuLibraryUnload(library));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&found, kernel));
}

static void returns_a_module_s_memory(void **state) {
    char *text = kernels_text();
    size_t before, after, total;
    CUmodule loaded;

    (void)state;
    OK(cuMemGetInfo(&before, &total));
    for (int i = 0; i < 50; i++) {
        OK(cuModuleLoadData(&loaded, text));
        OK(cuModuleUnload(loaded));
    }
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before);
    free(text);
}

static const char managed[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 five = 5;\n"
    ".visible .global .align 4 .u32 plain = 6;\n"
    ".visible .global .attribute(.managed) .align 8 .u64 table[3] = {1, 2};\n"
    ".visible .entry add() {\n .reg .u32 %r<2>;\n ld.global.u32 %r1, [five];\n"
    " add.u32 %r1, %r1, 2;\n st.global.u32 [five], %r1;\n ret;\n}\n";

static int *managed_int(CUmodule m, const char *name) {
    CUdeviceptr p;
    size_t bytes;

    OK(cuModuleGetGlobal(&p, &bytes, m, name));
    return (int *)p;
}

static void add_two(CUmodule m) {
    CUfunction f;

    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

static void has_managed_variables(void **state) {
    unsigned type, is_managed;
    CUmodule first, second;
    int *five;

    (void)state;
    OK(cuModuleLoadData(&first, managed));
    OK(cuModuleLoadData(&second, managed));
    five = managed_int(first, "five");
    assert_int_equal(*five, 5);
    assert_int_equal(managed_int(first, "table")[2], 2);
    *five = 20;
    add_two(first);
    assert_int_equal(*five, 22);
    assert_int_equal(*managed_int(second, "five"), 5);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)five));
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)five));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_int_equal(is_managed, 1);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree((CUdeviceptr)five));
    OK(cuModuleUnload(first));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)five));
    OK(cuModuleUnload(second));
}

/* All contexts have the same, also when the one that was first is gone. */
static void shares_a_library_s_managed_variables(void **state) {
    CUdeviceptr here, there;
    CUcontext other;
    CUlibrary library;
    CUkernel kernel;

    (void)state;
    OK(cuLibraryLoadData(&library, managed, NULL, NULL, 0, NULL, NULL, 0));
    FAILS(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&here, NULL, library, "plain"));
    FAILS(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&here, NULL, library, "nothing"));
    OK(cuLibraryGetKernel(&kernel, library, "add"));
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuLibraryGetManaged(&there, NULL, library, "five"));
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxDestroy(other));
    OK(cuLibraryGetManaged(&here, NULL, library, "five"));
    assert_int_equal(here, there);
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(*(int *)here, 9);
    OK(cuLibraryUnload(library));
}

/* Takes out what asks the driver for addresses, and puts others there. */
static void bind(char *cubin, void *const *addresses) {
    Elf64_Ehdr *head = (Elf64_Ehdr *)cubin;
    Elf64_Shdr *s = (Elf64_Shdr *)(cubin + head->e_shoff);

    for (int i = 0; i < head->e_shnum; i++)
        if (s[i].sh_type == SHT_RELA) {
            memcpy(cubin + s[s[i].sh_info].sh_offset, addresses, s[s[i].sh_info].sh_size);
            s[i].sh_size = 0;
        }
}

static void loads_machine_code_of_its_own(void **state) {
    CUlinkState linker;
    CUmodule loaded;
    void *cubin, *all;
    char *bound;
    size_t size;
    int *mine;

    (void)state;
    OK(cuLinkCreate(0, NULL, NULL, &linker));
    OK(cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)managed, sizeof(managed), "text", 0, NULL,
                     NULL));
    OK(cuLinkComplete(linker, &cubin, &size));
    OK(cuModuleLoadData(&loaded, cubin));
    add_two(loaded);
    assert_int_equal(*managed_int(loaded, "five"), 7);
    OK(cuModuleUnload(loaded));
    OK(cuMemHostAlloc(&all, 64, 0));
    mine = all;
    mine[0] = 30;
    bound = malloc(size);
    memcpy(bound, cubin, size);
    bind(bound, (void *[]){mine, mine + 2});
    OK(cuModuleLoadData(&loaded, bound));
    assert_ptr_equal(managed_int(loaded, "five"), mine);
    assert_ptr_equal(managed_int(loaded, "table"), mine + 2);
    add_two(loaded);
    assert_int_equal(mine[0], 32);
    assert_int_equal(mine[2], 0); /* what it begins with is for others to say */
    OK(cuModuleUnload(loaded));
    assert_int_equal(mine[0], 32);
    ((Elf64_Ehdr *)bound)->e_shnum--;
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&loaded, bound));
    free(bound);
    OK(cuMemFreeHost(all));
    OK(cuLinkDestroy(linker));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(finds_functions),
        TEST(finds_globals),
        TEST(refuses_bad_images),
        TEST(loads_files),
        TEST(gives_each_context_a_library_s_module),
        TEST(returns_a_module_s_memory),
        TEST(has_managed_variables),
        TEST(shares_a_library_s_managed_variables),
        TEST(loads_machine_code_of_its_own),
    };

    return cmocka_run_group_tests_name("module", tests, start, NULL);
}
