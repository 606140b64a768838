/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PTX on the CPU: loads the text of a module and runs its kernels.
 *
 * The engine knows nothing of contexts, streams or handles: the driver around it owns device
 * memory and lends it through `struct ptx_memory`. Device addresses are host addresses, so the
 * callbacks translate nothing: they only say what a kernel may touch.
 *
 * What PTX the engine does not execute it refuses when the module is loaded, never later.
 */
#ifndef SIMGPU_PTX_H
#define SIMGPU_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_channel { PTX_U8, PTX_S8, PTX_U16, PTX_S16, PTX_U32, PTX_S32, PTX_F16, PTX_F32 };
enum ptx_beyond { PTX_WRAP, PTX_CLAMP, PTX_MIRROR, PTX_BORDER }; /* CUaddress_mode's numbers */

/* What a texture or a surface is of: elements of one to four channels, and how they are read. */
struct ptx_image {
    char *data;
    enum ptx_channel channel;
    unsigned channels;
    unsigned dims;  /* 1 to 3; without layers */
    size_t size[3]; /* elements; 1 where there is no such dimension */
    size_t layers;  /* 0: it has none */
    size_t pitch;   /* bytes from one row to the next */
    size_t slice;   /* bytes from one slice or layer to the next */
    bool filtered, normalized_coordinates;
    bool integers; /* of 8 and 16 bits are read as they are, and not as parts of 1 */
    enum ptx_beyond beyond[3];
    float border[4];
    /*
     * Of a mipmapped array: how many levels follow each other from `data` on, each half as large as
     * the one before and starting at a multiple of `level_align` bytes; 0: it is none.
     */
    unsigned levels;
    size_t level_align;
    bool between_levels; /* two of them are mixed */
    float level_bias, least_level, greatest_level;
};

/*
 * The device memory that the engine may touch. The callbacks may be called from several threads
 * at once. A range that was handed out stays valid until the launch that asked for it returns.
 */
struct ptx_memory {
    /* Host pointer for [addr, addr + len), or NULL: the access is a fault. */
    void *(*resolve)(void *opaque, uint64_t addr, size_t len);
    /* The whole allocation that holds addr, for the engine's cache; false: none does. */
    bool (*range)(void *opaque, uint64_t addr, uint64_t *base, uint64_t *size);
    /* Zeroed memory for a module's variables; 0: out of memory. `align` is a power of two. */
    uint64_t (*alloc)(void *opaque, size_t size, size_t align);
    void (*free)(void *opaque, uint64_t addr);
    /*
     * Optional: where a module's next managed variable lies, in the order of the text; 0: out of
     * memory. *fresh is set if its initial value is to be written there. Without, they lie among
     * the others.
     */
    uint64_t (*managed)(void *opaque, const char *name, size_t size, size_t align, bool *fresh);
    /* Optional: what the number of a texture or a surface stands for; false: nothing. */
    bool (*image)(void *opaque, uint64_t number, bool surface, struct ptx_image *out);
    void *opaque;
};

#define PTX_TARGET_MAX 90 /* of the device: sm_90 */

enum ptx_status {
    PTX_OK = 0,
    PTX_ERR_SYNTAX,              /* not PTX: CUDA_ERROR_INVALID_PTX, 218 */
    PTX_ERR_UNSUPPORTED,         /* PTX that this engine does not execute (only at load) */
    PTX_ERR_VERSION,             /* .version or .target is not ours: 222 */
    PTX_ERR_NOMEM,               /* 2 */
    PTX_ERR_INVALID_VALUE,       /* a launch with impossible dimensions or sizes: 1 */
    PTX_ERR_ILLEGAL_ADDRESS,     /* 700 */
    PTX_ERR_LAUNCH_TIMEOUT,      /* ended through `cancel`, or all threads wait for ever: 702 */
    PTX_ERR_ASSERT,              /* 710 */
    PTX_ERR_STACK,               /* a lane's call stack is used up: 714 */
    PTX_ERR_ILLEGAL_INSTRUCTION, /* brkpt, an impossible operand at run time: 715 */
    PTX_ERR_MISALIGNED,          /* 716 */
    PTX_ERR_INVALID_PC,          /* indirect call to what is not a function: 718 */
    PTX_ERR_TRAP,                /* trap: CUDA_ERROR_LAUNCH_FAILED, 719 */
};

