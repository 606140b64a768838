/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of loading a module, shared by parser and builders. The parser reads a statement
 * without knowing the instruction; the builder of its opcode takes modifiers and operands from it
 * and emits checked instructions. What a builder leaves untaken makes the statement an error, so
 * that nothing is ever ignored by accident.
 *
 * The first error sticks: later calls do nothing that matters, callers need not check each step.
 */
#ifndef PTX_LOAD_H
#define PTX_LOAD_H

#include "ir.h"
#include "lex.h"
#include "map.h"

#define MAX_MODS 16
#define MAX_OPERANDS 8
#define MAX_VECTOR 8

enum opd_kind { OPD_NAME, OPD_INT, OPD_FLT, OPD_VEC, OPD_ADDR, OPD_LIST };

struct operand {
    enum opd_kind kind;
    bool not, minus; /* written before it */
    const char *s;   /* OPD_NAME; OPD_ADDR: the base, NULL for an absolute address */
    size_t len;
    char dim;         /* %tid.x: 'x' */
    const char *pair; /* d|p: the second name */
    size_t pair_len;
    bool single; /* OPD_FLT: from 0f... */
    uint64_t u;  /* OPD_INT; OPD_FLT: its bits; OPD_ADDR: the offset */
    double f;
    struct operand *elem; /* OPD_VEC, OPD_LIST: elements in the loader's scratch; OPD_ADDR: NULL, or
                             where in a texture */
    unsigned count;
};

struct stmt {
    const char *name;
    size_t name_len;
    struct token mods[MAX_MODS];
    bool taken[MAX_MODS];
    unsigned mod_count;
    struct operand op[MAX_OPERANDS];
    unsigned op_count;
    uint32_t guard;
    unsigned line;
};

struct reg {
    enum type type;
    uint32_t ref;   /* of the first */
    uint32_t count; /* 0: a single register, not a family %r<count> */
};

/* Where the text names a register: first and last instruction. */
struct use {
    uint32_t first, last;
    uint32_t units; /* of 32 bits; 0: never */
};

struct label {
    uint32_t pc;
};

struct pending { /* a jump to a label that was not declared yet */
    const char *s;
    size_t len;
    uint32_t insn;
    uint32_t *slot; /* of a table of targets; NULL: insn.target */
    unsigned line;
};

/* A constant that is known only once all variables have their places. */
struct fixup {
    size_t pool_at; /* bytes */
    unsigned width;
    const struct var *var;
    uint64_t addend;
};

/* Bytes of a variable's initial value that are an address. */
struct reloc {
    struct var *at;
    uint64_t offset, addend;
    uint64_t mask; /* all ones, or the one byte of the address that is meant */
    unsigned width;
    const struct var *var; /* or */
    const struct func *func;
};

struct loader {
    struct ptx_module *m;
    struct lexer lx;
    struct token tok; /* the one to be looked at next */
    enum ptx_status status;
    char *log;
    size_t log_size;

    struct map globals; /* struct sym */
    struct map locals;  /* of the function: registers, variables, labels, tables, prototypes */
    struct func *f;     /* the function whose body is read */
    struct stmt *st;    /* the statement being built */

    struct pending *pending;
    size_t pending_count, pending_cap;
    struct fixup *fixups;
    size_t fixup_count, fixup_cap;
    struct reloc *relocs;
    size_t reloc_count, reloc_cap;

    struct use *uses; /* of the function's registers, by place in its frame */
    size_t use_count, use_cap;
    struct var **shared_vars; /* module-wide, by shared_index */
    size_t shared_count, shared_cap;

    struct operand scratch[256];
    unsigned scratch_used;
    uint32_t pool_buckets[4096]; /* constants by hash: index + 1 into pool_entries */
    struct pool_entry *pool_entries;
    size_t pool_count, pool_entry_cap;
    void **arena; /* freed with the loader */
    size_t arena_count, arena_cap;
};

struct sym {
    enum sym_kind kind;
    union {
        struct var *var;
        struct func *func;
        struct reg reg;
        struct label label;
        struct targets *targets;
        struct { /* SYM_LIST of functions */
            struct func **funcs;
            unsigned func_count;
        };
    };
};

/* --- clusters (op_cluster.c), where other instructions' builders meet them --- */
void build_cluster_barrier(struct loader *ld, struct stmt *st);
void build_explicit_cluster(struct loader *ld, struct stmt *st);

