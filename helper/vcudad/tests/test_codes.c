// SPDX-License-Identifier: Apache-2.0
/* Compiled code that is kept: whose it is, how much of it, and what is refused. */
#include "codes.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static const struct vcuda_supervise_session domain = {.domid = 3, .session = 1},
                                            again = {.domid = 3, .session = 9},
                                            other = {.domid = 4, .session = 1},
                                            user = {.domid = VCUDA_SUPERVISE_LOCAL, .uid = 1000},
                                            user2 = {.domid = VCUDA_SUPERVISE_LOCAL, .uid = 1001};

static int memory(uint64_t bytes, int seals) {
    int fd = memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static int descriptors(void) {
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int put(const struct vcuda_supervise_session *who, uint64_t key, int fd) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_PUT, .kind = VCUDA_SHARE_CODE, .key = key};
    struct vcuda_share_answer answer;
    int give;

    assert_true(codes_serve(who, &request, fd, &answer, &give));
    assert_int_equal(give, -1);
    return answer.status;
}

/* The bytes of what is kept under a key, or a negative errno. */
static long get(const struct vcuda_supervise_session *who, uint64_t key) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_GET, .kind = VCUDA_SHARE_CODE, .key = key};
    struct vcuda_share_answer answer;
    struct stat st;
    int give;

    assert_true(codes_serve(who, &request, -1, &answer, &give));
    assert_int_equal(answer.status != 0, give < 0);
    if (answer.status)
        return answer.status;
    assert_int_equal(fstat(give, &st), 0);
    return st.st_size;
}

static void forget_all(void) {
    codes_forget(domain.domid);
    codes_forget(other.domid);
    codes_forget(VCUDA_SUPERVISE_LOCAL);
}

static void test_each_owner_has_its_own(void **state) {
    int before = descriptors();

    (void)state;
    assert_int_equal(put(&domain, 7, memory(100, SEALS)), 0);
    assert_int_equal(put(&user, 7, memory(200, SEALS)), 0);
    assert_int_equal(get(&domain, 7), 100);
    assert_int_equal(get(&again, 7), 100);
    assert_int_equal(get(&other, 7), -ENOENT);
    assert_int_equal(get(&user, 7), 200);
    assert_int_equal(get(&user2, 7), -ENOENT);
    assert_int_equal(get(&domain, 8), -ENOENT);
    codes_forget(domain.domid);
    assert_int_equal(get(&domain, 7), -ENOENT);
    assert_int_equal(get(&user, 7), 200);
    forget_all();
    assert_int_equal(descriptors(), before);
}

static void test_later_takes_the_place(void **state) {
    int before = descriptors();

    (void)state;
    assert_int_equal(put(&domain, 7, memory(100, SEALS)), 0);
    assert_int_equal(put(&again, 7, memory(300, SEALS)), 0);
    assert_int_equal(get(&domain, 7), 300);
    assert_int_equal(descriptors(), before + 1);
    forget_all();
}

static void test_what_could_change_is_refused(void **state) {
    int before = descriptors();

    (void)state;
    assert_int_equal(put(&domain, 1, memory(100, 0)), -EINVAL);
    assert_int_equal(put(&domain, 1, memory(100, F_SEAL_WRITE | F_SEAL_GROW)), -EINVAL);
    assert_int_equal(put(&domain, 1, open("/dev/null", O_RDONLY | O_CLOEXEC)), -EINVAL);
    assert_int_equal(put(&domain, 1, -1), -EINVAL);
    assert_int_equal(put(&domain, 1, memory(CODES_OF_OWNER_BYTES + 1, SEALS)), -EFBIG);
    assert_int_equal(get(&domain, 1), -ENOENT);
    assert_int_equal(descriptors(), before);
}

static void test_nonsense(void **state) {
    struct vcuda_share_request request = {.op = VCUDA_SHARE_END, .kind = VCUDA_SHARE_CODE};
    struct vcuda_share_answer answer;
    int give, before = descriptors();

    (void)state;
    assert_false(codes_serve(&domain, &request, -1, &answer, &give));
    assert_false(codes_serve(&domain, &request, memory(1, SEALS), &answer, &give));
    request.op = VCUDA_SHARE_GET;
    assert_false(codes_serve(&domain, &request, memory(1, SEALS), &answer, &give));
    assert_int_equal(descriptors(), before);
}

static void test_least_used_goes_first(void **state) {
    const uint64_t third = CODES_OF_OWNER_BYTES / 3;

    (void)state;
    assert_int_equal(put(&other, 1, memory(third, SEALS)), 0);
    for (uint64_t key = 1; key <= 3; key++)
        assert_int_equal(put(&domain, key, memory(third, SEALS)), 0);
    assert_int_equal(get(&domain, 1), third);
    assert_int_equal(put(&domain, 4, memory(third, SEALS)), 0);
    assert_int_equal(get(&domain, 2), -ENOENT);
    assert_int_equal(get(&domain, 1), third);
    assert_int_equal(get(&domain, 3), third);
    assert_int_equal(get(&domain, 4), third);
    assert_int_equal(get(&other, 1), third);
    forget_all();
}

static void test_pieces_are_counted(void **state) {
    const struct rlimit some = {1024, 1024};
    struct vcuda_supervise_session who = domain;
    int before = descriptors();

    (void)state;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &some), 0);
    for (uint64_t key = 0; key < 2 * CODES_OF_OWNER_MAX; key++)
        assert_int_equal(put(&domain, key, memory(1, SEALS)), 0);
    assert_int_equal(descriptors(), before + (int)CODES_OF_OWNER_MAX);
    for (who.domid = 10; who.domid < 20; who.domid++) {
        for (uint64_t key = 0; key < CODES_OF_OWNER_MAX; key++)
            assert_int_equal(put(&who, key, memory(1, SEALS)), 0);
    }
    assert_int_equal(descriptors(), before + 1024 / CODES_DESCRIPTORS_PART);
    assert_int_equal(get(&domain, CODES_OF_OWNER_MAX), -ENOENT);
    for (who.domid = 10; who.domid < 20; who.domid++)
        codes_forget(who.domid);
    forget_all();
    assert_int_equal(descriptors(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_owner_has_its_own),
        cmocka_unit_test(test_later_takes_the_place),
        cmocka_unit_test(test_what_could_change_is_refused),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_least_used_goes_first),
        cmocka_unit_test(test_pieces_are_counted),
    };

    return cmocka_run_group_tests_name("kept code", tests, NULL, NULL);
}
