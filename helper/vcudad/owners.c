// SPDX-License-Identifier: Apache-2.0
#include "owners.h"
#include "memfile.h"
#include "shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct owner {
    struct vcuda_supervise_session who;
    struct vcuda_owner *memory;
    struct shares *shares;
    int fd;
    uint32_t sessions;
    bool taken[VCUDA_ACCOUNT_SHARES]; /* what its memory says is not believed */
    struct owner *next;
};

static struct owner *owners;

/* Not in the list. */
static void dispose(struct owner *owner) {
    shares_free(owner->shares);
    if (owner->memory) {
        munmap(owner->memory, sizeof(*owner->memory));
        close(owner->fd);
    }
    free(owner);
}

static struct owner *new_owner(const struct vcuda_supervise_session *session) {
    struct owner *o = calloc(1, sizeof(*o));
    void *memory;

    if (!o)
        return NULL;
    o->fd = memfile_make("vcuda-owner", sizeof(*o->memory), &memory);
    o->memory = o->fd < 0 ? NULL : memory;
    o->shares = o->memory ? shares_new(&o->memory->account.shared) : NULL;
    if (!o->shares) {
        dispose(o);
        return NULL;
    }
    o->who = *session;
    o->next = owners;
    owners = o;
    return o;
}

static void drop(struct owner *owner) {
    struct owner **link = &owners;

    while (*link != owner)
        link = &(*link)->next;
    *link = owner->next;
    dispose(owner);
}

struct owner *owners_enter(struct vcuda_supervise_session *session, int *error) {
    struct owner *o = owners;
    uint32_t place = 0;

    while (o && !owners_same(&o->who, session))
        o = o->next;
    if (!o)
        o = new_owner(session);
    *error = -ENOMEM;
    if (!o)
        return NULL;
    while (place < VCUDA_ACCOUNT_SHARES && o->taken[place])
        place++;
    *error = -EDQUOT;
    if (place == VCUDA_ACCOUNT_SHARES)
        return NULL;
    vcuda_account_clear(&o->memory->account, place);
    vcuda_handoff_clear(&o->memory->handoffs, place);
    if (place >= o->memory->account.shares)
        __atomic_store_n(&o->memory->account.shares, place + 1, __ATOMIC_RELEASE);
    o->taken[place] = true;
    o->sessions++;
    session->place = place;
    return o;
}

int owners_fd(const struct owner *owner) {
    return owner->fd;
}

uint64_t owners_held(const struct owner *owner, const struct vcuda_supervise_session *session) {
    return __atomic_load_n(&owner->memory->account.share[session->place].held, __ATOMIC_RELAXED);
}

uint64_t owners_held_in_all(const struct owner *owner) {
    return vcuda_account_held(&owner->memory->account);
}

struct shares *owners_shares(const struct owner *owner) {
    return owner->shares;
}

void owners_leave(struct owner *owner, const struct vcuda_supervise_session *session) {
    /* First: what others have of it is counted elsewhere before it is not counted here. */
    shares_leave(owner->shares, session->place);
    vcuda_account_clear(&owner->memory->account, session->place);
    vcuda_handoff_clear(&owner->memory->handoffs, session->place);
    owner->taken[session->place] = false;
    if (--owner->sessions == 0)
        drop(owner);
}