/* --- errors (load.c) --- */
void ld_error(struct loader *ld, unsigned line, enum ptx_status status, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#define ld_syntax(ld, ...) ld_error(ld, (ld)->tok.line, PTX_ERR_SYNTAX, __VA_ARGS__)
void st_syntax(struct loader *ld, const char *what); /* at the statement */
void st_refuse(struct loader *ld, const char *what); /* valid, but not executed here */

/* --- memory (load.c): NULL or false is out of memory, and recorded as such --- */
void *ld_alloc(struct loader *ld, size_t size); /* zeroed, lives as long as the loader */
void *ld_own(struct loader *ld, size_t size);   /* zeroed, lives as long as the module */
bool ld_grow(struct loader *ld, void *array, size_t *cap, size_t need, size_t elem);

/* --- tokens (parse.c) --- */
void ld_advance(struct loader *ld);
bool ld_punct(struct loader *ld, char c);      /* takes it if it is next */
bool ld_dot(struct loader *ld, const char *s); /* the same for .s */
void ld_expect(struct loader *ld, char c);
enum type type_named(const char *s, size_t len);

/* --- parts of a module --- */
struct sym *ld_sym(struct loader *ld, struct map *map, const char *s, size_t len,
                   enum sym_kind kind); /* declares */
void parse_module(struct loader *ld);
void parse_function(struct loader *ld, bool is_extern);
void parse_variable(struct loader *ld, bool is_extern);
void parse_registers(struct loader *ld);
void parse_formals(struct loader *ld, struct func *f, struct formal **list, unsigned *count);
void parse_statement(struct loader *ld, const struct token *name, uint32_t guard);
void parse_call(struct loader *ld, struct stmt *st);
bool parse_operand(struct loader *ld, struct operand *o);
uint32_t parse_reg_guard(struct loader *ld);
bool parse_int(struct loader *ld, uint64_t *v); /* constant expression */
void link_module(struct loader *ld);

/* --- registers (regs.c), constants, instructions (build.c) --- */
uint32_t new_reg(struct loader *ld, unsigned bytes_a_lane);
uint32_t new_pred(struct loader *ld);
uint32_t pool_const(struct loader *ld, unsigned width, uint64_t value);
struct insn *emit(struct loader *ld, px_exec exec); /* valid until the next emit; never NULL */
unsigned count_registers(struct loader *ld);        /* that are in use at one time, estimated */
struct reg *find_reg(struct loader *ld, const char *s, size_t len, uint32_t *ref);

bool take(struct stmt *st, const char *mod);
enum type take_type(struct loader *ld); /* the next type modifier; T_NONE: there is none */
enum type need_type(struct loader *ld); /* an error if there is none */
bool need_ops(struct loader *ld, unsigned count);

/*
 * Operands as refs. `t` gives the size that the register must have; `src_wide` and `dst_wide` also
 * take wider registers, and convert by an extra instruction (call dst_wide_done after the emit).
 */
uint32_t src(struct loader *ld, const struct operand *o, enum type t);
uint32_t dst(struct loader *ld, const struct operand *o, enum type t);
uint32_t src_wide(struct loader *ld, const struct operand *o, enum type t);
struct wide {
    uint32_t from, to;
    enum type from_type;
    unsigned to_size;
};
uint32_t dst_wide(struct loader *ld, const struct operand *o, enum type t, struct wide *w);
void dst_wide_done(struct loader *ld, const struct wide *w);
uint32_t src_pred(struct loader *ld, const struct operand *o);
uint32_t dst_pred(struct loader *ld, const char *s, size_t len); /* '_': a register for nobody */
uint32_t dst_pred_operand(struct loader *ld, const struct operand *o);
bool const_int(const struct operand *o, int64_t *v);
bool is_sink(const struct operand *o);
void jump_to(struct loader *ld, const struct operand *o, uint32_t insn);

/* Address operand into i->a, i->imm, i->flags, i->space (emit nothing in between). */
struct address {
    uint32_t ref;
    int64_t imm;
    enum space space;
    bool addr32;
};
struct address address(struct loader *ld, const struct operand *o, enum space space);
void set_address(struct insn *i, const struct address *a);
/* Takes .global, .shared...; SP_GENERIC without. */
enum space take_space(struct loader *ld);

/* A widening, narrowing or plain copy of a register. */
px_exec exec_move(unsigned to, unsigned from, bool sign);

/* d = f(a), d = f(a, b), d = f(a, b, c) of one type; nothing if exec is NULL. */
void build_d_a(struct loader *ld, px_exec exec, enum type t);
void build_d_ab(struct loader *ld, px_exec exec, enum type t);
void build_d_abc(struct loader *ld, px_exec exec, enum type td, enum type tab, enum type tc);

/* d = a | b, 32 bits */
void emit_or(struct loader *ld, uint32_t d, uint32_t a, uint32_t b);

/* Opcodes that integers and floats share, for the float types. */
void build_float_addsub(struct loader *ld, enum type t);
void build_float_minmax(struct loader *ld, enum type t, bool max);
void build_float_absneg(struct loader *ld, enum type t, bool neg);
void build_float_mul(struct loader *ld, enum type t);
void build_float_fma(struct loader *ld, enum type t);
void build_float_div(struct loader *ld, enum type t);

/* --- opcodes --- */
struct opcode {
    const char *name;
    void (*build)(struct loader *ld, struct stmt *st);
};
extern const struct opcode ops_int[], ops_mul[], ops_bits[], ops_float[], ops_math[], ops_sign[],
    ops_cmp[], ops_cvt[], ops_mov[], ops_mem[], ops_atom[], ops_warp[], ops_bar[], ops_cluster[],
    ops_async[], ops_flow[], ops_tex[];
const struct opcode *find_opcode(const char *s, size_t len);

#endif
