// SPDX-License-Identifier: Apache-2.0
/* The digests that RFC 1319 gives as its test suite, and HMAC by its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "export/md2.h"

static void digest_is(const char *message, const char *expected) {
    uint8_t digest[MD2_BYTES];
    char text[2 * MD2_BYTES + 1];
    struct md2 m;

    md2_start(&m);
    md2_add(&m, message, strlen(message));
    md2_end(&m, digest);
    for (int i = 0; i < MD2_BYTES; i++)
        sprintf(text + 2 * i, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

static void test_suite_of_the_rfc(void **state) {
    (void)state;
    digest_is("", "8350e5a3e24c153df2275c9f80692773");
    digest_is("a", "32ec01ec4a6dac72c0ab96fb34c0b5d1");
    digest_is("abc", "da853b0d3f88d99b30283a69e6ded6bb");
    digest_is("message digest", "ab4f496bfb2a530b219ff33031fe06b0");
    digest_is("abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b");
    digest_is("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
              "da33def2a42df13975352846c30338cd");
    digest_is("1234567890123456789012345678901234567890123456789012345678901234567890"
              "1234567890",
              "d5976f79d83d3a0dc9806c3c66f3efd8");
}

/* In whatever pieces it comes. */
static void test_pieces(void **state) {
    const char *message = "1234567890123456789012345678901234567890";
    uint8_t whole[MD2_BYTES], pieces[MD2_BYTES];
    struct md2 m;

    (void)state;
    md2_start(&m);
    md2_add(&m, message, 40);
    md2_end(&m, whole);
    for (size_t cut = 0; cut <= 40; cut++) {
        md2_start(&m);
        md2_add(&m, message, cut);
        md2_add(&m, message + cut, 40 - cut);
        md2_end(&m, pieces);
        assert_memory_equal(whole, pieces, MD2_BYTES);
    }
}

static void test_hmac(void **state) {
    uint8_t key[MD2_BYTES], padded[MD2_BYTES], inner[MD2_BYTES], outer[MD2_BYTES], hmac[MD2_BYTES];
    struct md2 m;

    (void)state;
    for (int i = 0; i < MD2_BYTES; i++)
        key[i] = (uint8_t)(7 * i + 1);
    md2_hmac_start(&m, key);
    md2_add(&m, "what is said", 12);
    md2_hmac_end(&m, key, hmac);

    md2_start(&m);
    for (int i = 0; i < MD2_BYTES; i++)
        padded[i] = key[i] ^ 0x36;
    md2_add(&m, padded, MD2_BYTES);
    md2_add(&m, "what is said", 12);
    md2_end(&m, inner);
    md2_start(&m);
    for (int i = 0; i < MD2_BYTES; i++)
        padded[i] = key[i] ^ 0x5c;
    md2_add(&m, padded, MD2_BYTES);
    md2_add(&m, inner, MD2_BYTES);
    md2_end(&m, outer);
    assert_memory_equal(hmac, outer, MD2_BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suite_of_the_rfc),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_hmac),
    };

    return cmocka_run_group_tests_name("userlib/md2", tests, NULL, NULL);
}
