/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated GPU: a CUDA driver that runs PTX on the CPU. What its parts share.
 *
 * Locks, outermost first: a device's primary lock, a context's lock, the graphs', the handle
 * table's, the queues' (queue.c), the memory map's, the peers'. None is held while a kernel or a
 * copy runs.
 */
#ifndef SIMGPU_SIM_H
#define SIMGPU_SIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "handle.h"
#include "image.h"
#include "memory.h"
#include "ptx.h"
#include "queue.h"

#define SIM_MAX_DEVICES 16
#define SIM_MAX_THREADS 1024     /* in a block */
#define SIM_SHARED_DEFAULT 49152 /* bytes of shared memory that need no opt-in */
#define SIM_SHARED_OPTIN 232448  /* bytes with it */
#define SIM_SHARED_RESERVED 1024 /* bytes of each block that the system keeps */
#define SIM_SHARED_PER_SM 233472 /* bytes */
#define SIM_SM_COUNT 132         /* as on an H200 */
#define SIM_THREADS_PER_SM 2048
#define SIM_BLOCKS_PER_SM 32
#define SIM_REGS_PER_SM 65536
#define SIM_SYNC_DOMAINS 4 /* of a kernel's writes; all memory here is in order anyway */
#define SIM_ARCH 90        /* compute capability 9.0 */

struct sim_device {
    int ordinal;
    struct sim_heap heap;
    /* The primary context: one object for the life of the process, opened and closed again. */
    pthread_mutex_t primary_lock;
    struct sim_context *primary;
    unsigned primary_refs;
    unsigned primary_flags;
    atomic_int
        error; /* the first fault: every later call in a context returns it, and none is made */
    struct sim_pool *default_pool; /* made at first use; never ends */
    struct sim_pool *current_pool; /* a reference; NULL: the default one */
};

struct sim_output {
    char *text;
    size_t bytes;
};

struct sim_context {
    struct sim_object object;
    struct sim_device *device;
    bool primary;
    atomic_uint attached; /* by how many calls, beside the one that made it */
    atomic_bool open;
    uint64_t id;      /* new each time it is opened: whose memory and streams are whose */
    uint64_t home;    /* id of the context whose memory it has: its own, but for green ones */
    CUgreenCtx green; /* that it stands for, or NULL */
    unsigned sm_count;
    unsigned flags;
    CUfunc_cache cache;
    atomic_size_t limits[CU_LIMIT_MAX];
    struct sim_stream *legacy;  /* the default stream */
    atomic_uint working;        /* operations of its streams that are not done */
    struct sim_stream *streams; /* all of them, under the queues' lock */
    struct sim_mark *gate;      /* all of them wait for it; under the queues' lock */
    pthread_mutex_t lock;
    struct sim_module *modules;   /* under `lock` */
    struct sim_output printed;    /* by kernels, not yet shown; under `lock` */
    struct sim_output complaints; /* the same of their asserts */
};

/* What is loaded. */
struct sim_code {
    char *text;
    size_t size;
    /* Of its managed variables, in order: where they lie, 0 as long as nobody used them. */
    uint64_t *address;
    bool *ours; /* to be freed with the code */
    size_t count, next;
};

struct sim_module {
    struct sim_object object;
    struct sim_context *context;
    struct sim_space space;           /* what its code may touch */
    struct sim_code own;              /* empty: a library's, which has it for all contexts */
    struct sim_code *code;            /* while it is loaded */
    struct sim_reference *references; /* to textures and surfaces; under the context's lock */
    struct ptx_module *ptx;
    atomic_bool closed;
    struct sim_function *functions;
    size_t function_count;
    struct sim_module *next; /* in the context */
};

/* What may be set for a function, or for a kernel on one device. */
struct sim_function_settings {
    atomic_int max_dynamic_shared; /* bytes */
    atomic_int carveout;
    atomic_int non_portable; /* clusters of more blocks than all GPUs have are allowed */
};

struct sim_function {
    struct sim_object object;
    struct sim_module *module; /* which owns it */
    struct ptx_func *ptx;
    struct ptx_func_info info;
    struct sim_function_settings settings;
};

struct sim_event {
    struct sim_object object;
    struct sim_context *context;
    uint64_t owner; /* the context's id */
    unsigned flags;
    struct sim_mark *mark;         /* what was last recorded; under the queues' lock */
    struct sim_tips tips;          /* or, in a captured stream, this; under the graphs' lock */
    struct sim_event_share *share; /* with other processes, where that alone counts; or NULL */
    bool captured;                 /* that is what was last recorded, even if the capture is over */
};

/* driver.c */

/* Set while the process exits: running kernels end early, calls return 4. */
extern volatile bool sim_exiting;

/* CUDA_SUCCESS, or why no call can be served: not initialised, forked, exiting, or not here. */
CUresult sim_ready(void);

/* While a thread runs a host function of the program, its calls are not permitted. */
void sim_inside_host_function(bool inside);
int sim_device_count(void);

