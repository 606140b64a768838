// SPDX-License-Identifier: Apache-2.0
#include "broker.h"
#include "codes.h"
#include "log.h"
#include "owners.h"
#include "shares.h"

#include <errno.h>

/* A worker that breaks the rules loses the way to share, and nothing else. */
static bool cut_off(const struct worker *worker, const char *why) {
    vcuda_log(VCUDA_LOG_WARNING, "worker %d can share no more: it %s", worker->spawned.pid, why);
    return false;
}

static bool answer(const struct worker *worker, const struct vcuda_share_answer *what, int fd) {
    int error = vcuda_share_answer(worker->spawned.sock, what, fd);

    if (error == -EPIPE) /* its program was killed meanwhile, and it with it */
        return false;
    return !error || cut_off(worker, "does not read its answers");
}

static bool serve(const struct worker *worker, const struct vcuda_share_request *request, int fd,
                  struct vcuda_share_answer *what, int *give) {
    if (request->op == VCUDA_SHARE_ENDING && fd < 0) {
        *what = (struct vcuda_share_answer){.bytes = pool_ending(worker->pool)};
        *give = -1;
        return true;
    }
    if (request->kind == VCUDA_SHARE_CODE)
        return codes_serve(&worker->session, request, fd, what, give);
    return shares_serve(owners_shares(worker->owner), worker->session.place, request, fd, what,
                        give);
}

bool broker_serve(const struct worker *worker) {
    struct vcuda_share_answer what = {.status = -ENOMEM};
    struct vcuda_share_request request;
    int fd, give;
    int error = vcuda_share_receive(worker->spawned.sock, &request, &fd);

    if (error == -EAGAIN)
        return true;
    if (error == -EPIPE)
        return false;
    if (error == -EMFILE) {
        what.status = error;
        return answer(worker, &what, -1);
    }
    if (error || !serve(worker, &request, fd, &what, &give))
        return cut_off(worker, "makes no sense");
    return request.op == VCUDA_SHARE_RESIZE || answer(worker, &what, give);
}
