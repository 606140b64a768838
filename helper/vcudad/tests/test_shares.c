// SPDX-License-Identifier: Apache-2.0
/* What one owner's workers share: who gets what, what counts, and what is refused. */
#include "closing.h"
#include "loop.h"
#include "shares.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define EXPORTER 3u
#define IMPORTER 7u

static uint64_t counted;
static struct shares *shares;
static struct loop_timer *due;

void loop_timer_set(struct loop_timer *timer, uint64_t ms) {
    assert_int_equal(ms, 0);
    due = timer;
}

/* One round of the loop: false when it had nothing to do. */
static bool one_round(void) {
    struct loop_timer *timer = due;

    due = NULL;
    if (timer)
        timer->fire(timer);
    return timer != NULL;
}

static int setup(void **state) {
    (void)state;
    counted = 0;
    shares = shares_new(&counted);
    return shares ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    shares_leave(shares, EXPORTER);
    shares_leave(shares, IMPORTER);
    assert_int_equal(counted, 0);
    shares_free(shares);
    return 0;
}

static int descriptors(void) {
    int count = 0;

    while (one_round())
        ;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* What the worker is answered, to a request that makes sense. */
static struct vcuda_share_answer ask_with(uint32_t place, struct vcuda_share_request request,
                                          int fd, int *give) {
    struct vcuda_share_answer answer;

    assert_true(shares_serve(shares, place, &request, fd, &answer, give));
    return answer;
}

static struct vcuda_share_answer ask(uint32_t place, struct vcuda_share_request request) {
    int give;
    struct vcuda_share_answer answer = ask_with(place, request, -1, &give);

    assert_int_equal(give >= 0, request.op == VCUDA_SHARE_GET &&
                                    request.kind != VCUDA_SHARE_HANDLE && !answer.status);
    return answer;
}

static struct vcuda_share_answer put(uint32_t place, uint64_t bytes, uint32_t hold) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_PUT, .kind = VCUDA_SHARE_MEMORY, .bytes = bytes, .hold = hold};
    int give;

    return ask_with(place, request, open("/dev/null", O_RDWR | O_CLOEXEC), &give);
}

static struct vcuda_share_answer get(uint32_t place, const struct vcuda_share_token *token) {
    return ask(place, (struct vcuda_share_request){
                          .op = VCUDA_SHARE_GET, .kind = VCUDA_SHARE_MEMORY, .token = *token});
}

static int end(uint32_t place, const struct vcuda_share_token *token) {
    return ask(place, (struct vcuda_share_request){.op = VCUDA_SHARE_END, .token = *token}).status;
}

static int leave(uint32_t place, uint32_t hold) {
    return ask(place, (struct vcuda_share_request){.op = VCUDA_SHARE_LEAVE, .hold = hold}).status;
}

static void resize(uint32_t place, uint32_t hold, uint64_t bytes) {
    ask(place,
        (struct vcuda_share_request){.op = VCUDA_SHARE_RESIZE, .hold = hold, .bytes = bytes});
}

static void test_descriptor_comes_back(void **state) {
    const int before = descriptors();
    struct vcuda_share_request request = {.op = VCUDA_SHARE_PUT, .kind = VCUDA_SHARE_POOL};
    int pipe_ends[2], give;
    struct vcuda_share_answer a, b;
    struct stat put_in, got;

    (void)state;
    assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
    assert_int_equal(fstat(pipe_ends[1], &put_in), 0);
    a = ask_with(EXPORTER, request, pipe_ends[1], &give);
    assert_int_equal(a.status, 0);
    request = (struct vcuda_share_request){
        .op = VCUDA_SHARE_GET, .kind = VCUDA_SHARE_POOL, .token = a.token};
    b = ask_with(IMPORTER, request, -1, &give);
    assert_int_equal(b.status, 0);
    assert_int_equal(fstat(give, &got), 0);
    assert_int_equal(put_in.st_ino, got.st_ino);
    request.kind = VCUDA_SHARE_MEMORY; /* of the other kind there is none */
    b = ask_with(IMPORTER, request, -1, &give);
    assert_int_equal(b.status, -ENOENT);
    assert_int_equal(give, -1);
    assert_int_equal(end(EXPORTER, &a.token), 0);
    assert_int_equal(get(IMPORTER, &a.token).status, -ENOENT);
    close(pipe_ends[0]);
    assert_int_equal(descriptors(), before);
}

