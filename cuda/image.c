// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <elf.h>
#include <string.h>

#define FATBIN_MAGIC 0xba55ed50u
#define WRAPPER_MAGIC 0x466243b1u

/* What nvcc puts into the data section of a program, and cudart passes on. */
struct fatbin_wrapper {
    uint32_t magic;
    uint32_t version;
    const void *fatbin;
    const void *unused;
};

struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_size;
    uint64_t body_size;
};

struct measure {
    const uint8_t *base;
    size_t limit; /* never above CUDA_IMAGE_MAX */
    size_t size;  /* bytes known to belong to the image */
};

/* Grows the image by the bytes [offset, offset + length); false if they are out of bounds. */
static bool cover(struct measure *m, uint64_t offset, uint64_t length) {
    if (offset > m->limit || length > m->limit - offset)
        return false;
    if (m->size < offset + length)
        m->size = offset + length;
    return true;
}

/* The same for a table of `count` entries, which is then read. */
static bool cover_table(struct measure *m, uint64_t offset, uint64_t count, size_t entry) {
    return count <= m->limit / entry && cover(m, offset, count * entry);
}

static bool cover_sections(struct measure *m, const Elf64_Ehdr *elf) {
    uint64_t count = elf->e_shnum;
    Elf64_Shdr section;

    if (elf->e_shoff == 0)
        return true;
    if (elf->e_shentsize != sizeof(section) || !cover(m, elf->e_shoff, sizeof(section)))
        return false;
    if (count == 0) { /* too many for 16 bits: section 0 tells */
        memcpy(&section, m->base + elf->e_shoff, sizeof(section));
        count = section.sh_size;
    }
    if (!cover_table(m, elf->e_shoff, count, sizeof(section)))
        return false;
    for (uint64_t i = 1; i < count; i++) {
        memcpy(&section, m->base + elf->e_shoff + i * sizeof(section), sizeof(section));
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
            !cover(m, section.sh_offset, section.sh_size))
            return false;
    }
    return true;
}

static bool cover_segments(struct measure *m, const Elf64_Ehdr *elf) {
    Elf64_Phdr segment;

    if (elf->e_phoff == 0 || elf->e_phnum == 0)
        return true;
    if (elf->e_phentsize != sizeof(segment) || elf->e_phnum == PN_XNUM ||
        !cover_table(m, elf->e_phoff, elf->e_phnum, sizeof(segment)))
        return false;
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        memcpy(&segment, m->base + elf->e_phoff + i * sizeof(segment), sizeof(segment));
        if (!cover(m, segment.p_offset, segment.p_filesz))
            return false;
    }
    return true;
}

static bool measure_elf(struct measure *m) {
    Elf64_Ehdr elf;

    if (!cover(m, 0, sizeof(elf)))
        return false;
    memcpy(&elf, m->base, sizeof(elf));
    return elf.e_ident[EI_CLASS] == ELFCLASS64 && elf.e_ident[EI_DATA] == ELFDATA2LSB &&
           elf.e_machine == EM_CUDA && cover_sections(m, &elf) && cover_segments(m, &elf);
}

static bool measure_fatbin(struct measure *m) {
    struct fatbin_header header;

    if (!cover(m, 0, sizeof(header)))
        return false;
    memcpy(&header, m->base, sizeof(header));
    return header.version == 1 && header.header_size >= sizeof(header) &&
           cover(m, 0, header.header_size) && cover(m, header.header_size, header.body_size);
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Skips blanks and comments; the text ends with a NUL. */
static const char *skip_blank(const char *s) {
    for (;;) {
        while (is_space(*s))
            s++;
        if (s[0] == '/' && s[1] == '/') {
            while (*s && *s != '\n')
                s++;
        } else if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");

            if (!end)
                return s + strlen(s);
            s = end + 2;
        } else {
            return s;
        }
    }
}

/* Anything that begins with a directive may be PTX; whether it is, its compiler decides. */
static bool measure_ptx(struct measure *m) {
    const char *text = (const char *)m->base;
    size_t length;

    if (m->limit == 0 || (!is_space(text[0]) && text[0] != '.' && text[0] != '/'))
        return false; /* before searching the end of what is no text */
    length = strnlen(text, m->limit);
    return length < m->limit && cover(m, 0, length + 1) && *skip_blank(text) == '.';
}

CUresult cuda_image_measure_text(const void *image, size_t limit, struct cuda_image *out) {
    const uint8_t *text = image;
    size_t most = limit < CUDA_IMAGE_MAX ? limit : CUDA_IMAGE_MAX, length;

    if (!most || text[0] == ELFMAG[0] || text[0] == (FATBIN_MAGIC & 0xff) ||
        text[0] == (WRAPPER_MAGIC & 0xff))
        return CUDA_ERROR_INVALID_IMAGE;
    length = strnlen(image, most);
    if (length == most)
        return CUDA_ERROR_INVALID_IMAGE;
    *out = (struct cuda_image){CUDA_IMAGE_PTX, image, length + 1};
    return CUDA_SUCCESS;
}

static CUresult measure_plain(const void *image, size_t limit, struct cuda_image *out) {
    struct measure m = {.base = image, .limit = limit < CUDA_IMAGE_MAX ? limit : CUDA_IMAGE_MAX};
    uint32_t magic = 0;
    bool good;

    /* A text may be shorter than a magic number: look at one byte before reading four. */
    if (m.limit >= sizeof(magic) && strchr("\x50\x7f", m.base[0]) && m.base[0])
        memcpy(&magic, image, sizeof(magic));
    if (magic == FATBIN_MAGIC) {
        out->kind = CUDA_IMAGE_FATBIN;
        good = measure_fatbin(&m);
    } else if (memcmp(&magic, ELFMAG, SELFMAG) == 0) {
        out->kind = CUDA_IMAGE_CUBIN;
        good = measure_elf(&m);
    } else {
        out->kind = CUDA_IMAGE_PTX;
        good = measure_ptx(&m);
    }
    if (!good)
        return CUDA_ERROR_INVALID_IMAGE;
    out->data = image;
    out->size = m.size;
    return CUDA_SUCCESS;
}

CUresult cuda_image_measure(const void *image, size_t limit, struct cuda_image *out) {
    struct fatbin_wrapper wrapper;
    const uint8_t *bytes = image;

    if (!image || !out)
        return CUDA_ERROR_INVALID_VALUE;
    if (limit != CUDA_IMAGE_UNBOUNDED || bytes[0] != (WRAPPER_MAGIC & 0xff))
        return measure_plain(image, limit, out);
    memcpy(&wrapper, image, sizeof(wrapper));
    if (wrapper.magic != WRAPPER_MAGIC || !wrapper.fatbin)
        return CUDA_ERROR_INVALID_IMAGE;
    return measure_plain(wrapper.fatbin, limit, out);
}
