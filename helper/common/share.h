/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the programs of one owner share. The driver's own descriptor is good for any process
 * of the host, so no program sees it: vcudad keeps it under a token, and gives it to other workers
 * of the same owner. What travels between the programs is the token. Where the driver has a handle
 * in place of a descriptor (handoff.h), nothing but the count is vcudad's: such a token has no
 * descriptor, and ends with the exporter's hold.
 *
 * The socket that a worker was started with (supervise.h) stays for this after SESSION. The worker
 * asks, vcudad answers each request but RESIZE, in order:
 *
 *   PUT     kind, bytes, hold + the driver's descriptor   token, hold
 *   GET     kind, token                                   bytes, hold + the descriptor
 *   END     token                                         nobody can have it any more
 *   LEAVE   hold                                          the worker has it no more
 *   RESIZE  hold, bytes                                   (no answer)
 *   ENDING                                                how many workers end (in bytes)
 *
 * A hold is a worker's on a piece of memory: the exporter's from its first PUT of it on, an
 * importer's from GET on. The exporter counts the piece in its own place of the account as long as
 * it has a hold; from then on vcudad counts it as the owner's, until the last hold and the last
 * token are gone. So memory counts once, however many have it, and never not at all.
 *
 * Compiled code is kept on the same road, for later programs of the owner: PUT and GET with a key
 * in place of a token, and neither hold nor count. The descriptor is sealed memory.
 */
#ifndef VCUDA_HELPER_SHARE_H
#define VCUDA_HELPER_SHARE_H

#include <stdint.h>

enum vcuda_share_op {
    VCUDA_SHARE_PUT = 16, /* none of vcuda_supervise_op's */
    VCUDA_SHARE_GET,
    VCUDA_SHARE_END,
    VCUDA_SHARE_LEAVE,
    VCUDA_SHARE_RESIZE,
    VCUDA_SHARE_ENDING,
};

enum vcuda_share_kind {
    VCUDA_SHARE_MEMORY = 1, /* physical memory of the virtual memory management */
    VCUDA_SHARE_POOL = 2,
    VCUDA_SHARE_HANDLE = 3, /* an allocation: without descriptors */
    VCUDA_SHARE_CODE = 4,
};

struct vcuda_share_token {
    uint32_t slot;
    uint32_t pad;
    uint8_t secret[16];
};

struct vcuda_share_request {
    uint32_t op;
    uint32_t kind;
    uint64_t bytes; /* that the piece takes, as the exporter counts it */
    uint32_t hold;  /* of the worker's; 0: none yet */
    uint32_t pad;
    struct vcuda_share_token token;
    uint64_t key; /* of code */
};

struct vcuda_share_answer {
    int32_t status; /* 0 or a negative errno: then the rest is 0 and no descriptor comes */
    uint32_t hold;
    uint64_t bytes;
    struct vcuda_share_token token;
};

/*
 * The worker's half. Waits for vcudad's answer, 10 s at most; one thread at a time. `fd` goes along
 * with PUT and stays the caller's; *got is the one that came with GET, close-on-exec, or -1.
 * -EPIPE: vcudad is gone, or makes no sense: the socket is good for nothing any more. -EMFILE: this
 * process has no room for the descriptor, but the answer is there.
 */
int vcuda_share_ask(int sock, const struct vcuda_share_request *request, int fd,
                    struct vcuda_share_answer *answer, int *got);
/* RESIZE, without waiting: -EAGAIN if vcudad is behind. Any thread. */
int vcuda_share_tell(int sock, const struct vcuda_share_request *request);

/*
 * vcudad's half: one request; *fd is the caller's, or -1. -EAGAIN: there is none; -EPIPE: the
 * worker is gone; -EPROTO: nonsense; -EMFILE: no room for its descriptor, to be answered.
 */
int vcuda_share_receive(int sock, struct vcuda_share_request *request, int *fd);
/* Answers without waiting: an error if the worker does not read. fd: -1, or one that stays ours. */
int vcuda_share_answer(int sock, const struct vcuda_share_answer *answer, int fd);

#endif
