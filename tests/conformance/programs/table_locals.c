// SPDX-License-Identifier: Apache-2.0
/* The export table of values that are kept with contexts: wild contexts, several, their end. */
#include "common.h"

static CUcontext ended_context;
static void *ended_key, *ended_value;

static void ended(CUcontext c, void *key, void *value) {
    ended_context = c;
    ended_key = key;
    ended_value = value;
}

int main(void) {
    static const CUuuid name = {"\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93"};
    static char key, other, nowhere;
    CUcontext c = start(), second, popped;
    const void *const *t;
    void *value = NULL;

    CK(cuGetExportTable((const void **)&t, &name));
    CUresult (*put)(CUcontext, void *, void *, void (*)(CUcontext, void *, void *)) = (void *)t[0];
    CUresult (*end)(CUcontext, void *) = (void *)t[1];
    CUresult (*get)(void **, CUcontext, void *) = (void *)t[2];

    SHOW(put(c, &key, (void *)5, NULL));
    SHOW(put((CUcontext)-1, &nowhere, (void *)9, NULL));
    SHOW(end((CUcontext)-1, &nowhere));
    SHOW(end(c, &other));
    SHOW(end(c, &key));
    SHOW(get(&value, c, &key));
    CK(cuCtxCreate(&second, NULL, 0, 0));
    SHOW(put(NULL, &other, (void *)7, ended));
    SHOW(get(&value, second, &other));
    SHOW(get(&value, c, &other));
    CK(cuCtxPopCurrent(&popped));
    CK(cuCtxDestroy(second));
    printf("told of its end: %d %d %zu\n", ended_context == second, ended_key == &other,
           (size_t)ended_value);
    SHOW(put(NULL, &other, (void *)8, ended));
    CK(cuCtxSetCurrent(NULL));
    SHOW(get(&value, NULL, &other));
    CK(cuCtxSetCurrent(c));
    return 0;
}
