// SPDX-License-Identifier: Apache-2.0
#include "shared.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"

/* How long another worker may take to end, and between two questions. */
#define ENDINGS_MS 3000
#define ENDINGS_STEP_MS 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a question and its answer */
static int sock = -1;
static bool gone; /* vcudad, as was said */

void shared_start(int with) {
    sock = with;
}

static int ask(const struct vcuda_share_request *request, int fd, struct vcuda_share_answer *answer,
               int *got) {
    int error;

    *got = -1;
    if (sock < 0)
        return -EPIPE;
    pthread_mutex_lock(&lock);
    error = vcuda_share_ask(sock, request, fd, answer, got);
    /* An answer that comes later must not be taken for another one's. */
    if (error == -EPIPE && !gone) {
        gone = true;
        shutdown(sock, SHUT_RDWR);
        vcuda_log(VCUDA_LOG_WARNING, "vcudad is gone: nothing can be shared any more");
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static CUresult said(int error) {
    switch (-error) {
    case 0:
        return CUDA_SUCCESS;
    case ENOENT:
        return CUDA_ERROR_INVALID_VALUE;
    case EPIPE:
        return CUDA_ERROR_OPERATING_SYSTEM;
    default:
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

CUresult shared_put(enum vcuda_share_kind kind, uint64_t bytes, int fd, uint32_t *hold,
                    struct vcuda_share_token *token) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_PUT, .kind = kind, .bytes = bytes, .hold = *hold};
    struct vcuda_share_answer answer;
    int unused, error = ask(&request, fd, &answer, &unused);

    if (!error) {
        *hold = answer.hold;
        *token = answer.token;
    }
    return said(error);
}

CUresult shared_get(enum vcuda_share_kind kind, const struct vcuda_share_token *token, int *fd,
                    uint32_t *hold) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_GET, .kind = kind, .token = *token};
    struct vcuda_share_answer answer;
    int error = ask(&request, -1, &answer, fd);

    if (error == -EMFILE && !answer.status)
        shared_leave(answer.hold);
    if (!error)
        *hold = answer.hold;
    return said(error);
}

CUresult shared_end(const struct vcuda_share_token *token) {
    const struct vcuda_share_request request = {.op = VCUDA_SHARE_END, .token = *token};
    struct vcuda_share_answer answer;
    int unused;

    return said(ask(&request, -1, &answer, &unused));
}

void shared_leave(uint32_t hold) {
    const struct vcuda_share_request request = {.op = VCUDA_SHARE_LEAVE, .hold = hold};
    struct vcuda_share_answer answer;
    int unused;

    if (hold)
        ask(&request, -1, &answer, &unused);
}

static uint64_t ending(void) {
    const struct vcuda_share_request request = {.op = VCUDA_SHARE_ENDING};
    struct vcuda_share_answer answer;
    int unused;

    return ask(&request, -1, &answer, &unused) ? 0 : answer.bytes;
}

bool shared_await_endings(void) {
    uint64_t before = ending(), now = before;

    for (int ms = 0; now && now >= before && ms < ENDINGS_MS; ms += ENDINGS_STEP_MS) {
        usleep(ENDINGS_STEP_MS * 1000);
        now = ending();
    }
    return now < before;
}

int shared_code_get(uint64_t key) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_GET, .kind = VCUDA_SHARE_CODE, .key = key};
    struct vcuda_share_answer answer;
    int fd;

    return ask(&request, -1, &answer, &fd) ? -1 : fd;
}

void shared_code_put(uint64_t key, int fd) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_PUT, .kind = VCUDA_SHARE_CODE, .key = key};
    struct vcuda_share_answer answer;
    int unused;

    ask(&request, fd, &answer, &unused);
}

bool shared_resize(uint32_t hold, uint64_t bytes) {
    const struct vcuda_share_request request = {
        .op = VCUDA_SHARE_RESIZE, .hold = hold, .bytes = bytes};

    return !vcuda_share_tell(sock, &request);
}
