// SPDX-License-Identifier: Apache-2.0
/*
 * The machine code of the simulated GPU: its text, in an ELF file as nvcc makes them. Managed
 * variables are symbols there as in a real GPU's, and what they begin with is a section; a table
 * has the address of each, in the order of the text, with a relocation that asks for it. Where
 * there is none the address is in the table, and is memory that others chose.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "sim.h"

#define OTHER_MANAGED 4 /* of a symbol */
#define ADDRESS 2       /* relocation: 64 bits */

enum { NONE, SYMBOLS, NAMES, RELOCATIONS, TABLE, VALUES, TEXT, SECTIONS };

static const char section_names[] = "\0.symtab\0.strtab\0.rela.simgpu.managed\0.simgpu.managed\0"
                                    ".nv.global.init\0.simgpu.text";
static const unsigned char name_at[SECTIONS] = {0, 1, 9, 17, 38, 54, 70};

struct variable {
    char *name;
    size_t size, align;
    void *value;
};

/* The managed variables of a text, with what they begin with. */
struct variables {
    struct variable *list;
    size_t count;
};

static uint64_t note(void *opaque, const char *name, size_t size, size_t align, bool *fresh) {
    struct variables *all = opaque;
    struct variable *more = realloc(all->list, (all->count + 1) * sizeof(*more));
    struct variable v = {strdup(name), size, align, calloc(1, size)};

    all->list = more ? more : all->list;
    if (!more || !v.name || !v.value) {
        free(v.name);
        free(v.value);
        return 0;
    }
    *fresh = true;
    all->list[all->count++] = v;
    return (uintptr_t)v.value;
}

static void forget(struct variables *all) {
    for (size_t i = 0; i < all->count; i++) {
        free(all->list[i].name);
        free(all->list[i].value);
    }
    free(all->list);
}

static size_t align_up(size_t value, size_t align) {
    return (value + align - 1) / align * align;
}

/* The file's parts, each of which is added at its end. */
struct file {
    char *data; /* NULL: out of memory */
    size_t size, room;
};

static size_t add(struct file *f, const void *bytes, size_t size, size_t align) {
    size_t at = align_up(f->size, align);

    if (f->data && at + size > f->room) {
        char *more = realloc(f->data, f->room = 2 * (at + size));

        if (!more)
            free(f->data);
        f->data = more;
    }
    if (!f->data)
        return 0;
    memset(f->data + f->size, 0, at - f->size);
    if (bytes)
        memcpy(f->data + at, bytes, size);
    else
        memset(f->data + at, 0, size);
    f->size = at + size;
    return at;
}

static void begin_section(struct file *f, Elf64_Shdr *s, int which, uint32_t type, size_t align) {
    s[which] = (Elf64_Shdr){.sh_name = name_at[which],
                            .sh_type = type,
                            .sh_offset = add(f, NULL, 0, align),
                            .sh_addralign = align};
}

static void end_section(const struct file *f, Elf64_Shdr *s, int which) {
    s[which].sh_size = f->size - s[which].sh_offset;
}

