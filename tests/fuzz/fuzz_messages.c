// SPDX-License-Identifier: Apache-2.0
/* libFuzzer: the library reads a message that a worker wrote. The input is the record. */
#include <stdint.h>
#include <string.h>

#include "message.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t len = size & ~(size_t)7;
    struct vcuda_rec *record;
    struct message m;

    if (len < sizeof(*record) || len > VCUDA_REC_MAX)
        return 0;
    /* A block of the exact length: the sanitizer sees a byte too many. */
    record = malloc(len);
    memcpy(record, data, len);
    record->len = (uint32_t)len; /* as the ring hands it over */
    if (message_parse(record, (uint32_t)len, &m)) {
        uint32_t sum = 0;

        require(m.what > 0 && m.what < VCUDA_MESSAGE_MAX);
        if (m.what == VCUDA_MESSAGE_HOST)
            require(m.host.place <= VCUDA_HOST_PLACES);
        if (m.what == VCUDA_MESSAGE_PRINT) {
            require(m.print.fd == 1 || m.print.fd == 2);
            for (uint32_t i = 0; i < m.print.len; i++)
                sum += (uint8_t)m.print.text[i];
            require(sum <= 255u * VCUDA_REC_MAX);
        }
    }
    free(record);
    return 0;
}