/* The device of that number, or NULL. */
struct sim_device *sim_device(CUdevice dev);

/* Nanoseconds of a clock that never steps. */
uint64_t sim_now(void);

/* context.c */
/* A new context with a handle, not yet open. NULL: out of memory. */
struct sim_context *sim_context_new(struct sim_device *device);

/* Opens one, which is not yet current anywhere. */
CUresult sim_context_open(struct sim_context *context, unsigned flags);
/* Waits for the context's work, then takes back all that it owns. */
void sim_context_close(struct sim_context *context);

/* The context is what a program may pass: the reference, or the error to return. */
CUresult sim_context_get(CUcontext handle, struct sim_context **out);

/* Flags of a context: at most one way of scheduling, nothing unknown. */
bool sim_good_context_flags(unsigned flags);

/* An open context, NULL for the thread's current one, even with a fault; a reference. */
CUresult sim_context_look(CUcontext handle, struct sim_context **out);

/* The calling thread's context, open and without fault: a reference, or the error to return. */
CUresult sim_enter(struct sim_context **out);

/* The same for an explicit context; NULL means the current one. */
CUresult sim_enter_context(CUcontext handle, struct sim_context **out);

/* Its device's lasting error, and with it what the context's kernels said before they ended. */
CUresult sim_context_error(struct sim_context *context);

/* Makes a fault the lasting error of the context's device: as with a real one, to the end. */
void sim_context_fail(struct sim_context *context, CUresult error);

/* current.c */
CUcontext sim_current(void);
CUresult sim_current_push(CUcontext handle);

/* Takes a context that is going away off the calling thread's stack, where it is on top. */
void sim_current_drop(CUcontext handle);

/* The calling thread's own default stream in the context, a reference; NULL: out of memory. */
struct sim_stream *sim_thread_stream(struct sim_context *context);

/* context_state.c */
int sim_clamp_priority(int priority);

/* print.c */
void sim_print_append(void *context, const char *text, size_t size, bool complaint);

/* Shows what kernels have printed. Called wherever the host has waited for them. */
void sim_print_flush(struct sim_context *context);

/* peer.c */

/* Drops what a context that ends was allowed, and what others were allowed in it. */
void sim_peer_forget(uint64_t id);

/* pool.c */

/* A block of a pool comes into use, or goes: its counters. Nothing for other blocks. */
void sim_pool_account(const struct sim_block *block, bool begins);

/* How the memory of a pool may be passed on. */
CUmemAllocationHandleType sim_pool_handle_types(CUmemoryPool pool);

/* Whether memory may be freed: it was allocated (managed variables have no owner), or is a pointer
 * of another process' pool. */
static inline bool sim_block_freeable(const struct sim_block *block) {
    return block->kind == SIM_MEMORY_DEVICE ||
           (block->kind == SIM_MEMORY_MANAGED && block->owner) ||
           (block->kind == SIM_MEMORY_IMPORTED && block->pool);
}

/* context_event.c */

/* Records an event behind the work of all streams, or makes all that follows wait for one. */
CUresult sim_context_record(struct sim_context *context, struct sim_event *event);
CUresult sim_context_wait_event(struct sim_context *context, struct sim_event *event);

/* event.c */

/* The event behind a handle, a reference, or the error to return. */
CUresult sim_event_get(CUevent handle, struct sim_event **out);

/* stream.c */

/* A new stream of the context, with a handle. */
CUresult sim_stream_create(struct sim_context *context, CUstream *handle, unsigned flags,
                           int priority);

/*
 * The stream that a handle means in `context`, with a reference: 0 is the default stream, which
 * is the thread's own if `per_thread`.
 */
CUresult sim_stream_get(struct sim_context *context, CUstream handle, bool per_thread,
                        struct sim_stream **out);
/* The same where the stream may be another context's, of which the call is then. */
CUresult sim_stream_look(CUstream handle, bool per_thread, struct sim_stream **out);

/* stream_attributes.c */
void sim_stream_settings_start(struct sim_stream_settings *settings);
/* Whether it is one that may be set. */
bool sim_good_window(const CUaccessPolicyWindow *window);

/* Waits for the work in these streams of the context, whichever thread submitted it. */
void sim_context_wait(struct sim_context *context, enum sim_which_streams which);
/* On whose behalf its calls allocate. */
struct sim_space sim_context_space(struct sim_context *context);

/*
 * What other processes open a block of this one's by, 64 bytes, and the block so opened; `pool` is
 * the id of what it is of, or 0.
 */
CUresult sim_ipc_give(const struct sim_block *block, uint64_t pool, void *handle);
CUresult sim_ipc_take(const struct sim_space *space, uint64_t pool, const void *handle,
                      uint64_t *address);

/* Whether there is no such process any more. */
bool sim_ipc_gone(unsigned pid);
/* The name of a file that a process shares something in. */
void sim_ipc_path(char path[64], uint32_t pid, uint64_t token);

