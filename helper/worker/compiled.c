// SPDX-License-Identifier: Apache-2.0
#include "compiled.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit.h"
#include "kept.h"
#include "log.h"
#include "machine.h"
#include "shared.h"
#include "worker.h"

static bool find(const struct kept_text *of, uint64_t key, char **code) {
    int fd = shared_code_get(key);
    size_t code_bytes;
    bool found;

    if (fd < 0)
        return false;
    found = kept_read(fd, of, code, &code_bytes);
    close(fd);
    return found;
}

/* For others; if it cannot be, they compile it again. */
static void keep(const struct kept_text *of, uint64_t key, const char *code, size_t code_bytes) {
    int fd = kept_write(of, code, code_bytes);

    if (fd < 0)
        return;
    shared_code_put(key, fd);
    close(fd);
}

/* The linker puts the code in the place of what it is given. */
static bool make(struct worker *w, const struct kept_text *of, uint64_t key, char **code) {
    CUcontext context = NULL;
    struct jit plain = {0};
    size_t size = of->bytes;

    w->driver.cuCtxGetCurrent(&context);
    *code = malloc(size + 1);
    if (!*code)
        return false;
    memcpy(*code, of->text, size);
    (*code)[size] = 0;
    if (machine_link(w, !context, &plain, code, &size) == CUDA_SUCCESS) {
        keep(of, key, *code, size);
        return true;
    }
    free(*code);
    return false;
}

bool compiled_code(struct worker *w, const struct cuda_image *image, char **code) {
    struct kept_text of = {.driver = w->driver_version};
    bool have, found, is_text;
    uint64_t key;
    char *text;

    if (!machine_architecture(w, -1, &of.sm) || !machine_is_text(image, of.sm) ||
        machine_choose(image, of.sm, &text, &of.bytes, &is_text) != CUDA_SUCCESS)
        return false;
    of.text = text;
    key = kept_key(&of);
    found = find(&of, key, code);
    have = found || make(w, &of, key, code);
    if (have)
        vcuda_log(VCUDA_LOG_DEBUG, "code of %zu bytes of text: %s", of.bytes,
                  found ? "kept" : "compiled");
    free(text);
    return have;
}
