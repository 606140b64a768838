// SPDX-License-Identifier: Apache-2.0
#include "completion.h"

#include <string.h>

#include "ring.h"

/*
 * Slots first; where a blob was asked for, the last slot is its length and its bytes follow.
 * flags holds the number of slots.
 */
bool completion_parse(const struct vcuda_rec *head, uint32_t len, struct rpc *rpc) {
    const uint8_t *body = (const uint8_t *)(head + 1);
    uint32_t room = len - (uint32_t)sizeof(*head);
    uint32_t outs = head->flags;
    uint64_t blob;

    if (head->call != rpc->head.call || outs > RPC_OUTS_MAX || 8 * outs > room)
        return false;
    rpc->status = (CUresult)head->status;
    rpc->deferred = (CUresult)head->deferred;
    rpc->out_count = outs;
    vcuda_copy_words(rpc->outs, body, outs);
    if (!rpc->want || !outs || head->status)
        return true;
    blob = rpc->outs[outs - 1];
    if (blob > room - 8 * outs || blob > rpc->want_cap)
        return false;
    memcpy(rpc->want, body + 8 * outs, blob);
    rpc->want_len = (uint32_t)blob;
    return true;
}
