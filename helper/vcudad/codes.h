/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code that workers had the driver's compiler make, kept for later programs of the same
 * owner: what NVIDIA's own cache is for native programs. It is sealed memory of the worker's, at
 * which vcudad never looks; what was used least lately goes first.
 */
#ifndef VCUDAD_CODES_H
#define VCUDAD_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "share.h"
#include "supervise.h"

/*
 * What one owner may leave here, and all together: pieces, a descriptor each, and bytes. All
 * together have a part of the descriptors that vcudad may have, too.
 */
#define CODES_OF_OWNER_MAX 64u
#define CODES_OF_OWNER_BYTES (64ull << 20)
#define CODES_MAX 512u
#define CODES_BYTES (256ull << 20)
#define CODES_DESCRIPTORS_PART 8

/*
 * A request of kind VCUDA_SHARE_CODE of a worker that serves `who`, with the descriptor that came
 * along or -1, which is taken over: fills in the answer. *give is a descriptor to go with the
 * answer, or -1, and stays ours. False: the request is nonsense.
 */
bool codes_serve(const struct vcuda_supervise_session *who,
                 const struct vcuda_share_request *request, int fd,
                 struct vcuda_share_answer *answer, int *give);

/* A domain is gone, and its number may be another's. */
void codes_forget(uint32_t domid);

#endif
