// SPDX-License-Identifier: Apache-2.0
/* vcudactl as an admin runs it, against a real xenstored. */
#include "store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char output[8192];

/* Runs vcudactl; expects the status, and the text somewhere in its output. */
static void expect(int status, const char *text, const char *arguments) {
    int seen = run_vcudactl(arguments, output);

    if (seen != status || !strstr(output, text))
        fail_msg("vcudactl %s: status %d (expected %d), expected \"%s\" in:\n%s", arguments, seen,
                 status, text, output);
}

static void help_is_everywhere(void **state) {
    static const char *const commands[] = {"attach", "detach",  "list",  "info",
                                           "reap",   "restore", "policy"};
    char arguments[32];

    (void)state;
    expect(0, "commands", "--help");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        snprintf(arguments, sizeof(arguments), "%s --help", commands[i]);
        expect(0, "usage: vcudactl", arguments);
    }
    expect(0, "vcudactl ", "version");
}

static void wrong_use_is_told(void **state) {
    (void)state;
    expect(2, "commands", "");
    expect(2, "no command \"fly\"", "fly");
    expect(2, "usage: vcudactl attach", "attach");
    expect(2, "unrecognized option", "attach 1 --json");
    expect(2, "--timeout takes seconds", "detach 1 --timeout soon");
    expect(2, "domain 0 is the host", "attach 0");
    domain_create(30, "thirty");
    expect(2, "--gpus: \"0,0\" is not a valid value", "attach thirty --gpus 0,0");
    expect(2, "--max-pages 0 is out of range", "attach thirty --max-pages 0");
    assert_node(vcuda_path_back(30, NULL), NULL);
}

static void unknown_domains_are_told(void **state) {
    (void)state;
    expect(3, "domain \"foo\" is not running: xl list", "attach foo");
    expect(3, "no domain has the id 999", "info 999");
    expect(3, "no domain has the id 999", "detach 999");
}

static void attach_by_name_with_options(void **state) {
    (void)state;
    domain_create(31, "web1");
    expect(0, "web1 (id 31): attached: GPU 2,0, at most 9 sessions and 512 pages (2 MiB)",
           "attach web1 --gpus 2,0 --max-sessions 9 --max-pages 512 --max-gpu-mib 4096");
    assert_node(vcuda_path_back(31, "gpus"), "2 0");
    assert_node(vcuda_path_back(31, "max-sessions"), "9");
    expect(0, "attached already",
           "attach 31 --gpus 2,0 --max-sessions 9 --max-pages 512 --max-gpu-mib 4096");
    expect(4, "with other settings", "attach web1");
}

static void list_shows_devices(void **state) {
    struct vcuda_usage usage = {.sessions = 1, .pages = 256, .gpu_mib = 300};

    (void)state;
    assert_int_equal(vcuda_xs_write_usage(store_xs, 31, &usage), 0);
    expect(0,
           "   31  web1                     running   Initialising  2,0       1/9       "
           "256/512        2       300/4096\n",
           "list");
    expect(
        0,
        "[{\"id\": 31, \"name\": \"web1\", \"domain\": \"running\", \"backend\": "
        "\"Initialising\", \"frontend\": \"Initialising\", \"online\": true, "
        "\"sessions\": 1, \"pages\": 256, \"gpu_mib\": 300, \"gpus\": [2,0], \"max_sessions\": 9, "
        "\"max_pages\": 512, \"max_gpu_mib\": 4096}]\n",
        "list --json");
}

static void info_shows_nodes_and_a_hint(void **state) {
    (void)state;
    store_write(vcuda_path_front(31, "evil"), "\033[2Jx");
    expect(0, "domain      web1 (id 31), running", "info web1");
    expect(0, "is vcuda-back loaded in dom0?", "info web1");
    expect(0, "pages       256 of 512 (1 of 2 MiB)", "info web1");
    expect(0, "gpu memory  300 MiB of 4096 MiB\n", "info web1");
    expect(0, "  evil = \"?[2Jx\"\n", "info web1");
    store_write(vcuda_path_back(31, "min-version"), "1");
    store_write(vcuda_path_back(31, "max-version"), "1");
    store_write(vcuda_path_back(31, "features"), "0");
    expect(0, "is vcuda-front loaded in it?", "info web1");
    store_write(vcuda_path_back(31, "state"), "6");
    expect(0, "the guest's driver has closed the device", "info web1");
    expect(4, "its driver has closed the device: detach it first", "attach web1");
    store_write(vcuda_path_back(31, "state"), "1");
    domain_create(32, "none");
    expect(0, "device      none", "info none");
}

static void detach_waits_then_forces(void **state) {
    (void)state;
    expect(5, "has not closed its device in time (backend Closing, frontend Initialising)",
           "detach web1 --timeout 0");
    expect(4, "is being detached", "attach web1");
    expect(0, "web1 (id 31): detached", "detach web1 --force");
    expect(4, "has no vcuda device", "detach web1");
}

static void policies_are_kept(void **state) {
    (void)state;
    expect(4, "no policy for \"web1\"", "policy show web1");
    expect(0, "web1.conf made", "policy set web1 --gpus 1");
    expect(0, "gpus = 1\nmax-sessions = 64\n", "policy show web1");
    expect(0, "web1.conf changed", "policy set web1 --max-sessions 5");
    expect(0, "gpus = 1\nmax-sessions = 5\n", "policy");
    expect(0, "attached: GPU 1, at most 5 sessions and 7 pages",
           "attach web1 --max-pages 7 --persist");
    expect(0, "max-pages = 7\n", "policy show web1");
    expect(0, "", "policy remove web1");
    expect(4, "no policy for \"web1\"", "policy remove web1");
    expect(1, "cannot have a policy", "policy set ../../passwd");
    expect(2, "usage: vcudactl policy", "policy frobnicate");
}

static void reap_names_the_dead(void **state) {
    (void)state;
    domain_destroy(31);
    expect(0, " gone ", "list");
    expect(0, "domain 31 is gone: its nodes are removed", "reap");
    expect(0, "[]\n", "list --json");
}

static void without_xenstored_the_remedy_is_told(void **state) {
    char path[128], saved[128];

    (void)state;
    snprintf(saved, sizeof(saved), "%s", getenv("XENSTORED_PATH"));
    snprintf(path, sizeof(path), "%s/nothing", store_dir);
    setenv("XENSTORED_PATH", path, 1);
    expect(1, "is this dom0? run as root", "list");
    setenv("XENSTORED_PATH", saved, 1);
}

int main(void) {
    /* In this order: they share the domain web1. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_is_everywhere),
        cmocka_unit_test(wrong_use_is_told),
        cmocka_unit_test(unknown_domains_are_told),
        cmocka_unit_test(attach_by_name_with_options),
        cmocka_unit_test(list_shows_devices),
        cmocka_unit_test(info_shows_nodes_and_a_hint),
        cmocka_unit_test(detach_waits_then_forces),
        cmocka_unit_test(policies_are_kept),
        cmocka_unit_test(reap_names_the_dead),
        cmocka_unit_test(without_xenstored_the_remedy_is_told),
    };

    return cmocka_run_group_tests_name("vcudactl", tests, store_start, store_stop);
}
