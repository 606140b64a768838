/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the session shares with others of its owner: the worker's side of share.h.
 * Each call waits for vcudad, but shared_resize(). Any thread.
 */
#ifndef VCUDA_WORKER_SHARED_H
#define VCUDA_WORKER_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"
#include "share.h"

/* Once, when the session is known. Before, nothing can be shared. */
void shared_start(int sock);

/*
 * Puts the driver's descriptor, which stays the caller's, under a token; for VCUDA_SHARE_HANDLE
 * there is none, and fd is -1 here and in shared_get(). *hold is the session's on the piece, or 0:
 * then it gets one. CUDA_ERROR_OUT_OF_MEMORY: the owner shares too much.
 */
CUresult shared_put(enum vcuda_share_kind kind, uint64_t bytes, int fd, uint32_t *hold,
                    struct vcuda_share_token *token);
/*
 * The driver's descriptor under a token, which is the caller's then, and a hold on its piece.
 * CUDA_ERROR_INVALID_VALUE: there is none of this kind and owner.
 */
CUresult shared_get(enum vcuda_share_kind kind, const struct vcuda_share_token *token, int *fd,
                    uint32_t *hold);
/* Nobody can get it any more. */
CUresult shared_end(const struct vcuda_share_token *token);
/* The session has a piece no more; before it counts its memory no more. 0 does nothing. */
void shared_leave(uint32_t hold);
/*
 * Where workers of programs that have ended hold still what those had: waits until one has ended.
 * False: there is none, or it takes long.
 */
bool shared_await_endings(void);
/* What a program of this owner kept under a key: a descriptor, the caller's, or -1. */
int shared_code_get(uint64_t key);
/* Keeps sealed memory, whose descriptor stays the caller's, until others need the room. */
void shared_code_put(uint64_t key, int fd);
/* A piece that the session counts has so many bytes now: false, it is to be told again. */
bool shared_resize(uint32_t hold, uint64_t bytes);

#endif
