// SPDX-License-Identifier: Apache-2.0
/* cuGetExportTable: the tables and slots by which cudart and its libraries start. */
#include "common.h"

KERNELS(basics);

static const void *const *table(const char *what, const char *id) {
    const void *t = NULL;
    CUuuid uuid;
    CUresult r;

    memcpy(uuid.bytes, id, sizeof(uuid.bytes));
    r = cuGetExportTable(&t, &uuid);
    printf("%s: %d %s\n", what, r, t ? "a table" : "none");
    if (r != CUDA_SUCCESS)
        exit(1);
    return t;
}

static size_t words(const void *const *t) {
    return (size_t)t[0] / sizeof(void *);
}

static void interface(void) {
    CK(cuInit(0));
    const void *const *t =
        table("interface", "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9");
    CUresult (*primary)(CUcontext *, CUdevice) = (void *)t[2];
    CUcontext a = NULL, b = NULL, c = NULL;
    unsigned int flags;
    CUdeviceptr p;
    int active = 7;

    printf("%zu words\n", words(t));
    SHOW(primary(&a, 0));
    SHOW(primary(&b, 0));
    SHOW(primary(&c, 99));
    SHOW(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("the same %d, active %d\n", a == b, active);
    SHOW(cuCtxSetCurrent(a));
    SHOW(cuMemAlloc(&p, 100));
    SHOW(cuCtxSynchronize());
    SHOW(cuDevicePrimaryCtxRetain(&c, 0));
    printf("retained is the same %d\n", a == c);
    SHOW(cuMemAlloc(&p, 100));
    SHOW(cuDevicePrimaryCtxRelease(0));
    SHOW(cuMemAlloc(&p, 100));
    SHOW(cuCtxGetCurrent(&c));
    printf("still current %d\n", a == c);
    SHOW(cuDevicePrimaryCtxRetain(&c, 0));
    printf("retained is the same %d\n", a == c);
    SHOW(cuMemAlloc(&p, 100));
}

static void hooks(void) {
    start();
    const void *const *t =
        table("hooks", "\xa0\x94\x79\x8c\x2e\x74\x2e\x74\x93\xf2\x08\x00\x20\x0c\x0a\x66");
    void *(*calls)(void **, size_t *) = (void *)t[2];
    void *(*domains)(void **, size_t *) = (void *)t[6];
    void *buffer = NULL;
    size_t n = 0;

    printf("%zu words\n", words(t));
    calls(&buffer, &n);
    printf("%s %zu\n", buffer ? "a buffer" : "none", n);
    domains(&buffer, &n);
    printf("%s %zu\n", buffer ? "a buffer" : "none", n);
}

static void locals(void) {
    CUcontext c = start();
    const void *const *t =
        table("locals", "\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93");
    CUresult (*put)(CUcontext, void *, void *, void (*)(CUcontext, void *, void *)) = (void *)t[0];
    CUresult (*get)(void **, CUcontext, void *) = (void *)t[2];
    static char key;
    void *value = NULL;

    SHOW(get(&value, c, &key));
    SHOW(put(c, &key, (void *)5, NULL));
    SHOW(put(c, &key, (void *)6, NULL));
    SHOW(get(&value, c, &key));
    SHOW(get(&value, NULL, &key));
    printf("value %zu\n", (size_t)value);
    SHOW(get(&value, (CUcontext)-1, &key));
}

static void checks(void) {
    CUcontext c = start();
    const void *const *t =
        table("checks", "\x26\x3e\x88\x60\x7c\xd2\x61\x43\x92\xf6\xbb\xd5\x00\x6d\xfa\x7e");
    CUresult (*check)(CUcontext, uint32_t *, void **) = (void *)t[2];
    uint32_t (*process)(void) = (void *)t[3];
    uint32_t flag = 7;
    void *third = &flag;

    printf("%zu words\n", words(t));
    SHOW(check(c, &flag, &third));
    printf("flag %u, third untouched %d, process %u\n", flag, third == &flag, process());
    t = table("tools", "\x42\xd8\x5a\x81\x23\xf6\xcb\x47\x82\x98\xf6\xe7\x8a\x3a\xec\xdc");
    CUresult (*current)(CUcontext *) = (void *)t[2];
    CUcontext now = NULL;
    printf("%zu words\n", words(t));
    SHOW(current(&now));
    printf("current %d\n", now == c);
}

static void integrity(void) {
    start();
    const void *const *t =
        table("integrity", "\xd4\x08\x20\x55\xbd\xe6\x70\x4b\x8d\x34\xba\x12\x3c\x66\xe1\xf2");
    CUresult (*check)(uint32_t, uint64_t, uint64_t *) = (void *)t[1];
    uint64_t digest[2][2];
    printf("%zu words\n", words(t));
    SHOW(check(13002, 1, digest[0]));
    SHOW(check(13002, 1, digest[1]));
    printf("the same %d\n", !memcmp(digest[0], digest[1], sizeof(digest[0])));
    SHOW(check(13002, 2, digest[1]));
    printf("the same %d\n", !memcmp(digest[0], digest[1], sizeof(digest[0])));
}

static int told;

static int tell(void *user, CUfunction f, const char *name) {
    told += user == &told && f && name[0];
    return 0;
}

static void streams(void) {
    CUcontext c = start();
    const void *const *t =
        table("streams", "\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2");
    CUresult (*context_id)(CUcontext, uint64_t *) = (void *)t[4];
    CUresult (*stream_id)(CUcontext, void *, uint64_t *) = (void *)t[39];
    CUresult (*private)(CUcontext, CUstream, void **, int) = (void *)t[51];
    unsigned long long public_id;
    uint64_t id = 0;
    CUstream s;
    void *p = NULL;

    printf("%zu words\n", words(t));
    SHOW(context_id(c, &id));
    CK(cuCtxGetId(c, &public_id));
    printf("as cuCtxGetId %d\n", id == public_id);
    CK(cuStreamCreate(&s, 0));
    SHOW(private(c, s, &p, 0));
    SHOW(stream_id(c, p, &id));
    CK(cuStreamGetId(s, &public_id));
    printf("as cuStreamGetId %d\n", id == public_id);
}

static void functions(void) {
    CUcontext c = start();
    CUmodule m = module(ptx_basics);
    const void *const *t =
        table("functions", "\x6e\x16\x3f\xbe\xb9\x58\x44\x4d\x83\x5c\xe1\x82\xaf\xf1\x99\x1e");
    int (*each)(CUcontext, CUmodule, int (*)(void *, CUfunction, const char *), void *) =
        (void *)t[7];
    printf("%zu words\n", words(t));
    SHOW(each(c, m, tell, &told));
    printf("told of %d functions\n", told);
}

static void topology(void) {
    start();
    const void *const *t =
        table("topology", "\x17\x34\xdc\x26\x80\x0d\x47\x45\x87\x26\xc0\xf1\xe7\xdd\x8b\xca");
    printf("%zu words\n", words(t));
}

static void before(void) {
    CUuuid unknown = {{1, 2, 3}};
    const void *t = &unknown;

    SHOW(cuGetExportTable(&t, &unknown));
    printf("%s\n", t ? "left as it was or set" : "none");
    SHOW(cuGetExportTable(NULL, &unknown));
    SHOW(cuGetExportTable(&t, NULL));
    table("before cuInit", "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9");
}

int main(void) {
    apart("before cuInit", before);
    apart("interface", interface);
    apart("hooks", hooks);
    apart("locals", locals);
    apart("checks", checks);
    apart("integrity", integrity);
    apart("streams", streams);
    apart("functions", functions);
    apart("topology", topology);
    return 0;
}