/* Each owner has a table of his own: a token of one's is nothing in another's. */
static void test_other_owner_is_refused(void **state) {
    struct vcuda_share_answer a = put(EXPORTER, 100, 0);
    struct shares *first = shares;
    uint64_t elsewhere = 0;

    (void)state;
    shares = shares_new(&elsewhere);
    assert_int_equal(get(IMPORTER, &a.token).status, -ENOENT);
    assert_int_equal(put(IMPORTER, 100, 0).status, 0); /* takes the same slot there */
    assert_int_equal(get(IMPORTER, &a.token).status, -ENOENT);
    assert_int_equal(end(EXPORTER, &a.token), -ENOENT);
    assert_int_equal(leave(EXPORTER, a.hold), -ENOENT);
    shares_leave(shares, IMPORTER);
    shares_free(shares);
    shares = first;
    assert_int_equal(elsewhere, 0);
    assert_int_equal(get(IMPORTER, &a.token).status, 0);
}

static void test_guesses_are_refused(void **state) {
    struct vcuda_share_answer a = put(EXPORTER, 100, 0), b = put(EXPORTER, 100, 0);
    struct vcuda_share_token guess = a.token;

    (void)state;
    assert_memory_not_equal(a.token.secret, b.token.secret, sizeof(a.token.secret));
    for (size_t i = 0; i < sizeof(guess.secret); i++) {
        guess.secret[i] ^= 1;
        assert_int_equal(get(IMPORTER, &guess).status, -ENOENT);
        guess.secret[i] ^= 1;
    }
    guess.slot = b.token.slot;
    assert_int_equal(get(IMPORTER, &guess).status, -ENOENT);
    guess.slot = UINT32_MAX;
    assert_int_equal(get(IMPORTER, &guess).status, -ENOENT);
    memset(&guess, 0, sizeof(guess)); /* of a slot that was never used */
    guess.slot = b.token.slot + 1;
    assert_int_equal(get(IMPORTER, &guess).status, -ENOENT);
    /* Nor does anybody end what is another worker's. */
    assert_int_equal(end(IMPORTER, &a.token), -ENOENT);
    assert_int_equal(leave(IMPORTER, a.hold), -ENOENT);
    assert_int_equal(leave(EXPORTER, 0), -ENOENT);
    assert_int_equal(leave(EXPORTER, UINT32_MAX), -ENOENT);
    assert_int_equal(get(IMPORTER, &a.token).status, 0);
}

static void test_counts_once(void **state) {
    struct vcuda_share_answer a = put(EXPORTER, 100, 0), again = put(EXPORTER, 999, a.hold), b, c;

    (void)state;
    assert_int_equal(again.hold, a.hold);
    b = get(IMPORTER, &a.token);
    c = get(IMPORTER, &again.token);
    assert_int_equal(b.bytes, 100);
    assert_int_equal(c.bytes, 100);
    assert_int_not_equal(b.hold, c.hold);
    assert_int_equal(counted, 0); /* the exporter does */
    assert_int_equal(leave(EXPORTER, a.hold), 0);
    assert_int_equal(counted, 100);
    assert_int_equal(leave(EXPORTER, a.hold), -ENOENT);
    assert_int_equal(leave(IMPORTER, b.hold), 0);
    assert_int_equal(end(EXPORTER, &a.token), 0);
    assert_int_equal(end(EXPORTER, &a.token), -ENOENT);
    assert_int_equal(leave(IMPORTER, c.hold), 0);
    assert_int_equal(counted, 100); /* a descriptor has it */
    b = get(IMPORTER, &again.token);
    assert_int_equal(end(EXPORTER, &again.token), 0);
    assert_int_equal(counted, 100);
    assert_int_equal(leave(IMPORTER, b.hold), 0);
    assert_int_equal(counted, 0);
}

