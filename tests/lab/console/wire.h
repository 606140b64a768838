/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What dom0 (ask.c) and the agent in a guest (agent.c) say to each other over the guest's console.
 *
 * dom0 to guest, one line each:   run ID BASE64-OF-COMMAND | again ID | stop ID
 * guest to dom0:                  @ready
 *                                 @ID STATUS CRC32 BASE64-OF-OUTPUT .
 *
 * The guest's kernel writes on the same console and may cut a line in two: the CRC tells dom0,
 * which then asks again. IDs are 16 hexadecimal digits.
 */
#ifndef VCUDA_TESTS_LAB_CONSOLE_WIRE_H
#define VCUDA_TESTS_LAB_CONSOLE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define ID_LENGTH 16

static inline uint32_t wire_crc32(const uint8_t *bytes, size_t size) {
    static uint32_t table[256];
    uint32_t crc = 0xffffffff;

    for (uint32_t i = 0; !table[255] && i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320 : table[i] >> 1;
    }
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}

static const char wire_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Characters that size bytes become. */
static inline size_t wire_encoded(size_t size) {
    return (size + 2) / 3 * 4;
}

/* Writes wire_encoded(size) characters to `to`, without an end mark. */
static inline void wire_encode(char *to, const uint8_t *from, size_t size) {
    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at;
        uint32_t word = (uint32_t)from[at] << 16 | (left > 1 ? (uint32_t)from[at + 1] << 8 : 0) |
                        (left > 2 ? from[at + 2] : 0);

        *to++ = wire_digits[word >> 18];
        *to++ = wire_digits[word >> 12 & 63];
        *to++ = left > 1 ? wire_digits[word >> 6 & 63] : '=';
        *to++ = left > 2 ? wire_digits[word & 63] : '=';
    }
}

/* The digit's value, or -1. */
static inline int wire_digit(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Bytes that length characters became in `to` (room for length / 4 * 3), or -1 where they are no
 * base64. */
static inline long wire_decode(uint8_t *to, const char *from, size_t length) {
    uint32_t word = 0;
    unsigned int bits = 0;
    long size = 0;

    for (size_t i = 0; i < length && from[i] != '='; i++) {
        int value = wire_digit(from[i]);

        if (value < 0)
            return -1;
        word = word << 6 | (uint32_t)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            to[size++] = (uint8_t)(word >> bits);
        }
    }
    return size;
}

#endif
