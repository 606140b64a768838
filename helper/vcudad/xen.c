// SPDX-License-Identifier: Apache-2.0
#include "xen.h"
#include "codes.h"
#include "domains.h"
#include "ioctl.h"
#include "log.h"
#include "schema.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xenstore.h>

#define RETRY_MS 5000
#define MIB (1ull << 20)

/* A guest's session between its open() and its worker. */
struct guest {
    struct request request;
    int fd; /* once claimed; or -1 */
};

static const struct options *options;
static struct pool *pool;

static int host_fd = -1; /* /dev/vcuda-host */
static struct loop_source host_source;
static struct vcuda_keeper *keeper; /* attaches and reaps */
static struct loop_source keeper_source;
static struct xs_handle *xs; /* for reading policies and writing usage */
static struct loop_timer retry_timer;
static char state[160] = "off";

/* Remembers, and says once, why guests cannot be served. */
static void not_serving(const char *what, const char *why) {
    char text[sizeof(state)];

    snprintf(text, sizeof(text), "%s: %s", what, why);
    if (strcmp(text, state))
        vcuda_log(options->xen == ON ? VCUDA_LOG_WARNING : VCUDA_LOG_INFO, "no guests: %s", text);
    memcpy(state, text, sizeof(state));
    status_changed();
    loop_timer_set(&retry_timer, RETRY_MS);
}

/* ---- Sessions ------------------------------------------------------------- */

static int tell_host(unsigned long request, uint32_t domid, uint32_t session, int status) {
    struct vcuda_ioc_claim claim = {.domid = domid, .session = session, .status = status};
    int result = ioctl(host_fd, request, &claim);

    return result < 0 ? -errno : result;
}

static int guest_claim(struct request *request) {
    struct guest *guest = (struct guest *)request;

    if (guest->fd < 0)
        guest->fd =
            tell_host(VCUDA_HOST_IOC_CLAIM, request->session.domid, request->session.session, 0);
    return guest->fd;
}

static void forget(struct guest *guest) {
    if (guest->fd >= 0)
        close(guest->fd);
    free(guest);
}

static void guest_given(struct request *request) {
    forget((struct guest *)request);
}

static void guest_refuse(struct request *request, int error) {
    struct guest *guest = (struct guest *)request;

    /* A claimed one is answered already: closing its descriptor is its death. */
    if (guest->fd < 0)
        tell_host(VCUDA_HOST_IOC_REFUSE, request->session.domid, request->session.session, error);
    forget(guest);
}

static const struct request_ops guest_ops = {
    .claim = guest_claim,
    .given = guest_given,
    .refuse = guest_refuse,
};

/* Which GPUs the domain has, and how much of their memory: 0, or the errno for its open(). */
static int read_policy(struct vcuda_supervise_session *session) {
    struct vcuda_back back;
    int error = xs ? vcuda_xs_read_back(xs, session->domid, &back) : -EIO;

    if (error) {
        vcuda_log(VCUDA_LOG_ERROR, "domain %u: cannot read its GPUs from xenstore: %s",
                  session->domid, strerror(-error));
        return -EIO;
    }
    /* Detached meanwhile: the defaults are not its policy. */
    if (back.state == VCUDA_STATE_UNKNOWN)
        return -ENODEV;
    _Static_assert(VCUDA_GPUS_MAX <= VCUDA_SUPERVISE_GPUS_MAX, "a policy's GPUs fit");
    session->gpu_count = back.policy.gpus.count;
    memcpy(session->gpus, back.policy.gpus.index, session->gpu_count * sizeof(session->gpus[0]));
    session->memory_limit = (uint64_t)back.policy.max_gpu_mib << 20;
    return session->gpu_count ? 0 : -ENODEV;
}

static void session_new(uint32_t domid, uint32_t session) {
    struct guest *guest = calloc(1, sizeof(*guest));
    int error = -ENOMEM;

    if (guest) {
        guest->fd = -1;
        guest->request.ops = &guest_ops;
        guest->request.session = (struct vcuda_supervise_session){
            .op = VCUDA_SUPERVISE_SESSION, .domid = domid, .session = session};
        error = read_policy(&guest->request.session);
    }
    if (!error) {
        pool_submit(pool, &guest->request);
        return;
    }
    tell_host(VCUDA_HOST_IOC_REFUSE, domid, session, error);
    free(guest);
}

static void session_gone(uint32_t domid, uint32_t session) {
    struct request *waiting = pool_waiting(pool, domid, session);

    if (waiting && pool_cancel(pool, waiting))
        forget((struct guest *)waiting);
    else
        pool_session_gone(pool, domid, session);
}

/* ---- The device ------------------------------------------------------------- */

static void close_host(void) {
    if (host_fd < 0)
        return;
    loop_remove(host_fd);
    close(host_fd);
    host_fd = -1;
}

static void host_speaks(struct loop_source *source, uint32_t events) {
    struct vcuda_ioc_host_event event;

    (void)source;
    if (ioctl(host_fd, VCUDA_HOST_IOC_NEXT, &event) == 0) {
        if (event.what == VCUDA_HOST_SESSION_NEW)
            session_new(event.domid, event.session);
        else if (event.what == VCUDA_HOST_SESSION_GONE)
            session_gone(event.domid, event.session);
        return; /* the loop comes back while there is more */
    }
    if (errno != EAGAIN || events & (EPOLLERR | EPOLLHUP)) {
        int error = errno;

        close_host();
        not_serving(VCUDA_HOST_DEVICE, strerror(error));
    }
}

