/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has sessions: domains, and users of the local transport; and the memory that the workers of
 * each share (owner.h).
 */
#ifndef VCUDAD_OWNERS_H
#define VCUDAD_OWNERS_H

#include "supervise.h"

#include <stdbool.h>

/* Whether two sessions are of one domain or, without Xen, of one user. */
static inline bool owners_same(const struct vcuda_supervise_session *a,
                               const struct vcuda_supervise_session *b) {
    return a->domid == b->domid && (a->domid != VCUDA_SUPERVISE_LOCAL || a->uid == b->uid);
}

struct owner;
struct shares;

/*
 * A place in the owner's memory for a session, in session->place; the owner is made with its first
 * session. NULL: there is no memory, or no place left (told in *error).
 */
struct owner *owners_enter(struct vcuda_supervise_session *session, int *error);
/* The descriptor of its memory, for the worker. */
int owners_fd(const struct owner *owner);
/* What the session's worker holds now, and what all of the owner's hold, in bytes. */
uint64_t owners_held(const struct owner *owner, const struct vcuda_supervise_session *session);
uint64_t owners_held_in_all(const struct owner *owner);
/* What its workers share by descriptors. */
struct shares *owners_shares(const struct owner *owner);
/* The session's worker is gone: what it held is free, and with the last one the owner goes. */
void owners_leave(struct owner *owner, const struct vcuda_supervise_session *session);

#endif