static void test_exporter_dies(void **state) {
    struct vcuda_share_answer a = put(EXPORTER, 100, 0), b = put(EXPORTER, 50, 0), c;

    (void)state;
    c = get(IMPORTER, &a.token);
    resize(EXPORTER, a.hold, 120);
    resize(IMPORTER, c.hold, 1); /* not his to say */
    shares_leave(shares, EXPORTER);
    assert_int_equal(counted, 120);
    assert_int_equal(get(IMPORTER, &a.token).status, -ENOENT);
    assert_int_equal(get(IMPORTER, &b.token).status, -ENOENT);
    resize(IMPORTER, c.hold, 1);
    assert_int_equal(leave(IMPORTER, c.hold), 0);
    assert_int_equal(counted, 0);
}

static void test_importer_passes_it_on(void **state) {
    struct vcuda_share_answer a = put(EXPORTER, 100, 0), b = get(IMPORTER, &a.token), c, d;

    (void)state;
    c = put(IMPORTER, 0, b.hold);
    assert_int_equal(c.hold, b.hold);
    shares_leave(shares, EXPORTER);
    d = get(IMPORTER, &c.token);
    assert_int_equal(d.bytes, 100);
    assert_int_equal(counted, 100);
    shares_leave(shares, IMPORTER);
    assert_int_equal(counted, 0);
}

static struct vcuda_share_answer by_handle(uint32_t place, uint64_t bytes, uint32_t hold) {
    return ask(place, (struct vcuda_share_request){.op = VCUDA_SHARE_PUT,
                                                   .kind = VCUDA_SHARE_HANDLE,
                                                   .bytes = bytes,
                                                   .hold = hold});
}

static struct vcuda_share_answer open_handle(uint32_t place,
                                             const struct vcuda_share_token *token) {
    return ask(place, (struct vcuda_share_request){
                          .op = VCUDA_SHARE_GET, .kind = VCUDA_SHARE_HANDLE, .token = *token});
}

/* What the driver shares by a handle is nobody's to open when its exporter has it no more. */
static void test_handle_ends_with_its_exporter(void **state) {
    struct vcuda_share_answer a = by_handle(EXPORTER, 100, 0), again, b;
    const int before = descriptors();

    (void)state;
    assert_int_equal(a.status, 0);
    again = by_handle(EXPORTER, 100, a.hold);
    assert_int_equal(again.hold, a.hold);
    assert_int_equal(get(IMPORTER, &a.token).status, -ENOENT); /* of the other kind */
    b = open_handle(IMPORTER, &again.token);
    assert_int_equal(b.status, 0);
    assert_int_equal(counted, 0);
    assert_int_equal(leave(EXPORTER, a.hold), 0);
    assert_int_equal(counted, 100);
    assert_int_equal(open_handle(IMPORTER, &a.token).status, -ENOENT);
    assert_int_equal(open_handle(IMPORTER, &again.token).status, -ENOENT);
    assert_int_equal(leave(IMPORTER, b.hold), 0);
    assert_int_equal(counted, 0);
    a = by_handle(EXPORTER, 50, 0); /* opened by nobody */
    assert_int_equal(leave(EXPORTER, a.hold), 0);
    assert_int_equal(counted, 0);
    assert_int_equal(descriptors(), before);
}

static void test_handle_outlives_a_dead_exporter(void **state) {
    struct vcuda_share_answer a = by_handle(EXPORTER, 100, 0), b = open_handle(IMPORTER, &a.token);

    (void)state;
    shares_leave(shares, EXPORTER);
    assert_int_equal(counted, 100);
    assert_int_equal(open_handle(IMPORTER, &a.token).status, -ENOENT);
    assert_int_equal(leave(IMPORTER, b.hold), 0);
    assert_int_equal(counted, 0);
}