static void add_symbols(struct file *f, Elf64_Shdr *s, const struct variables *all) {
    size_t name = sizeof(section_names), value = 0;

    begin_section(f, s, SYMBOLS, SHT_SYMTAB, 8);
    s[SYMBOLS].sh_link = NAMES;
    s[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    add(f, NULL, sizeof(Elf64_Sym), 1);
    for (size_t i = 0; i < all->count; i++) {
        const struct variable *v = &all->list[i];

        value = align_up(value, v->align);
        add(f,
            &(Elf64_Sym){.st_name = (uint32_t)name,
                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                         .st_other = OTHER_MANAGED,
                         .st_shndx = VALUES,
                         .st_value = value,
                         .st_size = v->size},
            sizeof(Elf64_Sym), 1);
        name += strlen(v->name) + 1;
        value += v->size;
    }
    end_section(f, s, SYMBOLS);
}

static void add_names(struct file *f, Elf64_Shdr *s, const struct variables *all) {
    begin_section(f, s, NAMES, SHT_STRTAB, 1);
    add(f, section_names, sizeof(section_names), 1);
    for (size_t i = 0; i < all->count; i++)
        add(f, all->list[i].name, strlen(all->list[i].name) + 1, 1);
    end_section(f, s, NAMES);
}

static void add_table(struct file *f, Elf64_Shdr *s, const struct variables *all) {
    begin_section(f, s, RELOCATIONS, SHT_RELA, 8);
    s[RELOCATIONS].sh_link = SYMBOLS;
    s[RELOCATIONS].sh_info = TABLE;
    s[RELOCATIONS].sh_entsize = sizeof(Elf64_Rela);
    for (size_t i = 0; i < all->count; i++)
        add(f, &(Elf64_Rela){.r_offset = 8 * i, .r_info = ELF64_R_INFO(i + 1, ADDRESS)},
            sizeof(Elf64_Rela), 1);
    end_section(f, s, RELOCATIONS);
    begin_section(f, s, TABLE, SHT_PROGBITS, 8);
    add(f, NULL, 8 * all->count, 1);
    end_section(f, s, TABLE);
}

static void add_values(struct file *f, Elf64_Shdr *s, const struct variables *all) {
    begin_section(f, s, VALUES, SHT_PROGBITS, 4096);
    for (size_t i = 0; i < all->count; i++)
        add(f, all->list[i].value, all->list[i].size, all->list[i].align);
    end_section(f, s, VALUES);
}

static void assemble(struct file *f, const char *text, size_t size, const struct variables *all) {
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_machine = EM_CUDA,
                       .e_version = EV_CURRENT,
                       .e_ehsize = sizeof(Elf64_Ehdr),
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = SECTIONS,
                       .e_shstrndx = NAMES};
    Elf64_Shdr s[SECTIONS] = {0};

    f->data = malloc(f->room = 4096);
    add(f, NULL, sizeof(head), 1);
    add_symbols(f, s, all);
    add_names(f, s, all);
    add_table(f, s, all);
    add_values(f, s, all);
    begin_section(f, s, TEXT, SHT_PROGBITS, 8);
    add(f, text, size, 1);
    end_section(f, s, TEXT);
    head.e_shoff = add(f, s, sizeof(s), 8);
    if (f->data)
        memcpy(f->data, &head, sizeof(head));
}

CUresult sim_machine_make(const char *text, size_t size, char **cubin, size_t *bytes) {
    struct variables all = {0};
    struct ptx_memory memory = sim_scratch;
    struct ptx_module *module;
    struct file f = {0};
    enum ptx_status status;

    memory.managed = note;
    memory.opaque = &all;
    status = ptx_module_load(text, size, &memory, &module, NULL, 0);
    ptx_module_unload(module);
    if (status == PTX_OK)
        assemble(&f, text, size, &all);
    forget(&all);
    *cubin = f.data;
    *bytes = f.size;
    if (status != PTX_OK)
        return sim_status_error(status);
    return f.data ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Bytes of a section that is ours by its name; NULL: it is none, or does not lie in the image. */
static const char *find_section(const struct cuda_image *image, const Elf64_Shdr *s, int which) {
    const char *name = section_names + name_at[which], *base = image->data;

    if (s[NAMES].sh_offset > image->size ||
        image->size - s[NAMES].sh_offset < sizeof(section_names) ||
        s[which].sh_name > sizeof(section_names) - strlen(name) - 1 ||
        memcmp(base + s[NAMES].sh_offset + s[which].sh_name, name, strlen(name) + 1))
        return NULL;
    if (s[which].sh_offset > image->size || s[which].sh_size > image->size - s[which].sh_offset)
        return NULL;
    return base + s[which].sh_offset;
}

/* Where relocations are gone, the addresses in the table hold. */
static CUresult take_addresses(const struct cuda_image *image, const Elf64_Shdr *s,
                               struct sim_code *code) {
    const char *table = find_section(image, s, TABLE), *list = find_section(image, s, RELOCATIONS);
    size_t count = table ? s[TABLE].sh_size / 8 : 0;

    if (!table || !list)
        return CUDA_ERROR_INVALID_IMAGE;
    for (size_t i = 0; i < count; i++) {
        uint64_t address;

        memcpy(&address, table + 8 * i, sizeof(address));
        if (!sim_code_place(code, address))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= s[RELOCATIONS].sh_size;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;

        memcpy(&r, list + at, sizeof(r));
        if (r.r_offset / 8 < count)
            code->address[r.r_offset / 8] = 0;
    }
    return CUDA_SUCCESS;
}

CUresult sim_machine_read(const struct cuda_image *image, struct sim_code *code) {
    const char *text;
    Elf64_Shdr s[SECTIONS];
    Elf64_Ehdr head;

    memcpy(&head, image->data, sizeof(head));
    if (head.e_shnum != SECTIONS || head.e_shoff > image->size ||
        image->size - head.e_shoff < sizeof(s))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    memcpy(s, (const char *)image->data + head.e_shoff, sizeof(s));
    text = find_section(image, s, TEXT);
    if (!text) /* instructions of a real GPU */
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    code->size = s[TEXT].sh_size;
    code->text = malloc(code->size + 1);
    if (!code->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(code->text, text, code->size);
    return take_addresses(image, s, code);
}
