// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of the machine code's ELF: bit 2 of a symbol's st_other marks a managed variable;
 * relocations 2 and 4 write an address of 64 bits, 56 and 57 its lower and upper half into the
 * second word of an instruction. Seen in what nvcc 13 makes for sm_75 to sm_120.
 */
#include "cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

#define OTHER_MANAGED 4
#define ALIGNMENT 256u
/* No more than that is one block. */
#define BLOCK_MAX ((uint64_t)1 << 36)

enum { ADDRESS = 2, GENERIC_ADDRESS = 4, LOWER_HALF = 56, UPPER_HALF = 57 };

struct code {
    uint8_t *data;
    size_t size;
    Elf64_Ehdr head;
    unsigned int symtab; /* section */
    Elf64_Shdr symbols, strings;
    unsigned int count; /* of symbols */
    uint64_t *place;    /* of each: 1 + offset in the block; 0: not managed */
    uint64_t block;
};

/* A section that lies in the image, or takes none of it. */
static bool get_section(const struct code *c, unsigned int index, Elf64_Shdr *s) {
    uint64_t at = c->head.e_shoff + (uint64_t)index * sizeof(*s);

    if (index >= c->head.e_shnum || at > c->size || c->size - at < sizeof(*s))
        return false;
    memcpy(s, c->data + at, sizeof(*s));
    return s->sh_type == SHT_NOBITS ||
           (s->sh_offset <= c->size && s->sh_size <= c->size - s->sh_offset);
}

static void put_section(struct code *c, unsigned int index, const Elf64_Shdr *s) {
    memcpy(c->data + c->head.e_shoff + (uint64_t)index * sizeof(*s), s, sizeof(*s));
}

/* A text of a section of texts; NULL if it does not end in there. */
static const char *text_at(const struct code *c, const Elf64_Shdr *texts, uint64_t at) {
    if (texts->sh_type != SHT_STRTAB || at >= texts->sh_size ||
        !memchr(c->data + texts->sh_offset + at, 0, texts->sh_size - at))
        return NULL;
    return (const char *)c->data + texts->sh_offset + at;
}

static Elf64_Sym get_symbol(const struct code *c, unsigned int index) {
    Elf64_Sym s;

    memcpy(&s, c->data + c->symbols.sh_offset + index * sizeof(s), sizeof(s));
    return s;
}

/* Whether a symbol is a managed variable, which lies in its section. */
static bool is_managed(const struct code *c, const Elf64_Sym *s, Elf64_Shdr *section) {
    return ELF64_ST_TYPE(s->st_info) == STT_OBJECT && s->st_other & OTHER_MANAGED && s->st_size &&
           s->st_shndx != SHN_UNDEF && get_section(c, s->st_shndx, section) &&
           s->st_value <= section->sh_size && s->st_size <= section->sh_size - s->st_value;
}

/* What a variable is aligned to at most, where it lies in its section. */
static uint64_t alignment(uint64_t value) {
    uint64_t lowest = value & -value;

    return lowest && lowest < ALIGNMENT ? lowest : ALIGNMENT;
}

static CUresult place_all(struct code *c) {
    for (unsigned int i = 0; i < c->count; i++) {
        Elf64_Sym s = get_symbol(c, i);
        Elf64_Shdr section;
        uint64_t at;

        if (!is_managed(c, &s, &section))
            continue;
        at = (c->block + alignment(s.st_value) - 1) & -alignment(s.st_value);
        if (s.st_size > BLOCK_MAX || at > BLOCK_MAX - s.st_size)
            return CUDA_ERROR_INVALID_IMAGE;
        c->place[i] = at + 1;
        c->block = at + s.st_size;
    }
    return CUDA_SUCCESS;
}

/* Finds the symbols, and gives the managed ones their places. close_code() in any case. */
static CUresult open_code(struct code *c, const void *cubin, size_t size) {
    struct cuda_image image;

    *c = (struct code){.data = (uint8_t *)cubin, .size = size};
    if (cuda_image_measure(cubin, size, &image) != CUDA_SUCCESS || image.kind != CUDA_IMAGE_CUBIN)
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&c->head, cubin, sizeof(c->head));
    if (c->head.e_shentsize != sizeof(Elf64_Shdr))
        return CUDA_ERROR_INVALID_IMAGE;
    while (c->symtab < c->head.e_shnum &&
           !(get_section(c, c->symtab, &c->symbols) && c->symbols.sh_type == SHT_SYMTAB))
        c->symtab++;
    if (c->symtab == c->head.e_shnum)
        return CUDA_SUCCESS;
    if (!get_section(c, c->symbols.sh_link, &c->strings))
        return CUDA_ERROR_INVALID_IMAGE;
    c->count = (unsigned int)(c->symbols.sh_size / sizeof(Elf64_Sym));
    c->place = calloc(c->count + 1ul, sizeof(*c->place));
    return c->place ? place_all(c) : CUDA_ERROR_OUT_OF_MEMORY;
}

static void close_code(struct code *c) {
    free(c->place);
}

static CUresult make_list(const struct code *c, struct cuda_managed *list, unsigned int *count) {
    for (unsigned int i = 0; i < c->count; i++) {
        Elf64_Sym s = get_symbol(c, i);
        const char *name = text_at(c, &c->strings, s.st_name);

        if (!c->place[i])
            continue;
        if (!name)
            return CUDA_ERROR_INVALID_IMAGE;
        list[(*count)++] = (struct cuda_managed){name, c->place[i] - 1, s.st_size};
    }
    return CUDA_SUCCESS;
}

