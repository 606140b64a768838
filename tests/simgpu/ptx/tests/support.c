// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <pthread.h>

#define MAX_ALLOCS 256

static struct {
    char *base;
    size_t size;
} allocs[MAX_ALLOCS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

char message[256];
char printed[8192];

static bool find(uint64_t addr, uint64_t *base, uint64_t *size) {
    bool found = false;

    pthread_mutex_lock(&lock);
    for (int k = 0; k < MAX_ALLOCS && !found; k++) {
        uint64_t start = (uint64_t)(uintptr_t)allocs[k].base;
        if (!start || addr - start >= allocs[k].size)
            continue;
        *base = start;
        *size = allocs[k].size;
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static bool dev_range(void *opaque, uint64_t addr, uint64_t *base, uint64_t *size) {
    (void)opaque;
    return find(addr, base, size);
}

static void *dev_resolve(void *opaque, uint64_t addr, size_t len) {
    uint64_t base, size;
    (void)opaque;
    if (!find(addr, &base, &size) || size - (addr - base) < len)
        return NULL;
    return (void *)(uintptr_t)addr;
}

static uint64_t alloc(void *opaque, size_t size, size_t align) {
    uint64_t result = 0;
    (void)opaque;
    if (size > 1u << 30)
        return 0;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < MAX_ALLOCS && !result; k++) {
        if (allocs[k].base)
            continue;
        void *p = NULL;
        if (posix_memalign(&p, align < 16 ? 16 : align, size ? size : 1))
            break;
        memset(p, 0, size);
        allocs[k].base = p;
        allocs[k].size = size;
        result = (uint64_t)(uintptr_t)p;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void release(void *opaque, uint64_t addr) {
    (void)opaque;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < MAX_ALLOCS; k++)
        if (addr && (uint64_t)(uintptr_t)allocs[k].base == addr) {
            free(allocs[k].base);
            allocs[k].base = NULL;
        }
    pthread_mutex_unlock(&lock);
}

const struct ptx_memory device = {
    .resolve = dev_resolve, .range = dev_range, .alloc = alloc, .free = release};

void *dev_alloc(size_t size) {
    return (void *)(uintptr_t)alloc(NULL, size, 256);
}

size_t dev_live(void) {
    size_t n = 0;
    for (int k = 0; k < MAX_ALLOCS; k++)
        n += allocs[k].base != NULL;
    return n;
}

void dev_reset(void) {
    for (int k = 0; k < MAX_ALLOCS; k++)
        release(NULL, (uint64_t)(uintptr_t)allocs[k].base);
}

static struct ptx_module *load(const char *text, size_t len) {
    struct ptx_module *m;
    char log[256];
    enum ptx_status s = ptx_module_load(text, len, &device, &m, log, sizeof(log));
    if (s != PTX_OK)
        fail_msg("load: %s: %s", ptx_status_name(s), log);
    return m;
}

struct ptx_module *load_text(const char *text) {
    return load(text, strlen(text));
}

struct ptx_module *load_file(const char *name) {
    char path[512];
    const char *dir = getenv("PTX_DIR");

    snprintf(path, sizeof(path), "%s/%s", dir ? dir : "tests", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    size_t cap = 4 << 20;
    char *text = malloc(cap);
    size_t len = fread(text, 1, cap, f);
    fclose(f);
    struct ptx_module *m = load(text, len);
    free(text);
    return m;
}

struct ptx_module *load_body(const char *body) {
    static const char head[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 p_out, .param .u64 p_in)\n{\n"
        ".reg .pred %p<32>;\n.reg .b16 %rs<32>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n"
        ".reg .f32 %f<32>;\n.reg .f64 %fd<32>;\n.reg .b64 %out, %in;\n"
        "ld.param.u64 %out, [p_out];\nld.param.u64 %in, [p_in];\nmov.u32 %r0, %tid.x;\n";
    size_t size = sizeof(head) + strlen(body) + 16;
    char *text = malloc(size);
    snprintf(text, size, "%s%s\nret;\n}\n", head, body);
    struct ptx_module *m = load_text(text);
    free(text);
    return m;
}

static void print(void *opaque, const char *text, size_t n, bool complaint) {
    size_t old = strlen(printed);
    (void)opaque;
    (void)complaint;
    if (n > sizeof(printed) - 1 - old)
        n = sizeof(printed) - 1 - old;
    memcpy(printed + old, text, n);
    printed[old + n] = '\0';
}

void run_kernel(struct ptx_module *m, const char *name, struct run r, ...) {
    struct ptx_func *f = ptx_module_function(m, name);
    struct ptx_func_info info;
    char params[4096];
    va_list ap;

    if (!f)
        fail_msg("no kernel %s", name);
    ptx_func_info(f, &info);
    va_start(ap, r);
    for (unsigned k = 0; k < info.param_count; k++) {
        const void *p = va_arg(ap, const void *);
        size_t size = va_arg(ap, size_t), offset, want;
        assert_true(ptx_func_param(f, k, &offset, &want));
        assert_int_equal(size, want);
        memcpy(params + offset, p, size);
    }
    va_end(ap);
    struct ptx_launch launch = {
        .grid = {r.grid, r.grid_y ? r.grid_y : 1, 1},
        .block = {r.block, r.block_y ? r.block_y : 1, 1},
        .cluster = {r.cluster_x, r.cluster_y, r.cluster_x ? 1 : 0},
        .dynamic_shared = r.shared,
        .params = params,
        .cancel = r.cancel,
        .print = print,
        .cooperative = r.cooperative,
        .threads = r.threads,
    };
    printed[0] = '\0';
    enum ptx_status s = ptx_launch_run(f, &launch, message, sizeof(message));
    if (s != r.expect)
        fail_msg("%s: %s instead of %s: %s", name, ptx_status_name(s), ptx_status_name(r.expect),
                 message);
}
