// SPDX-License-Identifier: Apache-2.0
#include "codes.h"
#include "owners.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct code {
    struct vcuda_supervise_session who;
    uint64_t key;
    uint64_t bytes;
    int fd;
    TAILQ_ENTRY(code) by_use; /* first: what was used last */
};

static TAILQ_HEAD(code_list, code) codes = TAILQ_HEAD_INITIALIZER(codes);

static struct code *find(const struct vcuda_supervise_session *who, uint64_t key) {
    struct code *c = TAILQ_FIRST(&codes);

    while (c && !(c->key == key && owners_same(&c->who, who)))
        c = TAILQ_NEXT(c, by_use);
    return c;
}

static void drop(struct code *c) {
    TAILQ_REMOVE(&codes, c, by_use);
    close(c->fd);
    free(c);
}

/* Pieces of all owners. */
static uint32_t most_of_all(void) {
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur / CODES_DESCRIPTORS_PART > CODES_MAX)
        return CODES_MAX;
    return (uint32_t)(files.rlim_cur / CODES_DESCRIPTORS_PART);
}

/* Makes room for another piece of `bytes` bytes; of this owner, or of all for NULL. */
static void make_room(const struct vcuda_supervise_session *who, uint32_t most, uint64_t most_bytes,
                      uint64_t bytes) {
    struct code *c, *next;
    uint32_t count = 1;

    for (c = TAILQ_FIRST(&codes); c; c = next) {
        next = TAILQ_NEXT(c, by_use);
        if (who && !owners_same(&c->who, who))
            continue;
        if (count == most || c->bytes > most_bytes - bytes) {
            drop(c);
            continue;
        }
        count++;
        bytes += c->bytes;
    }
}

/* What could still change would be of use to nobody. */
static bool sealed(int fd) {
    int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && (seals & SEALS) == SEALS;
}

/* 0, and the descriptor is ours, or a negative errno. */
static int put(const struct vcuda_supervise_session *who, uint64_t key, int fd) {
    struct code *c = find(who, key);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) || !sealed(fd))
        return -EINVAL;
    if ((uint64_t)st.st_size > CODES_OF_OWNER_BYTES)
        return -EFBIG;
    if (c)
        drop(c);
    c = malloc(sizeof(*c));
    if (!c)
        return -ENOMEM;
    make_room(who, CODES_OF_OWNER_MAX, CODES_OF_OWNER_BYTES, (uint64_t)st.st_size);
    make_room(NULL, most_of_all(), CODES_BYTES, (uint64_t)st.st_size);
    *c = (struct code){.who = *who, .key = key, .bytes = (uint64_t)st.st_size, .fd = fd};
    TAILQ_INSERT_HEAD(&codes, c, by_use);
    return 0;
}

static int get(const struct vcuda_supervise_session *who, uint64_t key, int *give) {
    struct code *c = find(who, key);

    if (!c)
        return -ENOENT;
    TAILQ_REMOVE(&codes, c, by_use);
    TAILQ_INSERT_HEAD(&codes, c, by_use);
    *give = c->fd;
    return 0;
}

bool codes_serve(const struct vcuda_supervise_session *who,
                 const struct vcuda_share_request *request, int fd,
                 struct vcuda_share_answer *answer, int *give) {
    *answer = (struct vcuda_share_answer){.status = 0};
    *give = -1;
    if (request->op == VCUDA_SHARE_PUT) {
        answer->status = put(who, request->key, fd);
        if (answer->status && fd >= 0)
            close(fd);
        return true;
    }
    if (fd >= 0)
        close(fd);
    if (request->op != VCUDA_SHARE_GET || fd >= 0)
        return false;
    answer->status = get(who, request->key, give);
    return true;
}

void codes_forget(uint32_t domid) {
    struct code *c, *next;

    for (c = TAILQ_FIRST(&codes); c; c = next) {
        next = TAILQ_NEXT(c, by_use);
        if (c->who.domid == domid)
            drop(c);
    }
}
