/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parser makes of a module and the warps execute.
 *
 * A register holds 32 lanes side by side: a warp executes an instruction by one loop over its
 * lanes, which the compiler turns into vector code. Registers are named by a 'ref', a byte offset
 * into the frame of the running function or, with bit 0 set, into the module's pool of constants.
 * A predicate is one 32-bit mask, lane 0 in bit 0.
 */
#ifndef PTX_IR_H
#define PTX_IR_H

#include "../ptx.h"

#define WARP 32
#define FULL 0xffffffffu

enum type {
    T_NONE,
    T_PRED,
    T_B8,
    T_B16,
    T_B32,
    T_B64,
    T_U8,
    T_U16,
    T_U32,
    T_U64,
    T_S8,
    T_S16,
    T_S32,
    T_S64,
    T_F16,
    T_F16X2,
    T_BF16,
    T_BF16X2,
    T_F32,
    T_F64,
    T_U16X2,
    T_S16X2,
    T_COUNT
};

enum space {
    SP_GENERIC,
    SP_GLOBAL,
    SP_CONST, /* lies in global memory: same addresses */
    SP_SHARED,
    SP_LOCAL,
    SP_CLUSTER, /* .shared::cluster */
    SP_PARAM,   /* a kernel's parameters; those of a .func lie in its frame in local memory */
};

enum round { RND_N, RND_Z, RND_M, RND_P, RND_NA };

/* Where a memory operand's address comes from when not from a register. */
#define REF_NONE 0xffffffffu /* no base: the offset alone */
#define REF_SP 0xfffffffdu   /* the function's frame in local memory */

/* Predicate operands: bit 1 negates, bit 0 says constant. As a guard, PRED_TRUE means 'none'. */
#define PRED_TRUE 1u
#define PRED_FALSE 3u
#define PRED_NOT 2u

enum step {
    STEP_NEXT,
    STEP_JUMP,   /* warp->pc was set, for all active lanes */
    STEP_SELECT, /* every lane's own pc was set: choose who goes on */
    STEP_YIELD,  /* the slice is used up */
    STEP_FAULT,  /* the launch is over */
};

struct warp;
struct insn;
struct func;

typedef enum step (*px_exec)(struct warp *w, const struct insn *i, uint32_t mask);

struct insn {
    px_exec exec;
    union {
        int64_t imm;
        const void *info; /* owned by the module */
    };
    uint32_t guard;
    uint32_t line;
    uint32_t d, a, b, c; /* refs: destination, sources */
    uint32_t x[3];       /* more refs */
    uint32_t target;     /* index of an instruction */
    uint8_t op, type, space, size, n, flags, round, cmp;
};

/* insn.flags */
enum {
    F_ADDR32 = 1, /* the address register has 32 bits */
    F_SIGNED = 2,
    F_FTZ = 4,
    F_SAT = 8,
    F_CC = 16, /* writes the carry */
    F_HASC = 32,
    F_ALT = 64, /* meaning by instruction */
};

enum sym_kind { SYM_VAR, SYM_FUNC, SYM_REG, SYM_LABEL, SYM_LIST, SYM_PROTO };

struct var {
    char *name;
    enum space space;
    enum type type;
    uint64_t size, align;
    uint64_t offset; /* within its space's block, its function's frame or parameters */
    bool is_extern;  /* declared only; for .shared: the dynamic part */
    bool in_frame;   /* .local, and .param inside functions */
    bool managed;
    bool texref, surfref;     /* a variable of 64 bits, which holds the number */
    uint64_t address;         /* of a managed one that lies apart from the others; else 0 */
    const struct func *owner; /* .shared of one kernel: comes after those of the module */
    uint32_t shared_index;    /* of module-wide .shared: bit in func.shared_used */
    char *init;               /* initial bytes, the rest is 0; gone after the load */
    size_t init_len, init_cap;
};