/* The name of a status, for messages. Never NULL. */
const char *ptx_status_name(enum ptx_status status);

struct ptx_module;
struct ptx_func;

/*
 * Parses and checks a module, allocates and initialises its variables.
 * `text` need not be NUL terminated and is not kept; a NUL ends it early. `mem` is copied, what
 * `mem->opaque` points to must outlive the module. On an error *out is NULL and `log` (optional)
 * holds one line, 'line N: what'.
 */
enum ptx_status ptx_module_load(const char *text, size_t len, const struct ptx_memory *mem,
                                struct ptx_module **out, char *log, size_t log_size);

/* Frees the module and its variables. No launch of its functions may be running. NULL is fine. */
void ptx_module_unload(struct ptx_module *module);

/* The kernel (.entry) of that name, owned by the module; NULL: there is none. */
struct ptx_func *ptx_module_function(struct ptx_module *module, const char *name);

/* Iteration over the kernels, in the order of the text. */
size_t ptx_module_function_count(const struct ptx_module *module);
struct ptx_func *ptx_module_function_at(struct ptx_module *module, size_t index);
const char *ptx_func_name(const struct ptx_func *func);

/* Address and size in bytes of a .global or .const variable; false: there is none. */
bool ptx_module_global(struct ptx_module *module, const char *name, uint64_t *addr, size_t *size);

/* Where a texture or surface reference of that name has its number; 0: there is none. */
uint64_t ptx_module_reference(const struct ptx_module *module, const char *name, bool surface);

/* Whether there is a managed variable of that name. */
bool ptx_module_managed(const struct ptx_module *module, const char *name);

struct ptx_func_info {
    size_t param_bytes;        /* size of the packed parameter buffer */
    unsigned param_count;      /* offset and size of each: ptx_func_param */
    size_t static_shared;      /* bytes of shared memory without the dynamic part */
    size_t local_bytes;        /* bytes of local memory for each thread */
    size_t const_bytes;        /* bytes of the module's .const variables */
    int num_regs;              /* an estimate: 32-bit registers that a lane needs */
    int max_threads_per_block; /* from .maxntid or .reqntid, 1024 without */
    int reqntid[3];            /* from .reqntid; all 0 without */
    int cluster[3];            /* from .reqnctapercluster; all 0 without */
    bool explicit_cluster;     /* .explicitcluster */
    int ptx_version;           /* .version, 10 * major + minor */
    int binary_version;        /* .target, 75 for sm_75 */
};

void ptx_func_info(const struct ptx_func *func, struct ptx_func_info *info);

/* Offset and size in bytes of a parameter in the packed buffer; false: no such parameter. */
bool ptx_func_param(const struct ptx_func *func, unsigned index, size_t *offset, size_t *size);

struct ptx_launch {
    unsigned grid[3], block[3];
    unsigned cluster[3];         /* blocks that run as one cluster; all 0: none was asked for */
    size_t dynamic_shared;       /* bytes */
    const void *params;          /* packed, param_bytes long; read only, kept by the caller */
    const volatile bool *cancel; /* optional: true ends the launch within milliseconds */
    /*
     * Optional: output of the kernel's printf, or a complaint of its assert; may be called from
     * several threads at once.
     */
    void (*print)(void *opaque, const char *text, size_t n, bool complaint);
    void *print_opaque;
    bool cooperative;   /* all blocks run side by side, so that the grid can synchronise */
    unsigned threads;   /* host threads to use at most; 0: one for each CPU */
    unsigned sm_count;  /* what %nsmid tells; 0: 1 */
    uint64_t grid_id;   /* what %gridid tells */
    size_t stack_bytes; /* local memory for each thread where calls recurse; 0: a default */
};

/*
 * Runs a kernel and returns when its last thread has ended, or at the first fault, with a
 * line about it in `msg` (optional). Safe to call from several threads at once.
 * Memory that the kernel wrote before a fault stays written.
 */
enum ptx_status ptx_launch_run(const struct ptx_func *func, const struct ptx_launch *launch,
                               char *msg, size_t msg_size);

#endif
