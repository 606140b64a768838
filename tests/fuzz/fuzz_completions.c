// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer: the library reads a completion that a worker wrote. The input is
 * the call that waits (number, and how long a blob it wants), then the record.
 */
#include <stdint.h>
#include <string.h>

#include "completion.h"
#include "require.h"

#define WANT_MAX 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rpc rpc = {0};
    struct vcuda_rec *record;
    uint16_t cap;
    uint8_t *want;
    size_t len;

    if (size < 4 + sizeof(*record))
        return 0;
    memcpy(&rpc.head.call, data, 2);
    memcpy(&cap, data + 2, 2);
    rpc.want_cap = cap % WANT_MAX;
    /* Blocks of the exact lengths: the sanitizer sees a byte too many. */
    want = malloc(rpc.want_cap + 1u);
    rpc.want = rpc.want_cap ? want : NULL;
    len = (size - 4) & ~(size_t)7;
    if (len > VCUDA_REC_MAX)
        len = VCUDA_REC_MAX;
    record = malloc(len);
    memcpy(record, data + 4, len);
    record->len = (uint32_t)len; /* as the ring hands it over */
    want[rpc.want_cap] = 0xa5;
    if (completion_parse(record, (uint32_t)len, &rpc)) {
        require(rpc.out_count <= RPC_OUTS_MAX);
        require(rpc.want_len <= rpc.want_cap);
        require(rpc.status == (CUresult)record->status);
    }
    require(want[rpc.want_cap] == 0xa5);
    free(record);
    free(want);
    return 0;
}
