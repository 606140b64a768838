// SPDX-License-Identifier: Apache-2.0
#include "kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file begins with; text and code follow. */
struct head {
    int32_t driver;
    uint32_t sm;
    uint64_t text_bytes;
    uint64_t code_bytes;
};

/* FNV-1a, by words. */
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

static struct head head_of(const struct kept_text *of, size_t code_bytes) {
    return (struct head){of->driver, of->sm, of->bytes, code_bytes};
}

uint64_t kept_key(const struct kept_text *of) {
    struct head head = head_of(of, 0);

    return hash(hash(0xcbf29ce484222325, &head, sizeof(head)), of->text, of->bytes);
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

int kept_write(const struct kept_text *of, const char *code, size_t code_bytes) {
    struct head head = head_of(of, code_bytes);
    int fd = memfd_create("vcuda-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    if (write_all(fd, &head, sizeof(head)) && write_all(fd, of->text, of->bytes) &&
        write_all(fd, code, code_bytes) &&
        !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
        return fd;
    close(fd);
    return -1;
}

/* Of a file of `bytes` bytes, which nobody can change any more. */
static bool take(const uint8_t *file, size_t bytes, const struct kept_text *of, char **code,
                 size_t *code_bytes) {
    size_t before_code = sizeof(struct head) + of->bytes;
    struct head wanted;

    if (bytes <= before_code)
        return false;
    *code_bytes = bytes - before_code;
    wanted = head_of(of, *code_bytes);
    if (memcmp(file, &wanted, sizeof(wanted)) != 0 ||
        memcmp(file + sizeof(wanted), of->text, of->bytes) != 0)
        return false;
    *code = malloc(*code_bytes);
    if (*code)
        memcpy(*code, file + before_code, *code_bytes);
    return *code;
}

bool kept_read(int fd, const struct kept_text *of, char **code, size_t *code_bytes) {
    struct stat st;
    void *file;
    bool taken;

    if (fstat(fd, &st) || st.st_size <= 0)
        return false;
    file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED)
        return false;
    taken = take(file, (size_t)st.st_size, of, code, code_bytes);
    munmap(file, (size_t)st.st_size);
    return taken;
}
