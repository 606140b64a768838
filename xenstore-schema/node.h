/* SPDX-License-Identifier: Apache-2.0 */
/* Single nodes and transactions of xenstored, for the files of part two only. */
#ifndef VCUDA_XENSTORE_NODE_H
#define VCUDA_XENSTORE_NODE_H

#include "schema.h"

#include <xenstore.h>

/* -ENOENT: no node; -EINVAL, -ERANGE: not a decimal u32 in it. */
int node_u32(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path, uint32_t *value);
enum vcuda_state node_state(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path);
bool node_exists(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path);

int node_write(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path, const char *text);
int node_write_u32(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path,
                   uint32_t value);
/* owner may do all, reader (if it is not the owner) may read, nobody else anything. */
int node_permit(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path, uint32_t owner,
                uint32_t reader);
/* A node that is not there is removed already. */
int node_remove(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path);

/* K, F and the folders that hold nothing else. */
int device_remove(struct xs_handle *xs, xs_transaction_t t, uint32_t domid);

/* D, and the folders that hold nothing else. */
int notes_remove(struct xs_handle *xs, xs_transaction_t t, uint32_t domid);

/* A node of D, and the folders that hold nothing else. */
int note_remove(struct xs_handle *xs, xs_transaction_t t, uint32_t domid, const char *node);

/* Ids that have a D. Count; free(*domids). */
int noted_domains(struct xs_handle *xs, uint32_t **domids);

/* Connected or on the way there or back: the device is attached. */
bool state_attached(enum vcuda_state state);

/*
 * Runs step() in a transaction until it commits. What step() returns below 0
 * aborts and is returned; a value from 0 up commits and is returned. -EBUSY:
 * others wrote in between each time; a guest can cause that for ever on
 * nodes that it may write.
 */
typedef int transaction_step(struct xs_handle *xs, xs_transaction_t t, void *arg);
int transaction_run(struct xs_handle *xs, transaction_step *step, void *arg);

#endif
