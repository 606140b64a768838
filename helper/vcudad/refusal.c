// SPDX-License-Identifier: Apache-2.0
/*
 * The answer must follow the question: closing a socket that holds an unread
 * message makes the client read ECONNRESET instead of the answer, and closing
 * it before the message comes makes the client's send fail with EPIPE.
 */
#include "refusal.h"
#include "local.h"
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 2000
/* Who asks at once needs no patience: silent ones must not take all of vcudad's descriptors. */
#define REFUSALS_MAX 256

struct refusal {
    struct loop_source source;
    int fd;
    int error;
    uint64_t until;
    struct refusal *next;
};

static struct refusal *refusals; /* the newest first */
static unsigned count;
static struct loop_timer sweep;

/* Whether the client's message was there, and is answered. Its descriptors vanish unread. */
static int answer(int fd, int error) {
    struct vcuda_local_msg message;

    if (recv(fd, &message, sizeof(message), MSG_DONTWAIT) < 0)
        return errno != EAGAIN && errno != EINTR; /* a dead client needs no answer */
    message = (struct vcuda_local_msg){.op = VCUDA_LOCAL_OPENED, .status = error};
    send(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
    return 1;
}

static void forget(struct refusal *refusal) {
    struct refusal **link = &refusals;

    while (*link != refusal)
        link = &(*link)->next;
    *link = refusal->next;
    count--;
    loop_remove(refusal->fd);
    close(refusal->fd);
    free(refusal);
}

static void client_speaks(struct loop_source *source, uint32_t events) {
    struct refusal *refusal = (struct refusal *)source;

    (void)events;
    if (answer(refusal->fd, refusal->error))
        forget(refusal);
}

static void forget_silent(struct loop_timer *timer) {
    struct refusal *next;

    for (struct refusal *r = refusals; r; r = next) {
        next = r->next;
        if (r->until <= loop_now())
            forget(r);
    }
    if (refusals)
        loop_timer_set(timer, PATIENCE_MS / 2);
}

static void forget_oldest(void) {
    struct refusal *oldest = refusals;

    while (oldest->next)
        oldest = oldest->next;
    forget(oldest);
}

void refusal_start(int fd, int error) {
    struct refusal *refusal;

    if (answer(fd, error)) {
        close(fd);
        return;
    }
    if (count == REFUSALS_MAX)
        forget_oldest();
    refusal = malloc(sizeof(*refusal));
    if (!refusal) {
        close(fd);
        return;
    }
    *refusal = (struct refusal){
        .source.ready = client_speaks,
        .fd = fd,
        .error = error,
        .until = loop_now() + PATIENCE_MS,
        .next = refusals,
    };
    refusals = refusal;
    count++;
    loop_add(fd, &refusal->source, EPOLLIN | EPOLLRDHUP);
    sweep.fire = forget_silent;
    if (!sweep.at)
        loop_timer_set(&sweep, PATIENCE_MS / 2);
}
