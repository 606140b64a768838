// SPDX-License-Identifier: Apache-2.0
#include "cuda.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>

#include "vcuda.h"

struct wanted {
    const char *name;
    size_t offset;
};

static const char *open_all(const char *library, const struct wanted *wanted, size_t count,
                            void *functions) {
    char path[PATH_MAX];
    void *opened;

    if (!library_path(library, path, sizeof(path)))
        return "it is neither beside vcuda nor in ../lib/vcuda";
    opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        return dlerror();
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(opened, wanted[i].name);

        if (!found)
            return dlerror();
        *(void **)((char *)functions + wanted[i].offset) = found;
    }
    return NULL;
}

const char *cuda_open(struct cuda *c) {
#define X(name) {#name, offsetof(struct cuda, name)},
    static const struct wanted wanted[] = {CUDA_USED(X)};
#undef X

    return open_all("libcuda.so.1", wanted, sizeof(wanted) / sizeof(wanted[0]), c);
}

const char *nvml_open(struct nvml *n) {
#define X(name) {#name, offsetof(struct nvml, name)},
    static const struct wanted wanted[] = {NVML_USED(X)};
#undef X

    return open_all("libnvidia-ml.so.1", wanted, sizeof(wanted) / sizeof(wanted[0]), n);
}

const char *cuda_name(const struct cuda *c, CUresult r) {
    const char *name = NULL;

    return c->cuGetErrorName(r, &name) == CUDA_SUCCESS ? name : "an unknown error";
}
