/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that a program has loaded. A module belongs to a context and has functions. A library
 * belongs to none and has kernels; in each context that uses one of them it has a module, and the
 * kernel a function. All are named here. What is in a list is guarded by code_lock(), which is
 * never held while a call travels.
 */
#ifndef VCUDA_USERLIB_CODE_H
#define VCUDA_USERLIB_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "attributes.h"
#include "cuda_types.h"
#include "guest.h"
#include "image.h"
#include "info.h"
#include "jit.h"
#include "params.h"

struct old_launch;

#define FUNCTION_SHAPES 64
#define FUNCTION_OCCUPANCIES 8

/* What a launch must know; that it is loaded, and nothing else, of most. */
#define FUNCTION_LOADED 1u   /* no launch needs to load it any more */
#define FUNCTION_CLUSTERS 2u /* it runs in clusters only */

struct function {
    uint64_t name;    /* its own */
    uint64_t module;  /* 0: a kernel's */
    uint64_t kernel;  /* 0: a module's */
    uint64_t context; /* where it runs */
    struct function *next;
    char *symbol;
    struct layout layout;
    uint32_t max_dynamic_shared; /* bytes that a launch may ask for */
    uint32_t max_threads;        /* of a block */
    uint32_t state;              /* FUNCTION_*, by function_note() */
    struct attributes attributes;
    uint64_t shapes[FUNCTION_SHAPES]; /* hashes of launches with attributes that the driver took */
    uint64_t occupancies[FUNCTION_OCCUPANCIES]; /* questions and their answers (occupancy.c) */
    struct old_launch *old;                     /* what cuParamSet and the like collected */
};

/* A variable whose address the program knows: device memory to all who are given it. */
struct variable {
    struct variable *next;
    uint64_t address;
    uint64_t id; /* of its range */
};

struct bound;

struct module {
    uint64_t context;
    uint64_t name;              /* its own */
    uint64_t library;           /* 0: the program's own */
    struct function *functions; /* those asked for so far */
    struct variable *variables;
    struct bound *bound; /* its managed variables, see bound.h; of a library's they are there */
    struct module *next; /* of its library */
};

struct kernel {
    uint64_t name; /* its own */
    uint64_t library;
    struct kernel *next;
    char *symbol;
    struct function *functions; /* one a context */
    struct attributes attributes[VCUDA_DEVICES_MAX];
};

struct library {
    uint64_t name;           /* its own */
    struct cuda_image image; /* a fat binary that the program preserves; else its data is NULL */
    struct bound *bound;     /* its managed variables */
    struct kernel *kernels;
    struct module *modules; /* one a context */
    struct variable *variables;
};

/* A setting of a function, a kernel or a context has changed: what is known of occupancy is old. */
void occupancy_forget(void);

void code_lock(void);
void code_unlock(void);

/* A kernel's function in the current context. */
CUresult function_of_kernel(struct thread *t, CUfunction handle, struct function **f);

/*
 * The function that a launch, an occupancy query or a graph's node means: a CUkernel may stand
 * where a CUfunction is asked for, and means its function in the thread's context, which is fetched
 * at first use. CUDA_ERROR_INVALID_HANDLE for neither.
 */
static inline CUresult function_resolve(struct thread *t, CUfunction handle, struct function **f) {
    struct function *found = names_get(VCUDA_KIND_FUNCTION, (uint64_t)handle);
    CUresult r = likely(found) ? CUDA_SUCCESS : function_of_kernel(t, handle, &found);

    *f = found;
    return r;
}

/* Loads a function's code into its context, if no launch has: what a first launch waits for. */
SELDOM CUresult function_load(struct thread *t, struct function *f);
/* Adds to its state. */
static inline void function_note(struct function *f, uint32_t what) {
    __atomic_fetch_or(&f->state, what, __ATOMIC_RELAXED);
}

/* A kernel's function in the thread's context, asked for if need be. */
CUresult kernel_function(struct thread *t, struct kernel *k, struct function **f);

/* A new function, in no list, named; NULL: out of memory. */
struct function *function_new(const char *symbol);
/* What the worker said of it. CUDA_ERROR_LAUNCH_FAILED: nonsense. */
CUresult function_take(struct function *f, const struct vcuda_function_info *info, uint32_t len);
/* Ends the names of a list that nobody changes any more. */
void functions_end(const struct function *f);
/* Frees a list whose names have ended. */
void functions_free(struct function *f);
/* Ends one that came into no list: unless it has ended with its context, which frees it then. */
void function_drop(struct function *f);

/* Whether a function is the one that is wanted, by the fields that name it in its list. */
typedef bool function_is(const struct function *f, const struct function *wanted);
/* The one in a module's or kernel's list, or NULL. */
struct function *functions_find(struct function *const *list, const struct function *wanted,
                                function_is *is);
/*
 * Adds one to the list of its module or kernel. *out is the one that is found from now on, another
 * if a thread was faster. CUDA_ERROR_CONTEXT_IS_DESTROYED: its context has ended meanwhile.
 */
CUresult functions_add(struct function **list, struct function *f, function_is *is,
                       struct function **out);

/* Bytes of answer that a function's parameters fit into. */
#define FUNCTION_INFO_BYTES                                                                        \
    (sizeof(struct vcuda_function_info) + VCUDA_PARAMS_MAX * sizeof(struct vcuda_param))

/* Notes a variable that the program has been told of, in the thread's context. */
void variable_note(struct thread *t, struct variable **list, uint64_t address, uint64_t bytes);
/* They are no memory any more. */
void variables_free(struct variable *list);

/*
 * Sends an image through the arena, from where the worker takes it: once copied here, once there,
 * since it must own what it checks. Makes the call that `send` makes of the address; the arena's
 * memory is given back after it.
 */
CUresult image_send(struct thread *t, const struct cuda_image *image,
                    CUresult (*send)(struct thread *t, void *arg, uint64_t address, uint64_t bytes),
                    void *arg);

/* What a linker of the worker's made, `all` bytes of it. */
CUresult linker_read(struct thread *t, uint64_t name, void *to, size_t all);

/* What a module or a library has of a kind, as handles: `room` of them at most. */
struct listing {
    /* Fetches a portion of the names, from the first one on, each ended by a NUL. */
    CUresult (*ask)(struct thread *t, uint64_t owner, uint32_t first, void *names, uint32_t cap,
                    uint32_t *len);
    CUresult (*find)(struct thread *t, void *owner, const char *symbol, uint64_t *handle);
    void *owner;
    uint64_t name; /* the owner's */
    uint64_t *handles;
    unsigned int room;
};
CUresult names_list(struct thread *t, const struct listing *l);

/* What its name stood for is gone: its functions and variables. It can be looked at still. */
void module_end(struct module *m);
/* Frees one that has ended. */
void module_free(void *module);
/* Both, for one that the program makes no calls about any more; NULL is fine. */
void module_drop(void *module);

/*
 * Ends the names of a context's modules and functions, and those that a library has in any context.
 * Both may end at a time: whoever ends a name frees what it stands for, before the other goes on.
 */
void code_forget_context(uint64_t context);
void code_forget_library(uint64_t library);
/* The module that a library has in the thread's context. */
CUresult library_module(struct thread *t, struct library *l, CUmodule *module);
/* Takes a module out of its library's list. */
void library_forget_module(struct module *m);

#endif