CUresult cuda_managed_list(const void *cubin, size_t size, struct cuda_managed **list,
                           unsigned int *count, uint64_t *block) {
    struct code c;
    CUresult r = open_code(&c, cubin, size);

    *list = NULL;
    *count = 0;
    *block = c.block;
    if (r == CUDA_SUCCESS)
        *list = calloc(c.count + 1ul, sizeof(**list));
    if (r == CUDA_SUCCESS)
        r = *list ? make_list(&c, *list, count) : CUDA_ERROR_OUT_OF_MEMORY;
    close_code(&c);
    if (r == CUDA_SUCCESS)
        return r;
    free(*list);
    *list = NULL;
    return r;
}

/* Writes an address where a relocation wants it. */
static bool relocate(struct code *c, const Elf64_Shdr *target, const Elf64_Rela *r, bool addend,
                     uint64_t address) {
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), half;
    uint8_t *at = c->data + target->sh_offset + r->r_offset;
    uint64_t there;

    if (target->sh_type == SHT_NOBITS || r->r_offset > target->sh_size ||
        target->sh_size - r->r_offset < 8)
        return false;
    switch (type) {
    case ADDRESS:
    case GENERIC_ADDRESS:
        memcpy(&there, at, sizeof(there));
        address += addend ? (uint64_t)r->r_addend : there;
        memcpy(at, &address, sizeof(address));
        return true;
    case LOWER_HALF:
    case UPPER_HALF:
        if (!addend)
            return false;
        address += (uint64_t)r->r_addend;
        half = (uint32_t)(type == LOWER_HALF ? address : address >> 32);
        memcpy(at + 4, &half, sizeof(half));
        return true;
    default:
        return false;
    }
}

static bool holds_variables(const struct code *c, unsigned int section) {
    for (unsigned int i = 0; i < c->count; i++) {
        if (c->place[i] && get_symbol(c, i).st_shndx == section)
            return true;
    }
    return false;
}

/* What a variable begins with must be known before the driver looks at it. */
static bool hits_variable(const struct code *c, unsigned int section, uint64_t offset) {
    for (unsigned int i = 0; i < c->count; i++) {
        Elf64_Sym s = get_symbol(c, i);

        if (c->place[i] && s.st_shndx == section && offset < s.st_value + s.st_size &&
            offset + 8 > s.st_value)
            return true;
    }
    return false;
}

/* Carries out what refers to managed variables, and takes it out of the list. */
static bool relocate_all(struct code *c, unsigned int index, Elf64_Shdr *list,
                         const Elf64_Shdr *target, uint64_t base) {
    size_t entry = list->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    bool holds = holds_variables(c, list->sh_info);
    uint8_t *from = c->data + list->sh_offset, *to = from,
            *end = from + list->sh_size / entry * entry;

    for (; from < end; from += entry) {
        Elf64_Rela r = {0};
        uint64_t symbol;

        memcpy(&r, from, entry);
        symbol = ELF64_R_SYM(r.r_info);
        if (symbol < c->count && c->place[symbol]) {
            if (!relocate(c, target, &r, list->sh_type == SHT_RELA, base + c->place[symbol] - 1))
                return false;
            continue;
        }
        if (holds && hits_variable(c, list->sh_info, r.r_offset))
            return false;
        memmove(to, from, entry);
        to += entry;
    }
    list->sh_size = (uint64_t)(to - (c->data + list->sh_offset));
    put_section(c, index, list);
    return true;
}

/* Debuggers are told of the driver's variables. */
static bool for_debuggers(const struct code *c, const Elf64_Shdr *target) {
    Elf64_Shdr names;
    const char *name = NULL;

    if (get_section(c, c->head.e_shstrndx, &names))
        name = text_at(c, &names, target->sh_name);
    return name && (!strncmp(name, ".debug", 6) || !strncmp(name, ".nv_debug", 9));
}

static CUresult bind_all(struct code *c, uint64_t base) {
    for (unsigned int i = 0; i < c->head.e_shnum; i++) {
        Elf64_Shdr list, target;

        if (!get_section(c, i, &list) || (list.sh_type != SHT_RELA && list.sh_type != SHT_REL) ||
            list.sh_link != c->symtab)
            continue;
        if (!get_section(c, list.sh_info, &target))
            return CUDA_ERROR_INVALID_IMAGE;
        if (!for_debuggers(c, &target) && !relocate_all(c, i, &list, &target, base))
            return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

/* A relocation may have changed the table of symbols itself: everything is checked again. */
static bool fill_block(const struct code *c, uint8_t *base) {
    memset(base, 0, c->block);
    for (unsigned int i = 0; i < c->count; i++) {
        Elf64_Sym s = get_symbol(c, i);
        Elf64_Shdr section;

        if (!c->place[i])
            continue;
        if (!is_managed(c, &s, &section) || s.st_size > c->block - (c->place[i] - 1))
            return false;
        if (section.sh_type != SHT_NOBITS)
            memcpy(base + c->place[i] - 1, c->data + section.sh_offset + s.st_value, s.st_size);
    }
    return true;
}

CUresult cuda_managed_bind(void *cubin, size_t size, void *base, uint64_t block) {
    struct code c;
    CUresult r = open_code(&c, cubin, size);

    if (r == CUDA_SUCCESS && c.block > block)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && c.block)
        r = bind_all(&c, (uint64_t)base);
    if (r == CUDA_SUCCESS && !fill_block(&c, base))
        r = CUDA_ERROR_INVALID_IMAGE;
    close_code(&c);
    return r;
}
