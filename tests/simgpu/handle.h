/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: what programs hold instead of pointers. A handle is a type, a generation and a slot, so
 * that a wild or stale one is told from a good one without touching memory, and is never reused
 * for something else.
 */
#ifndef SIMGPU_HANDLE_H
#define SIMGPU_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum sim_type {
    SIM_CONTEXT = 0x11,
    SIM_STREAM,
    SIM_EVENT,
    SIM_MODULE,
    SIM_FUNCTION,
    SIM_LIBRARY,
    SIM_KERNEL,
    SIM_GRAPH,
    SIM_NODE,
    SIM_EXEC,
    SIM_ARRAY,
    SIM_MIPMAP,
    SIM_LINKER,
    SIM_POOL,
    SIM_PHYSICAL,
    SIM_CONDITION,
    SIM_TEXTURE,
    SIM_SURFACE,
    SIM_TEXREF,
    SIM_SURFREF,
    SIM_USER_OBJECT,
    SIM_GREEN,
    SIM_DESC,
};

/* The head of everything that a handle can name: a counted reference each. */
struct sim_object {
    enum sim_type type;
    atomic_uint refs;
    uint64_t handle; /* 0: none */
    void (*destroy)(struct sim_object *object);
};

/* Starts an object with one reference, the caller's. */
void sim_object_init(struct sim_object *object, enum sim_type type,
                     void (*destroy)(struct sim_object *object));

/* Gives the object a handle, which holds a reference of its own; false: out of memory. */
bool sim_handle_open(struct sim_object *object);

/* Ends the handle and drops its reference; false: somebody else did. */
bool sim_handle_close(struct sim_object *object);

/* A new reference to the object behind the handle, or NULL. */
void *sim_handle_get(const void *handle, enum sim_type type);

/* The handle was a good one of that type once. */
bool sim_handle_stale(const void *handle, enum sim_type type);

void *sim_ref(void *object);
void sim_put(void *object); /* NULL is fine */

/* For SIM_AUTO: drops the reference in a variable that leaves its scope. */
static inline void sim_auto_put(void *variable) {
    void *object;

    memcpy(&object, variable, sizeof(object));
    sim_put(object);
}

#define SIM_AUTO __attribute__((cleanup(sim_auto_put)))

/* The handle of an object as a program sees it. */
#define SIM_HANDLE(o) ((void *)(uintptr_t)(o)->object.handle)

#endif