/* A hold on one kind makes no token of another, which would lack its descriptor. */
static void test_kinds_do_not_mix(void **state) {
    struct vcuda_share_answer a = put(EXPORTER, 100, 0), b = by_handle(EXPORTER, 100, a.hold);

    (void)state;
    assert_int_not_equal(a.hold, b.hold);
    assert_int_equal(get(IMPORTER, &b.token).status, -ENOENT);
    assert_int_equal(open_handle(IMPORTER, &a.token).status, -ENOENT);
}

static void test_nonsense(void **state) {
    const struct vcuda_share_request bad[] = {
        {.op = 0},
        {.op = UINT32_MAX},
        {.op = VCUDA_SHARE_PUT, .kind = VCUDA_SHARE_MEMORY}, /* without a descriptor */
        {.op = VCUDA_SHARE_GET},
        {.op = VCUDA_SHARE_GET, .kind = 77},
        {.op = VCUDA_SHARE_RESIZE, .bytes = SHARES_BYTES_MAX + 1},
    };
    struct vcuda_share_request request = {.op = VCUDA_SHARE_PUT, .kind = 77};
    const int before = descriptors();
    struct vcuda_share_answer answer;
    int give;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(shares_serve(shares, EXPORTER, &bad[i], -1, &answer, &give));
    assert_false(shares_serve(shares, EXPORTER, &request, dup(0), &answer, &give));
    request = (struct vcuda_share_request){
        .op = VCUDA_SHARE_PUT, .kind = VCUDA_SHARE_MEMORY, .bytes = UINT64_MAX};
    assert_false(shares_serve(shares, EXPORTER, &request, dup(0), &answer, &give));
    request = (struct vcuda_share_request){.op = VCUDA_SHARE_PUT, .kind = VCUDA_SHARE_HANDLE};
    assert_false(shares_serve(shares, EXPORTER, &request, dup(0), &answer, &give));
    request = (struct vcuda_share_request){.op = VCUDA_SHARE_LEAVE, .hold = 1};
    assert_false(shares_serve(shares, EXPORTER, &request, dup(0), &answer, &give));
    assert_int_equal(descriptors(), before);
}

static void test_bounded(void **state) {
    struct vcuda_share_answer a = put(EXPORTER, 1, 0), more = a;
    uint32_t count = 1;

    (void)state;
    while (!more.status && count < SHARES_HOLDS_MAX + 10) {
        more = get(IMPORTER, &a.token);
        count++;
    }
    assert_int_equal(more.status, -EDQUOT);
    assert_in_range(count, SHARES_HOLDS_MAX / 2, SHARES_HOLDS_MAX);
    shares_leave(shares, IMPORTER);
    for (count = 0; count <= SHARES_TOKENS_MAX; count++) {
        more = put(EXPORTER, 1, a.hold);
        if (more.status)
            break;
    }
    assert_int_equal(more.status, -EDQUOT);
    assert_int_equal(end(EXPORTER, &a.token), 0);
    assert_int_equal(put(EXPORTER, 1, a.hold).status, 0);
}

/* A program that leaves thousands keeps nobody waiting for long. */
static void test_few_are_closed_at_a_time(void **state) {
    const int before = descriptors();
    size_t rounds = 1;

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(put(EXPORTER, 1, 0).status, 0);
    shares_leave(shares, EXPORTER);
    assert_int_equal(closing_count(), 100);
    while (one_round())
        rounds++;
    assert_in_range(rounds, 10, 100);
    assert_int_equal(closing_count(), 0);
    assert_int_equal(descriptors(), before);
}

/* ---- On the socket ------------------------------------------------------------ */

