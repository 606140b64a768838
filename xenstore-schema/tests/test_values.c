// SPDX-License-Identifier: Apache-2.0
/* Paths, parsers and policy files: what needs no xenstored. */
#include "schema.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define UNTOUCHED 0xdeadbeefu

typedef int parser(const char *text, size_t len, uint32_t *value);

/* The text lies at the end of an allocation of its own, so that reading past it is seen. */
static void expect_len(parser *parse, const char *text, size_t len, int err, uint32_t expected) {
    uint32_t value = UNTOUCHED;
    char *copy = malloc(len ? len : 1);

    memcpy(copy, text, len);
    if (parse(copy, len, &value) != err || value != (err ? UNTOUCHED : expected))
        fail_msg("\"%.*s\" gave %u", (int)len, text, value);
    free(copy);
}

static void expect(parser *parse, const char *text, int err, uint32_t expected) {
    expect_len(parse, text, strlen(text), err, expected);
}

static void decimals_are_strict(void **state) {
    (void)state;
    expect(vcuda_parse_u32, "0", 0, 0);
    expect(vcuda_parse_u32, "7", 0, 7);
    expect(vcuda_parse_u32, "4294967295", 0, UINT32_MAX);
    expect(vcuda_parse_u32, "4294967296", -ERANGE, 0);
    expect(vcuda_parse_u32, "99999999999999999999999999", -ERANGE, 0);
    expect(vcuda_parse_u32, "", -EINVAL, 0);
    expect(vcuda_parse_u32, "00", -EINVAL, 0);
    expect(vcuda_parse_u32, "01", -EINVAL, 0);
    expect(vcuda_parse_u32, "-1", -EINVAL, 0);
    expect(vcuda_parse_u32, "+1", -EINVAL, 0);
    expect(vcuda_parse_u32, " 1", -EINVAL, 0);
    expect(vcuda_parse_u32, "1 ", -EINVAL, 0);
    expect(vcuda_parse_u32, "1\n", -EINVAL, 0);
    expect(vcuda_parse_u32, "0x1", -EINVAL, 0);
    expect(vcuda_parse_u32, "99999999999999999999999999x", -EINVAL, 0);
    expect_len(vcuda_parse_u32, "1\0", 2, -EINVAL, 0);
    expect_len(vcuda_parse_u32, "123", 2, 0, 12);
}

static void domain_ids_end_where_xens_do(void **state) {
    (void)state;
    expect(vcuda_parse_domid, "0", 0, 0);
    expect(vcuda_parse_domid, "32751", 0, 32751);
    expect(vcuda_parse_domid, "32752", -ERANGE, 0);
    expect(vcuda_parse_domid, "web", -EINVAL, 0);
}

static void states_are_known_or_unknown(void **state) {
    (void)state;
    assert_int_equal(vcuda_parse_state("4", 1), VCUDA_STATE_CONNECTED);
    assert_int_equal(vcuda_parse_state("8", 1), VCUDA_STATE_RECONFIGURED);
    assert_int_equal(vcuda_parse_state("9", 1), VCUDA_STATE_UNKNOWN);
    assert_int_equal(vcuda_parse_state("", 0), VCUDA_STATE_UNKNOWN);
    assert_int_equal(vcuda_parse_state("4x", 2), VCUDA_STATE_UNKNOWN);
    assert_string_equal(vcuda_state_name(VCUDA_STATE_INIT_WAIT), "InitWait");
    assert_string_equal(vcuda_state_name(VCUDA_STATE_RECONFIGURED), "Reconfigured");
    assert_string_equal(vcuda_state_name((enum vcuda_state)9), "Unknown");
    assert_string_equal(vcuda_state_name((enum vcuda_state) - 1), "Unknown");
}

static int parse_gpus(const char *text, struct vcuda_gpus *gpus) {
    return vcuda_parse_gpus(text, strlen(text), gpus);
}

