// SPDX-License-Identifier: Apache-2.0
/* RFC 1319, with its erratum: a byte of the checksum takes its old value in. */
#include "export/md2.h"

#include <string.h>

/* A permutation of 0 to 255 made of the digits of pi. */
static const uint8_t pi[256] = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,
    243, 192, 199, 115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212,
    224, 22,  103, 66,  111, 24,  138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160,
    251, 245, 142, 187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,  148, 194, 16,  137,
    11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151,
    3,   255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,  170, 198, 79,  184,
    56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,  100,
    113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246,
    28,  70,  97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249,
    206, 186, 197, 234, 38,  44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129,
    77,  82,  106, 220, 55,  200, 108, 193, 171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120,
    136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254, 59,  0,   29,  57,  242, 239, 183, 14,
    102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,  49,  68,  80,  180, 143, 237, 31,
    26,  219, 153, 141, 51,  159, 17,  131, 20,
};

void md2_start(struct md2 *m) {
    memset(m, 0, sizeof(*m));
}

/* The state takes in a block: three of them are mixed, of which one stays. */
static void mix(uint8_t *state, const uint8_t *block) {
    uint8_t x[3 * MD2_BYTES], t = 0;

    for (int i = 0; i < MD2_BYTES; i++) {
        x[i] = state[i];
        x[MD2_BYTES + i] = block[i];
        x[2 * MD2_BYTES + i] = state[i] ^ block[i];
    }
    for (int round = 0; round < 18; round++) {
        for (size_t i = 0; i < sizeof(x); i++)
            t = x[i] ^= pi[t];
        t = (uint8_t)(t + round);
    }
    memcpy(state, x, MD2_BYTES);
}

static void take_block(struct md2 *m) {
    uint8_t last = m->checksum[MD2_BYTES - 1];

    for (int i = 0; i < MD2_BYTES; i++)
        last = m->checksum[i] ^= pi[m->block[i] ^ last];
    mix(m->state, m->block);
    m->filled = 0;
}

void md2_add(struct md2 *m, const void *data, size_t bytes) {
    const uint8_t *d = data;

    for (size_t i = 0; i < bytes; i++) {
        m->block[m->filled++] = d[i];
        if (m->filled == MD2_BYTES)
            take_block(m);
    }
}

void md2_end(struct md2 *m, uint8_t digest[MD2_BYTES]) {
    uint8_t padding[MD2_BYTES], checksum[MD2_BYTES];
    uint8_t missing = (uint8_t)(MD2_BYTES - m->filled);

    memset(padding, missing, sizeof(padding));
    md2_add(m, padding, missing);
    memcpy(checksum, m->checksum, sizeof(checksum));
    md2_add(m, checksum, sizeof(checksum));
    memcpy(digest, m->state, MD2_BYTES);
}

/* One half of it: the key, its bits turned by `pad`, then what is hashed under it. */
static void start_keyed(struct md2 *m, const uint8_t key[MD2_BYTES], uint8_t pad) {
    uint8_t padded[MD2_BYTES];

    for (int i = 0; i < MD2_BYTES; i++)
        padded[i] = key[i] ^ pad;
    md2_start(m);
    md2_add(m, padded, sizeof(padded));
}

void md2_hmac_start(struct md2 *m, const uint8_t key[MD2_BYTES]) {
    start_keyed(m, key, 0x36);
}

void md2_hmac_end(struct md2 *m, const uint8_t key[MD2_BYTES], uint8_t digest[MD2_BYTES]) {
    uint8_t inner[MD2_BYTES];

    md2_end(m, inner);
    start_keyed(m, key, 0x5c);
    md2_add(m, inner, sizeof(inner));
    md2_end(m, digest);
}
