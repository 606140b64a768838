// SPDX-License-Identifier: Apache-2.0
#include "compiled.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image.h"
#include "jit.h"
#include "log.h"
#include "machine.h"
#include "shared.h"
#include "worker.h"

/* What a kept file begins with; the text and its code follow. */
struct kept {
    int32_t driver; /* version */
    uint32_t sm;    /* architecture */
    uint64_t text_bytes;
    uint64_t code_bytes;
};

/* What is wanted, but for the code. */
struct wanted {
    struct kept head;
    const char *text;
};

/* FNV-1a, by words: what is found is compared. */
static uint64_t hash(uint64_t h, const void *bytes, size_t count) {
    const uint64_t prime = 0x100000001b3;
    uint64_t word = 0;

    for (size_t i = 0; i + 8 <= count; i += 8) {
        memcpy(&word, (const char *)bytes + i, 8);
        h = (h ^ word) * prime;
    }
    word = 0;
    memcpy(&word, (const char *)bytes + count / 8 * 8, count % 8);
    return (h ^ word) * prime;
}

static uint64_t key_of(const struct wanted *wanted) {
    uint64_t h = hash(0xcbf29ce484222325, &wanted->head, sizeof(wanted->head));

    return hash(h, wanted->text, wanted->head.text_bytes);
}

/* A copy of the code in a kept file, if it is that of this text; another worker wrote it. */
static bool take(const struct wanted *wanted, const uint8_t *file, size_t bytes, char **code) {
    const struct kept *want = &wanted->head;
    struct kept head;
    size_t before_code = sizeof(head) + want->text_bytes;

    if (bytes <= before_code)
        return false;
    memcpy(&head, file, sizeof(head));
    if (head.driver != want->driver || head.sm != want->sm || head.text_bytes != want->text_bytes ||
        head.code_bytes != bytes - before_code ||
        memcmp(file + sizeof(head), wanted->text, want->text_bytes) != 0)
        return false;
    *code = malloc(head.code_bytes);
    if (*code)
        memcpy(*code, file + before_code, head.code_bytes);
    return *code;
}

static bool find(const struct wanted *wanted, char **code) {
    int fd = shared_code_get(key_of(wanted));
    struct stat st;
    bool found = false;
    void *file;

    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && st.st_size > 0) {
        file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (file != MAP_FAILED) {
            found = take(wanted, file, (size_t)st.st_size, code);
            munmap(file, (size_t)st.st_size);
        }
    }
    close(fd);
    return found;
}

static bool write_all(int fd, const void *bytes, size_t count) {
    while (count) {
        ssize_t n = write(fd, bytes, count);

        if (n <= 0)
            return false;
        bytes = (const char *)bytes + n;
        count -= (size_t)n;
    }
    return true;
}

/* For others; if it cannot be, they compile it again. */
static void keep(const struct wanted *wanted, const char *code, size_t code_bytes) {
    struct kept head = wanted->head;
    int fd = memfd_create("vcuda-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return;
    head.code_bytes = code_bytes;
    if (write_all(fd, &head, sizeof(head)) && write_all(fd, wanted->text, head.text_bytes) &&
        write_all(fd, code, code_bytes) &&
        !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
        shared_code_put(key_of(wanted), fd);
    close(fd);
}

/* The linker puts the code in the place of what it is given. */
static bool make(struct worker *w, const struct wanted *wanted, char **code) {
    size_t size = wanted->head.text_bytes;
    CUcontext context = NULL;
    struct jit plain = {0};

    w->driver.cuCtxGetCurrent(&context);
    *code = malloc(size + 1);
    if (!*code)
        return false;
    memcpy(*code, wanted->text, size);
    (*code)[size] = 0;
    if (machine_link(w, !context, &plain, code, &size) == CUDA_SUCCESS) {
        keep(wanted, *code, size);
        return true;
    }
    free(*code);
    return false;
}

bool compiled_code(struct worker *w, const void *image, size_t bytes, char **code) {
    struct wanted wanted = {.head.driver = w->driver_version};
    struct cuda_image measured;
    bool have, found, is_text;
    size_t size;
    char *text;

    if (!machine_architecture(w, -1, &wanted.head.sm) ||
        cuda_image_measure(image, bytes, &measured) != CUDA_SUCCESS ||
        !machine_is_text(&measured, wanted.head.sm) ||
        machine_choose(&measured, wanted.head.sm, &text, &size, &is_text) != CUDA_SUCCESS)
        return false;
    wanted.text = text;
    wanted.head.text_bytes = size;
    found = find(&wanted, code);
    have = found || make(w, &wanted, code);
    if (have)
        vcuda_log(VCUDA_LOG_DEBUG, "code of %zu bytes of text: %s", size,
                  found ? "kept" : "compiled");
    free(text);
    return have;
}
