/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one owner's workers share, see share.h: pieces of memory, who holds them, and the driver's
 * descriptors under their tokens. All that comes in is a worker's word.
 */
#ifndef VCUDAD_SHARES_H
#define VCUDAD_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "share.h"

/* Of one owner at most; and descriptors of all owners, as a part of those that vcudad may have. */
#define SHARES_TOKENS_MAX 4096u
#define SHARES_HOLDS_MAX 16384u
#define SHARES_DESCRIPTORS_PART 2

struct shares;

/* Bytes of a piece at most: their sum fits into 64 bits. */
#define SHARES_BYTES_MAX (1ull << 48)

/* `counted` is the word in which what is the owner's as such is told, in bytes. NULL: no memory. */
struct shares *shares_new(uint64_t *counted);
/* All workers have left. */
void shares_free(struct shares *s);

/*
 * The request of the worker at `place`, with the descriptor that came along or -1: fills in the
 * answer. `fd` is taken over. *give is a descriptor to go with the answer, or -1, and stays ours.
 * False: the request is nonsense, for which no honest worker has a reason.
 */
bool shares_serve(struct shares *s, uint32_t place, const struct vcuda_share_request *request,
                  int fd, struct vcuda_share_answer *answer, int *give);

/* The worker at `place` is gone, with its tokens and holds. */
void shares_leave(struct shares *s, uint32_t place);

#endif
