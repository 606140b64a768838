// SPDX-License-Identifier: Apache-2.0
#include "variables.h"

#include <ctype.h>
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

static uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b) {
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Values of an initializer, up to the end of its statement. */
static uint64_t values(const char *s) {
    uint64_t count = 1;

    for (; *s && *s != ';'; s++)
        count += *s == ',';
    return count;
}

/* Bytes of what is declared behind ".global": up to the end of the statement. */
static uint64_t declared(const char *s) {
    uint64_t element = 0, vector = 1, count = 1;

    for (; *s && *s != ';' && *s != '='; s++) {
        if (!strncmp(s, ".align", 6)) {
            s += 6;
            while (isspace((unsigned char)*s))
                s++;
            while (isdigit((unsigned char)s[0]) && isdigit((unsigned char)s[1]))
                s++;
        } else if (s[0] == '.' && s[1] == 'v' && isdigit((unsigned char)s[2])) {
            vector = (uint64_t)(s[2] - '0');
        } else if (s[0] == '.' && s[1] && strchr("busf", s[1]) && isdigit((unsigned char)s[2])) {
            element = strtoul(s + 2, NULL, 10) / 8;
        } else if (*s == '[') {
            bool given = strchr("0123456789", s[1]) && s[1];

            count = times(count, given ? strtoull(s + 1, NULL, 0) : values(s));
        } else if (*s == ',') { /* another of the same kind */
            return plus(times(times(element, vector), count), times(element, values(s)));
        }
        if (!*s)
            break;
    }
    return times(times(element, vector), count);
}

static uint64_t of_text(const char *text) {
    const char *at = text;
    uint64_t bytes = 0;

    while ((at = strstr(at, ".global"))) {
        /* Instructions have it inside a word. */
        bool begins = at == text || isspace((unsigned char)at[-1]) || at[-1] == ';';

        at += 7;
        if (begins && isspace((unsigned char)*at))
            bytes = plus(bytes, declared(at));
    }
    return bytes;
}

/* The image was measured: its table of sections is there. */
static uint64_t of_sections(const uint8_t *image, size_t size) {
    uint64_t bytes = 0;
    Elf64_Shdr names, s;
    Elf64_Ehdr elf;

    memcpy(&elf, image, sizeof(elf));
    if (!elf.e_shoff || elf.e_shstrndx >= elf.e_shnum)
        return 0;
    memcpy(&names, image + elf.e_shoff + elf.e_shstrndx * sizeof(names), sizeof(names));
    for (unsigned i = 1; i < elf.e_shnum; i++) {
        static const char prefix[] = ".nv.global";

        memcpy(&s, image + elf.e_shoff + i * sizeof(s), sizeof(s));
        if (s.sh_name < names.sh_size && names.sh_size - s.sh_name >= sizeof(prefix) &&
            names.sh_offset <= size && names.sh_size <= size - names.sh_offset &&
            !memcmp(image + names.sh_offset + s.sh_name, prefix, sizeof(prefix) - 1))
            bytes = plus(bytes, s.sh_size);
    }
    return bytes;
}

static uint64_t of_entry(const struct cuda_fatbin_entry *entry) {
    struct cuda_image part;
    uint64_t bytes = 0;
    char *plain;
    size_t size;

    if (cuda_fatbin_unpack(entry, &plain, &size) != CUDA_SUCCESS)
        return 0;
    if (entry->kind == CUDA_ENTRY_PTX)
        bytes = of_text(plain);
    else if (entry->kind == CUDA_ENTRY_CUBIN &&
             cuda_image_measure(plain, size, &part) == CUDA_SUCCESS &&
             part.kind == CUDA_IMAGE_CUBIN)
        bytes = of_sections((const uint8_t *)plain, size);
    free(plain);
    return bytes;
}

static uint64_t of_fatbin(const struct cuda_image *image) {
    struct cuda_fatbin_entry entry;
    struct cuda_fatbin_iter iter;
    uint64_t most = 0;

    if (cuda_fatbin_begin(image->data, image->size, &iter) != CUDA_SUCCESS)
        return 0;
    while (cuda_fatbin_next(&iter, &entry) == CUDA_SUCCESS) {
        uint64_t bytes = of_entry(&entry);

        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t variables_bytes(const struct cuda_image *image) {
    switch (image->kind) {
    case CUDA_IMAGE_PTX:
        return of_text(image->data);
    case CUDA_IMAGE_CUBIN:
        return of_sections(image->data, image->size);
    default:
        return of_fatbin(image);
    }
}