/* One parameter or result of a function. */
struct formal {
    struct var var;
    const char *name; /* in the text: only valid during the load */
    size_t name_len;
    bool is_reg; /* .reg formal: `ref` in the callee's frame */
    uint32_t ref;
    uint32_t size;
};

struct func {
    char *name;
    bool is_entry, has_body;
    struct formal *params, *results;
    unsigned param_count, result_count;
    uint32_t index;      /* in module->funcs */
    uint32_t start, end; /* instructions */
    uint32_t frame_size; /* bytes of registers, for a whole warp */
    uint32_t local_size; /* bytes of local memory for a lane */
    uint64_t param_bytes;
    uint64_t own_shared;            /* bytes of .shared declared in the body */
    uint64_t static_shared;         /* of an entry: all that it reaches */
    uint64_t shared_base;           /* where its own .shared variables start */
    unsigned call_line;             /* of some call of it */
    uint64_t max_frames, max_local; /* down the deepest chain of calls */
    bool recursive;                 /* the chain has no known end */
    unsigned maxntid[3], reqntid[3];
    unsigned cluster[3];   /* blocks, required; 0: none */
    bool explicit_cluster; /* it is launched in clusters, of whatever size */
    unsigned max_threads;
    unsigned reg_units;
    struct func **callees;
    size_t callee_count, callee_cap;
    bool calls_indirect;
    uint64_t *shared_used; /* which of the module's .shared variables: a bit set */
    size_t shared_words, shared_words_cap;
    int mark;
    struct ptx_module *module;
};

struct copy {
    uint32_t caller, callee, size;
    bool caller_reg, callee_reg; /* else offsets in the frames in local memory */
};

struct call {
    const struct func *caller, *callee; /* callee NULL: indirect */
    const struct func *shape;           /* of an indirect call */
    struct copy *in, *out;
    unsigned in_count, out_count;
};

struct targets {
    uint32_t *pc;
    uint32_t count;
};

/* Tag in the upper bits of the value of a function pointer: not an address of memory. */
#define FUNC_TAG 0xf5ull
#define FUNC_ADDR(index) ((FUNC_TAG << 40) | ((uint64_t)(index) + 1) << 4)

struct ptx_func {
    struct func *f;
};

struct ptx_module {
    struct ptx_memory mem;
    struct insn *code;
    size_t code_count, code_cap;
    char *pool; /* broadcast constants */
    size_t pool_size, pool_cap;
    struct func **funcs;
    size_t func_count, func_cap;
    struct ptx_func *entries;
    size_t entry_count;
    struct var **vars;
    size_t var_count, var_cap;
    void **owned; /* descriptors that instructions point to */
    size_t owned_count, owned_cap;
    uint64_t global_base, const_base;
    uint64_t global_size, const_size;
    uint64_t shared_size; /* of the module-wide .shared variables */
    int version, target;
};

static inline unsigned type_size(enum type t) {
    static const uint8_t size[T_COUNT] = {
        [T_B8] = 1,     [T_B16] = 2, [T_B32] = 4, [T_B64] = 8,   [T_U8] = 1,
        [T_U16] = 2,    [T_U32] = 4, [T_U64] = 8, [T_S8] = 1,    [T_S16] = 2,
        [T_S32] = 4,    [T_S64] = 8, [T_F16] = 2, [T_F16X2] = 4, [T_BF16] = 2,
        [T_BF16X2] = 4, [T_F32] = 4, [T_F64] = 8, [T_U16X2] = 4, [T_S16X2] = 4};
    return size[t];
}

static inline bool type_signed(enum type t) {
    return t >= T_S8 && t <= T_S64;
}

static inline bool type_float(enum type t) {
    return t >= T_F16 && t <= T_F64;
}

static inline bool type_bits(enum type t) {
    return t >= T_B8 && t <= T_B64;
}

/* 8-bit values live in 16-bit registers. */
static inline unsigned reg_size(enum type t) {
    unsigned n = type_size(t);
    return n == 1 ? 2 : n;
}

#endif
