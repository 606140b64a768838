/* SPDX-License-Identifier: Apache-2.0 */
/* The MD2 digest (RFC 1319) and HMAC over it (RFC 2104). Nothing here keeps a secret. */
#ifndef CUDA_EXPORT_MD2_H
#define CUDA_EXPORT_MD2_H

#include <stddef.h>
#include <stdint.h>

#define MD2_BYTES 16 /* of a block and of a digest */

struct md2 {
    uint8_t state[MD2_BYTES];
    uint8_t checksum[MD2_BYTES];
    uint8_t block[MD2_BYTES];
    unsigned int filled;
};

void md2_start(struct md2 *m);
void md2_add(struct md2 *m, const void *data, size_t bytes);
void md2_end(struct md2 *m, uint8_t digest[MD2_BYTES]);

/* HMAC with a key of exactly one block; between the two md2_add() takes the message. */
void md2_hmac_start(struct md2 *m, const uint8_t key[MD2_BYTES]);
void md2_hmac_end(struct md2 *m, const uint8_t key[MD2_BYTES], uint8_t digest[MD2_BYTES]);

#endif
