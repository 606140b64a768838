// SPDX-License-Identifier: Apache-2.0
/* Single nodes and transactions of xenstored. */
#include "node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough against neighbours who write by chance. */
#define TRANSACTION_TRIES 64

typedef int parser(const char *text, size_t len, uint32_t *value);

/* xenstored bounds a value to 4 KiB. */
static int node_parse(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path,
                      parser *parse, uint32_t *value) {
    unsigned len;
    char *text = xs_read(xs, t, path.s, &len);
    int err;

    if (!text)
        return -errno;
    err = parse(text, len, value);
    free(text);
    return err;
}

int node_u32(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path, uint32_t *value) {
    return node_parse(xs, t, path, vcuda_parse_u32, value);
}

static int parse_state(const char *text, size_t len, uint32_t *value) {
    *value = vcuda_parse_state(text, len);
    return 0;
}

enum vcuda_state node_state(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path) {
    uint32_t state = VCUDA_STATE_UNKNOWN;

    node_parse(xs, t, path, parse_state, &state);
    return (enum vcuda_state)state;
}

bool node_exists(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path) {
    char *text = xs_read(xs, t, path.s, NULL);

    free(text);
    return text != NULL;
}

int node_write(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path, const char *text) {
    return xs_write(xs, t, path.s, text, (unsigned)strlen(text)) ? 0 : -errno;
}

int node_write_u32(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path,
                   uint32_t value) {
    char text[16];

    snprintf(text, sizeof(text), "%u", value);
    return node_write(xs, t, path, text);
}

int node_permit(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path, uint32_t owner,
                uint32_t reader) {
    /* The first entry is the owner's id and, for everybody else, no access. */
    struct xs_permissions perms[2] = {
        {.id = owner, .perms = XS_PERM_NONE},
        {.id = reader, .perms = XS_PERM_READ},
    };

    return xs_set_permissions(xs, t, path.s, perms, owner == reader ? 1 : 2) ? 0 : -errno;
}

int node_remove(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path) {
    return xs_rm(xs, t, path.s) || errno == ENOENT ? 0 : -errno;
}

/* Removes up to levels folders above path, as long as they are empty. */
static int remove_empty_above(struct xs_handle *xs, xs_transaction_t t, struct vcuda_path path,
                              int levels) {
    for (; levels; levels--) {
        unsigned count;
        char **children;
        int err;

        *strrchr(path.s, '/') = '\0';
        children = xs_directory(xs, t, path.s, &count);
        if (!children && errno != ENOENT)
            return -errno;
        free(children);
        if (!children)
            continue;
        if (count)
            break;
        err = node_remove(xs, t, path);
        if (err)
            return err;
    }
    return 0;
}

/*
 * The two device folders by name, because the drivers' bus takes a device
 * away only when its own folder vanishes; then what is empty above them: the
 * guest's device/vcuda, and dom0's backend/vcuda/U, backend/vcuda and backend,
 * which libxl takes away too with the last device of its own.
 */
int device_remove(struct xs_handle *xs, xs_transaction_t t, uint32_t domid) {
    struct vcuda_path front = vcuda_path_front(domid, NULL);
    struct vcuda_path back = vcuda_path_back(domid, NULL);
    int err = node_remove(xs, t, front);

    if (!err)
        err = node_remove(xs, t, back);
    if (!err)
        err = remove_empty_above(xs, t, front, 1);
    return err ? err : remove_empty_above(xs, t, back, 3);
}

int notes_remove(struct xs_handle *xs, xs_transaction_t t, uint32_t domid) {
    struct vcuda_path notes = vcuda_path_dom0(domid, NULL);
    int err = node_remove(xs, t, notes);

    return err ? err : remove_empty_above(xs, t, notes, 2);
}

int note_remove(struct xs_handle *xs, xs_transaction_t t, uint32_t domid, const char *node) {
    struct vcuda_path note = vcuda_path_dom0(domid, node);
    int err = node_remove(xs, t, note);

    return err ? err : remove_empty_above(xs, t, note, 3);
}

bool state_attached(enum vcuda_state state) {
    return state != VCUDA_STATE_UNKNOWN && state != VCUDA_STATE_CLOSED;
}

int transaction_run(struct xs_handle *xs, transaction_step *step, void *arg) {
    for (int i = 0; i < TRANSACTION_TRIES; i++) {
        xs_transaction_t t = xs_transaction_start(xs);
        int result;

        if (t == XBT_NULL)
            return -errno;
        result = step(xs, t, arg);
        if (xs_transaction_end(xs, t, result < 0))
            return result;
        if (errno != EAGAIN)
            return -errno;
    }
    return -EBUSY;
}
