/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code with managed variables, put together by tests: an ELF file is a structure of theirs
 * with members `head`, `section` and, for each section with content, one more.
 */
#ifndef VCUDA_TEST_CUBIN_H
#define VCUDA_TEST_CUBIN_H

#include <elf.h>
#include <stddef.h>

#include "cubin.h"

/* The header of a structure with so many sections, one of which has their names. */
#define CUBIN_HEAD(structure, sections, names)                                                     \
    {                                                                                              \
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB}, .e_machine = EM_CUDA,           \
        .e_ehsize = sizeof(Elf64_Ehdr), .e_shoff = offsetof(structure, section),                   \
        .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = (sections), .e_shstrndx = (names)            \
    }

/* The section whose content is a member. */
#define CUBIN_PART(structure, type, member, ...)                                                   \
    {                                                                                              \
        .sh_type = (type), .sh_offset = offsetof(structure, member),                               \
        .sh_size = sizeof(((structure *)0)->member), __VA_ARGS__                                   \
    }

/* The symbol of a managed variable, at an offset in its section. */
#define CUBIN_MANAGED(name, section, offset, bytes)                                                \
    {                                                                                              \
        .st_name = (name), .st_info = STT_OBJECT, .st_other = 4, .st_shndx = (section),            \
        .st_value = (offset), .st_size = (bytes)                                                   \
    }

#endif