/* A shared block has ended: nobody can open it any more. */
void sim_ipc_forget(void);
/* Removes what processes that are gone shared. */
void sim_ipc_sweep(void);

/* texture.c */

/* The engine's way to what a number stands for. */
bool sim_image_find(void *opaque, uint64_t number, bool surface, struct ptx_image *out);

/* code.c */

/* Notes the next managed variable; false: out of memory. */
bool sim_code_place(struct sim_code *code, uint64_t address);

/* Where the next managed variable lies; 0: out of memory. Fresh: in new memory, all zero. */
uint64_t sim_code_managed(struct sim_code *code, const struct sim_space *space, size_t size,
                          bool *fresh);

/* Ends what it holds, managed variables included. */
void sim_code_free(struct sim_code *code);

/* machine.c */

/* The simulated GPU's machine code of a text, which the caller frees. */
CUresult sim_machine_make(const char *text, size_t size, char **cubin, size_t *bytes);

/* The code in an ELF file that was measured. CUDA_ERROR_NO_BINARY_FOR_GPU: a real GPU's. */
CUresult sim_machine_read(const struct cuda_image *image, struct sim_code *code);

/* module.c */

/* `code` is the caller's, and must outlive the module. */
CUresult sim_module_load(struct sim_context *context, struct sim_code *code,
                         struct sim_module **out, char *log, size_t log_size);

/* Gives up the module's handle and its place in the context. */
void sim_module_close(struct sim_module *module);

/* The function of that name, owned by the module; NULL: there is none. */
struct sim_function *sim_module_function(struct sim_module *module, const char *name);

/* Makes sure that the function has a handle. */
CUresult sim_function_open(struct sim_function *function, CUfunction *handle);

/* Address and size of a variable; one of the two may be NULL. */
CUresult sim_module_global(struct sim_module *module, const char *name, CUdeviceptr *dptr,
                           size_t *bytes);

/* What an outcome of the engine is in CUDA's terms. */
CUresult sim_status_error(enum ptx_status status);

/* function.c */

/* The function behind a CUfunction, or behind a CUkernel in `context`; a reference. */
CUresult sim_function_get(struct sim_context *context, CUfunction handle,
                          struct sim_function **out);
CUresult sim_function_attribute(const struct ptx_func_info *info,
                                const struct sim_function_settings *settings,
                                CUfunction_attribute attrib, int *value);
/* What a function that uses so much shared memory of its own starts with. */
void sim_function_settings_start(struct sim_function_settings *settings,
                                 const struct ptx_func_info *info);

/* Whether a function may have the attribute set to `value`. */
CUresult sim_function_check_attribute(const struct ptx_func_info *info, CUfunction_attribute attrib,
                                      int value);

/* Sets an attribute that was found good. */
void sim_function_set_attribute(struct sim_function_settings *settings, CUfunction_attribute attrib,
                                int value);

/* Offset and size of a parameter, which the call for functions and that for kernels tell. */
CUresult sim_param_info(const struct ptx_func *func, size_t index, size_t *offset, size_t *size);

/* Largest number of blocks of the function that one multiprocessor holds. */
int sim_occupancy(const struct sim_function *function, int block_size, size_t dynamic_shared);

/* library.c */

/* The host's memory, for a module that is only looked at. */
extern const struct ptx_memory sim_scratch;

/* What is wrong with the library's code, which natively its use tells. */
CUresult sim_library_check(CUlibrary handle);
CUresult sim_kernel_function(struct sim_context *context, CUkernel handle,
                             struct sim_function **out);

/* jit.c */

/* What an image of any kind has for this device; sim_code_free() in any case. */
CUresult sim_image_code(const void *image, struct sim_code *code);

struct sim_jit {
    char *error_log;
    size_t error_log_size;
    void **error_log_used; /* receives the bytes written */
    char *info_log;
    size_t info_log_size;
    void **info_log_used;
    void **wall_time;
    uint64_t started;
};

/* Reads the options of a load. CUDA_ERROR_INVALID_VALUE: an option that CUDA does not know. */
CUresult sim_jit_begin(struct sim_jit *jit, unsigned count, const CUjit_option *options,
                       void **values);

/* Reports the outcome, with the engine's message, to whom the options asked for. */
void sim_jit_end(const struct sim_jit *jit, const char *message);

/*
 * The opening lines of most calls: the calling thread's context, released when the block ends, or
 * an early return with the error.
 */
#define SIM_ENTER(name)                                                                            \
    SIM_AUTO struct sim_context *name = NULL;                                                      \
    CUresult name##_error = sim_enter(&name);                                                      \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

/* The same for a call that needs the driver, but no context. */
#define SIM_READY()                                                                                \
    do {                                                                                           \
        CUresult not_ready = sim_ready();                                                          \
        if (not_ready != CUDA_SUCCESS)                                                             \
            return not_ready;                                                                      \
    } while (0)

#endif