static void test_one_descriptor_a_message(void **state) {
    const int before = descriptors();
    struct vcuda_share_request request = {.op = VCUDA_SHARE_PUT};
    struct iovec iov = {&request, sizeof(request)};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control = {.align = {.cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS,
                           .cmsg_len = CMSG_LEN(2 * sizeof(int))}};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control.space)};
    int ends[2], fd;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_int_equal(vcuda_share_receive(ends[0], &request, &fd), -EAGAIN);
    memcpy(CMSG_DATA(&control.align), ends, sizeof(ends));
    assert_int_equal(sendmsg(ends[1], &m, 0), sizeof(request));
    assert_int_equal(vcuda_share_receive(ends[0], &request, &fd), -EMFILE);
    assert_int_equal(fd, -1);
    iov.iov_len = 3; /* too short, with one descriptor */
    m.msg_controllen = CMSG_LEN(sizeof(int));
    control.align.cmsg_len = CMSG_LEN(sizeof(int));
    assert_int_equal(sendmsg(ends[1], &m, 0), 3);
    assert_int_equal(vcuda_share_receive(ends[0], &request, &fd), -EPROTO);
    assert_int_equal(fd, -1);
    assert_int_equal(vcuda_share_tell(ends[1], &request), 0);
    assert_int_equal(vcuda_share_receive(ends[0], &request, &fd), 0);
    assert_int_equal(fd, -1);
    close(ends[1]);
    assert_int_equal(vcuda_share_receive(ends[0], &request, &fd), -EPIPE);
    close(ends[0]);
    assert_int_equal(descriptors(), before);
}

/* A worker that does not read its answers keeps nobody waiting. */
static void test_answers_do_not_wait(void **state) {
    const struct vcuda_share_answer answer = {0};
    int ends[2], error = 0;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    for (int i = 0; i < 100000 && !error; i++)
        error = vcuda_share_answer(ends[0], &answer, ends[0]);
    assert_true(error < 0);
    close(ends[0]);
    close(ends[1]);
}

/* Whatever workers say, in whatever order: nothing is lost or counted twice (teardown looks). */
static void test_any_order(void **state) {
    struct vcuda_share_answer known[64] = {0};
    const int before = descriptors();
    unsigned seed = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint32_t place = rand_r(&seed) % 2 ? EXPORTER : IMPORTER;
        struct vcuda_share_answer *a = &known[rand_r(&seed) % 64], *b = &known[rand_r(&seed) % 64];

        switch (rand_r(&seed) % 8) {
        case 0:
            *a = (rand_r(&seed) % 2 ? put : by_handle)(place, rand_r(&seed) % 1000,
                                                       rand_r(&seed) % 2 ? 0 : b->hold);
            break;
        case 1:
        case 2:
            b->hold = (rand_r(&seed) % 2 ? get : open_handle)(place, &a->token).hold;
            break;
        case 3:
        case 4:
            end(place, &a->token);
            break;
        case 5:
        case 6:
            leave(place, a->hold);
            break;
        default:
            if (rand_r(&seed) % 64)
                resize(place, a->hold, rand_r(&seed) % 1000);
            else
                shares_leave(shares, place);
        }
    }
    shares_leave(shares, EXPORTER);
    shares_leave(shares, IMPORTER);
    assert_int_equal(descriptors(), before);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_descriptor_comes_back),
        TEST(test_other_owner_is_refused),
        TEST(test_guesses_are_refused),
        TEST(test_counts_once),
        TEST(test_exporter_dies),
        TEST(test_importer_passes_it_on),
        TEST(test_handle_ends_with_its_exporter),
        TEST(test_handle_outlives_a_dead_exporter),
        TEST(test_kinds_do_not_mix),
        TEST(test_nonsense),
        TEST(test_bounded),
        TEST(test_few_are_closed_at_a_time),
        TEST(test_one_descriptor_a_message),
        TEST(test_answers_do_not_wait),
        TEST(test_any_order),
    };

    return cmocka_run_group_tests_name("what workers share", tests, NULL, NULL);
}