static void gpu_lists(void **state) {
    struct vcuda_gpus gpus = {.count = 77};
    char text[VCUDA_GPUS_TEXT_MAX];

    (void)state;
    assert_int_equal(parse_gpus("", &gpus), -EINVAL);
    assert_int_equal(parse_gpus(" 0", &gpus), -EINVAL);
    assert_int_equal(parse_gpus("0 ", &gpus), -EINVAL);
    assert_int_equal(parse_gpus("0  1", &gpus), -EINVAL);
    assert_int_equal(parse_gpus("0,,1", &gpus), -EINVAL);
    assert_int_equal(parse_gpus("1 1", &gpus), -EINVAL);
    assert_int_equal(parse_gpus("256", &gpus), -ERANGE);
    assert_int_equal(gpus.count, 77);
    assert_int_equal(parse_gpus("2,0 255", &gpus), 0);
    assert_int_equal(gpus.count, 3);
    assert_int_equal(gpus.index[0], 2);
    assert_int_equal(gpus.index[2], 255);
    assert_int_equal(vcuda_format_gpus(&gpus, ',', text), 7);
    assert_string_equal(text, "2,0,255");
}

static void longest_gpu_list_fits(void **state) {
    struct vcuda_gpus gpus = {.count = 0}, again;
    char text[VCUDA_GPUS_TEXT_MAX], longer[VCUDA_GPUS_TEXT_MAX + 4];
    size_t len;

    (void)state;
    for (uint32_t i = 0; i < VCUDA_GPUS_MAX; i++)
        gpus.index[gpus.count++] = VCUDA_GPU_INDEX_MAX - i;
    len = vcuda_format_gpus(&gpus, ' ', text);
    assert_int_equal(len, strlen(text));
    assert_int_equal(vcuda_parse_gpus(text, len, &again), 0);
    assert_memory_equal(&again, &gpus, sizeof(gpus));
    snprintf(longer, sizeof(longer), "%s 0", text);
    assert_int_equal(parse_gpus(longer, &again), -ERANGE);
}

static void paths_are_what_the_drivers_expect(void **state) {
    (void)state;
    assert_string_equal(vcuda_path_back(5, NULL).s, "/local/domain/0/backend/vcuda/5/0");
    assert_string_equal(vcuda_path_back(32751, "max-gpu-mib").s,
                        "/local/domain/0/backend/vcuda/32751/0/max-gpu-mib");
    assert_string_equal(vcuda_path_front(5, "state").s, "/local/domain/5/device/vcuda/0/state");
    assert_string_equal(vcuda_path_dom0(5, "pages").s, "/local/domain/0/vcuda/domain/5/pages");
    assert_string_equal(vcuda_path_name(5).s, "/local/domain/5/name");
}

static int parse_policy(const char *text, struct vcuda_policy *policy,
                        struct vcuda_policy_error *error) {
    return vcuda_policy_parse(text, strlen(text), policy, error);
}

static void policy_text_is_read(void **state) {
    struct vcuda_policy_error error;
    struct vcuda_policy policy;

    (void)state;
    vcuda_policy_defaults(&policy);
    assert_int_equal(parse_policy("# the web server\n\n  gpus=0, \n", &policy, &error), -EINVAL);
    assert_int_equal(parse_policy("# the web server\n\n"
                                  "gpus = 3,1   # in this order\r\n"
                                  "\tmax-pages=100",
                                  &policy, &error),
                     0);
    assert_int_equal(policy.gpus.count, 2);
    assert_int_equal(policy.gpus.index[0], 3);
    assert_int_equal(policy.max_pages, 100);
    assert_int_equal(policy.max_sessions, VCUDA_SESSIONS_DEFAULT);
    assert_int_equal(policy.max_gpu_mib, 0);
}

static void refuse_policy(const char *text, size_t len, unsigned line, const char *why) {
    struct vcuda_policy policy, before;
    struct vcuda_policy_error error;

    vcuda_policy_defaults(&policy);
    before = policy;
    assert_int_equal(vcuda_policy_parse(text, len, &policy, &error), -EINVAL);
    assert_int_equal(error.line, line);
    assert_string_equal(error.what, why);
    assert_memory_equal(&policy, &before, sizeof(policy));
}

#define REFUSE(text, line, why) refuse_policy(text, sizeof(text) - 1, line, why)

