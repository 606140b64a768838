// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <string.h>

#include "checks.h"
#include "cuda.h"
#include "report.h"

#define WORDS 65536u
#define PATTERN 0x5ca1ab1eu

static struct cuda cuda;

/* Reports a call that failed: whether it did not. */
static bool good(CUresult r, const char *call) {
    if (r == CUDA_SUCCESS)
        return true;
    report_problem("journalctl -u vcudad where the GPU is", "%s: %s", call, cuda_name(&cuda, r));
    return false;
}

static const char *remedy_of(CUresult r) {
    switch (r) {
    case CUDA_ERROR_NO_DEVICE:
        return "what stands above; or the host's own driver: nvidia-smi and cat /run/vcuda/status "
               "there";
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return "systemctl start vcudad where the GPU is, and look at its log";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "install the same version of vcuda here and where the GPU is";
    case CUDA_ERROR_OPERATING_SYSTEM:
        return "permissions: what stands above";
    case CUDA_ERROR_OUT_OF_MEMORY:
        return "a limit: vcudactl info DOMAIN, or vcudad --max-local-sessions; end programs or "
               "raise it";
    default:
        return "journalctl -u vcudad where the GPU is";
    }
}

static bool check_session(void) {
    const char *why = cuda_open(&cuda);
    int version = 0;
    CUresult r;

    if (why) {
        report_problem("install vcuda anew", "libcuda.so.1: %s", why);
        return false;
    }
    r = cuda.cuInit(0);
    if (r != CUDA_SUCCESS) {
        report_problem(remedy_of(r), "no session: %s", cuda_name(&cuda, r));
        return false;
    }
    cuda.cuDriverGetVersion(&version);
    report_ok("the helper answers and speaks our version; the host's driver is of CUDA %d.%d",
              version / 1000, version % 1000 / 10);
    return true;
}

static bool check_devices(void) {
    char name[256] = "";
    int count = 0;
    CUcontext context;

    if (!good(cuda.cuDeviceGetCount(&count), "cuDeviceGetCount"))
        return false;
    for (CUdevice d = 0; d < count; d++) {
        cuda.cuDeviceGetName(name, sizeof(name), d);
        report_ok("device %d is %s", d, name);
    }
    return good(cuda.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain") &&
           good(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

static bool holds_pattern(const uint32_t *words, uint32_t pattern) {
    for (uint32_t i = 0; i < WORDS; i++) {
        if (words[i] != pattern)
            return false;
    }
    return true;
}

/* The GPU writes into pinned memory in both ways: by a copy, and by its own stores. */
static void write_pattern(uint32_t *pinned, CUdeviceptr device, CUdeviceptr mapped) {
    memset(pinned, 0, 4 * WORDS);
    if (!good(cuda.cuMemsetD32_v2(device, PATTERN, WORDS), "cuMemsetD32") ||
        !good(cuda.cuMemcpyDtoH_v2(pinned, device, 4 * WORDS), "cuMemcpyDtoH"))
        return;
    if (holds_pattern(pinned, PATTERN))
        report_ok("what the GPU copies arrives in pinned memory");
    else
        report_problem("report this", "what the GPU copies does not arrive in pinned memory");
    if (cuda.cuMemsetD32_v2(mapped, ~PATTERN, WORDS) != CUDA_SUCCESS ||
        cuda.cuCtxSynchronize() != CUDA_SUCCESS) {
        report_note("the GPU cannot store to pinned memory: kernels may not use it directly");
    } else if (holds_pattern(pinned, ~PATTERN)) {
        report_ok("what the GPU stores arrives in pinned memory");
    } else {
        report_problem("report this", "what the GPU stores does not arrive in pinned memory");
    }
}

static void check_memory(void) {
    CUdeviceptr device = 0, mapped = 0;
    void *pinned = NULL;

    if (!good(cuda.cuMemAlloc_v2(&device, 4 * WORDS), "cuMemAlloc"))
        return;
    if (good(cuda.cuMemHostAlloc(&pinned, 4 * WORDS, CU_MEMHOSTALLOC_DEVICEMAP),
             "cuMemHostAlloc")) {
        if (good(cuda.cuMemHostGetDevicePointer_v2(&mapped, pinned, 0),
                 "cuMemHostGetDevicePointer"))
            write_pattern(pinned, device, mapped);
        cuda.cuMemFreeHost(pinned);
    }
    cuda.cuMemFree_v2(device);
}

/* Each of 32 threads stores its number. */
static const char kernel[] = ".version 6.4\n.target sm_50\n.address_size 64\n"
                             ".visible .entry number(.param .u64 out) {\n"
                             "  .reg .b32 %r<2>; .reg .b64 %a<4>;\n"
                             "  ld.param.u64 %a0, [out];\n"
                             "  cvta.to.global.u64 %a1, %a0;\n"
                             "  mov.u32 %r0, %tid.x;\n"
                             "  mul.wide.u32 %a2, %r0, 4;\n"
                             "  add.s64 %a3, %a1, %a2;\n"
                             "  st.global.u32 [%a3], %r0;\n"
                             "  ret;\n"
                             "}\n";

static bool run_kernel(CUdeviceptr out, uint32_t numbers[32]) {
    void *parameters[] = {&out};
    CUfunction f;
    CUmodule m;

    return good(cuda.cuModuleLoadData(&m, kernel), "cuModuleLoadData") &&
           good(cuda.cuModuleGetFunction(&f, m, "number"), "cuModuleGetFunction") &&
           good(cuda.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL),
                "cuLaunchKernel") &&
           good(cuda.cuMemcpyDtoH_v2(numbers, out, 32 * 4), "cuMemcpyDtoH");
}

static void check_kernel(void) {
    uint32_t numbers[32] = {0};
    CUdeviceptr out;
    bool right = true;

    if (!good(cuda.cuMemAlloc_v2(&out, sizeof(numbers)), "cuMemAlloc"))
        return;
    if (run_kernel(out, numbers)) {
        for (uint32_t i = 0; i < 32; i++)
            right = right && numbers[i] == i;
        if (right)
            report_ok("a kernel runs, and its results are right");
        else
            report_problem("report this", "a kernel runs, but its results are wrong");
    }
    cuda.cuMemFree_v2(out);
}

static void check_nvml(void) {
    struct nvml nvml;
    char version[NVML_SYSTEM_VERSION_BUFFER_SIZE];
    const char *why = nvml_open(&nvml);
    nvmlReturn_t r;

    if (why) {
        report_problem("install vcuda anew", "libnvidia-ml.so.1: %s", why);
        return;
    }
    r = nvml.nvmlInit_v2();
    if (r != NVML_SUCCESS) {
        report_problem("a limit on sessions: what stands above", "NVML does not start: %s",
                       nvml.nvmlErrorString(r));
        return;
    }
    if (nvml.nvmlSystemGetDriverVersion(version, sizeof(version)) == NVML_SUCCESS)
        report_ok("NVML answers; the host's driver is %s", version);
    else
        report_note("NVML answers, but the host has none of its own: no sensors are shown");
    nvml.nvmlShutdown();
}

void check_gpu(void) {
    if (!check_session() || !check_devices())
        return;
    check_memory();
    check_kernel();
    check_nvml();
}