/* 0 or a negative errno, which not_serving() has told. */
static int open_host(void) {
    int error;

    host_fd = open(VCUDA_HOST_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (host_fd >= 0) {
        host_source.ready = host_speaks;
        loop_add(host_fd, &host_source, EPOLLIN);
        return 0;
    }
    error = -errno;
    not_serving(VCUDA_HOST_DEVICE, error == -ENOENT
                                       ? "not there; in dom0 of a Xen host: modprobe vcuda-back"
                                   : error == -EBUSY ? "another vcudad has it; stop it first"
                                                     : strerror(-error));
    return error;
}

/* ---- xenstore ----------------------------------------------------------------- */

static void keeper_reports(enum vcuda_keeper_event event, uint32_t domid, int error,
                           const char *why, void *arg) {
    (void)error;
    (void)arg;
    switch (event) {
    case VCUDA_KEEPER_ATTACHED:
        vcuda_log(VCUDA_LOG_NOTICE, "domain %u: attached by policy", domid);
        break;
    case VCUDA_KEEPER_REAPED:
        vcuda_log(VCUDA_LOG_NOTICE, "domain %u is gone: its nodes are removed", domid);
        domains_forget(domid);
        codes_forget(domid);
        break;
    case VCUDA_KEEPER_FAILED:
        vcuda_log(VCUDA_LOG_WARNING, "domain %u: not attached: %s", domid, why);
        break;
    }
}

static void close_store(void) {
    if (keeper) {
        loop_remove(vcuda_keeper_fd(keeper));
        vcuda_keeper_close(keeper);
    }
    if (xs)
        xs_close(xs);
    keeper = NULL;
    xs = NULL;
}

static void store_speaks(struct loop_source *source, uint32_t events) {
    int error = vcuda_keeper_step(keeper);

    (void)source;
    (void)events;
    if (error < 0) {
        close_store();
        not_serving("xenstore", strerror(-error));
    }
}

/* Nobody says what domains use, or one that was killed said it. */
static void forget_usage(void) {
    int error = vcuda_xs_forget_usage(xs);

    if (error)
        vcuda_log(VCUDA_LOG_WARNING, "xenstore still says what domains used before: %s",
                  strerror(-error));
}

static int open_store(void) {
    int error;

    xs = xs_open(0);
    if (xs)
        keeper = vcuda_keeper_open(options->policy_dir, keeper_reports, NULL);
    if (!keeper) {
        error = errno ? -errno : -EIO;
        close_store();
        not_serving("xenstore", strerror(-error));
        return error;
    }
    keeper_source.ready = store_speaks;
    loop_add(vcuda_keeper_fd(keeper), &keeper_source, EPOLLIN);
    forget_usage();
    domains_tell_anew();
    return 0;
}

/* ---- All of it ------------------------------------------------------------------ */

/* Opens what is not open yet; tries again later where something is missing. */
static void connect_all(void) {
    if (host_fd < 0 && open_host())
        return;
    if (!keeper && open_store())
        return;
    vcuda_log(VCUDA_LOG_NOTICE, "serves guests, policies from %s", options->policy_dir);
    snprintf(state, sizeof(state), "serving");
    status_changed();
}

static void retry(struct loop_timer *timer) {
    (void)timer;
    connect_all();
}

bool xen_built_in(void) {
    return true;
}

int xen_start(const struct options *use, struct pool *serve) {
    options = use;
    pool = serve;
    retry_timer.fire = retry;
    if (options->xen == OFF)
        return 0;
    connect_all();
    if (options->xen == AUTO || (host_fd >= 0 && keeper))
        return 0;
    vcuda_log(VCUDA_LOG_ERROR, "--xen on: %s", state);
    return -ENODEV;
}

void xen_reload(void) {
    if (options->xen == OFF)
        return;
    close_store(); /* a new keeper looks at every domain anew */
    connect_all();
}

void xen_stop(void) {
    loop_timer_clear(&retry_timer);
    if (xs)
        forget_usage();
    close_store();
    close_host();
}

const char *xen_state(void) {
    return state;
}

/* A worker's word: it may be any number. */
static uint32_t at_most_32_bits(uint64_t number) {
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

bool xen_publish(uint32_t domid, uint32_t sessions, uint64_t pages, uint64_t gpu_memory) {
    struct vcuda_usage usage = {
        .sessions = sessions,
        .pages = at_most_32_bits(pages),
        .gpu_mib = at_most_32_bits(gpu_memory / MIB + (gpu_memory % MIB != 0)),
    };

    if (!xs)
        return false;
    /* Nodes written after the domain's end would stay for ever. */
    if (!vcuda_xs_alive(xs, domid))
        return true;
    int error = vcuda_xs_write_usage(xs, domid, &usage);

    if (error)
        vcuda_log(VCUDA_LOG_INFO, "domain %u: cannot write its usage to xenstore: %s", domid,
                  strerror(-error));
    return !error || error == -ESRCH;
}