static void bad_policy_text_is_refused(void **state) {
    static const char unknown[] = "unknown key (known: gpus, max-sessions, max-pages, max-gpu-mib)";

    (void)state;
    REFUSE("gpus = 1\nnonsense\n", 2, "expected KEY = VALUE");
    REFUSE("max-pages = 1\ncolour = red", 2, unknown);
    REFUSE("max-gpu-mib-and-more = 1", 1, unknown);
    REFUSE("gpus\0 = 1", 1, unknown);
    REFUSE(" = 1", 1, unknown);
    REFUSE("max-pages = 0", 1, "max-pages is out of range");
    REFUSE("max-gpu-mib = 1073741825", 1, "max-gpu-mib is out of range");
    REFUSE("max-pages = 1048577", 1, "max-pages is out of range");
    REFUSE("max-sessions = 1 2", 1, "max-sessions: not a valid value");
    REFUSE("max-sessions = 1\0", 1, "max-sessions: not a valid value");
    REFUSE("max-sessions =", 1, "max-sessions: not a valid value");
}

static void names_are_safe_as_files(void **state) {
    char name[VCUDA_NAME_MAX + 2];

    (void)state;
    memset(name, 'a', sizeof(name));
    name[VCUDA_NAME_MAX + 1] = '\0';
    assert_false(vcuda_name_ok(name));
    name[VCUDA_NAME_MAX] = '\0';
    assert_true(vcuda_name_ok(name));
    assert_true(vcuda_name_ok("web-1.example_x+y:z@w"));
    assert_false(vcuda_name_ok(""));
    assert_false(vcuda_name_ok(".."));
    assert_false(vcuda_name_ok(".hidden"));
    assert_false(vcuda_name_ok("a/b"));
    assert_false(vcuda_name_ok("a b"));
    assert_false(vcuda_name_ok("a\n"));
    assert_false(vcuda_name_ok("caf\xc3\xa9"));
}

static void policies_are_stored_and_found(void **state) {
    char root[] = "/tmp/vcuda-policy-XXXXXX", dir[64], command[256];
    struct vcuda_policy policy, seen;
    struct vcuda_policy_error error;
    char **names;

    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(dir, sizeof(dir), "%s/vcuda/domains", root);
    vcuda_policy_defaults(&policy);
    policy.gpus = (struct vcuda_gpus){.count = 2, .index = {1, 0}};
    policy.max_gpu_mib = 17;

    assert_int_equal(vcuda_policy_names(dir, &names), 0);
    free(names);
    assert_int_equal(vcuda_policy_load(dir, "web", &seen, &error), -ENOENT);
    assert_int_equal(vcuda_policy_store(dir, "web", &policy), 0);
    assert_int_equal(vcuda_policy_store(dir, "db", &policy), 0);
    policy.max_pages = 5;
    assert_int_equal(vcuda_policy_store(dir, "web", &policy), 0);
    assert_int_equal(vcuda_policy_load(dir, "web", &seen, &error), 0);
    assert_memory_equal(&seen, &policy, sizeof(policy));
    assert_int_equal(vcuda_policy_store(dir, "../web", &policy), -EINVAL);
    assert_int_equal(vcuda_policy_load(dir, "../domains/web", &seen, &error), -ENOENT);

    snprintf(command, sizeof(command), "touch %s/.conf %s/notes '%s/a b.conf'", dir, dir, dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(vcuda_policy_names(dir, &names), 2);
    assert_string_equal(names[0], "db");
    assert_string_equal(names[1], "web");
    free(names);

    assert_int_equal(vcuda_policy_remove(dir, "db"), 0);
    assert_int_equal(vcuda_policy_remove(dir, "db"), -ENOENT);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

static void too_long_a_policy_is_refused(void **state) {
    char dir[] = "/tmp/vcuda-policy-XXXXXX", path[64];
    struct vcuda_policy policy;
    struct vcuda_policy_error error;
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/web.conf", dir);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 2000; i++)
        fputs("# a comment\n", file);
    fclose(file);
    assert_int_equal(vcuda_policy_load(dir, "web", &policy, &error), -EINVAL);
    assert_string_equal(error.what, "the file is too long");
    unlink(path);
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_strict),
        cmocka_unit_test(domain_ids_end_where_xens_do),
        cmocka_unit_test(states_are_known_or_unknown),
        cmocka_unit_test(gpu_lists),
        cmocka_unit_test(longest_gpu_list_fits),
        cmocka_unit_test(paths_are_what_the_drivers_expect),
        cmocka_unit_test(policy_text_is_read),
        cmocka_unit_test(bad_policy_text_is_refused),
        cmocka_unit_test(names_are_safe_as_files),
        cmocka_unit_test(policies_are_stored_and_found),
        cmocka_unit_test(too_long_a_policy_is_refused),
    };

    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
