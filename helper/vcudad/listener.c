// SPDX-License-Identifier: Apache-2.0
#include "listener.h"
#include "log.h"
#include "refusal.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128
#define PAUSE_MS 100

/* A client between its connection and its worker. */
struct client {
    struct request request;
    struct loop_source source;
    int fd;
};

static const struct options *options;
static struct pool *pool;
static struct loop_source listener;
static struct loop_timer pause_timer;
static int listen_fd = -1;
static uint32_t last_session;

static struct client *client_of(struct request *request) {
    return (struct client *)request;
}

/* Lets go of the client; its connection is the caller's. */
static int release(struct client *client) {
    int fd = client->fd;

    loop_remove(fd);
    free(client);
    return fd;
}

static int client_claim(struct request *request) {
    return client_of(request)->fd;
}

static void client_given(struct request *request) {
    close(release(client_of(request)));
}

static void client_refuse(struct request *request, int error) {
    refusal_start(release(client_of(request)), error);
}

static const struct request_ops client_ops = {
    .claim = client_claim,
    .given = client_given,
    .refuse = client_refuse,
};

/* The program went away before it got a worker. */
static void client_gone(struct loop_source *source, uint32_t events) {
    struct client *client =
        (struct client *)((char *)source - __builtin_offsetof(struct client, source));

    (void)events;
    pool_cancel(pool, &client->request);
    close(release(client));
}

static void welcome(int fd, const struct ucred *who) {
    struct client *client;

    if (pool_sessions_of(pool, who->uid) >= options->max_local_sessions) {
        vcuda_log(VCUDA_LOG_WARNING,
                  "process %d refused: user %u has %u sessions already (--max-local-sessions)",
                  who->pid, who->uid, options->max_local_sessions);
        refusal_start(fd, -EDQUOT);
        return;
    }
    client = calloc(1, sizeof(*client));
    if (!client) {
        refusal_start(fd, -ENOMEM);
        return;
    }
    client->fd = fd;
    client->source.ready = client_gone;
    client->request = (struct request){
        .ops = &client_ops,
        .session = {.op = VCUDA_SUPERVISE_SESSION,
                    .domid = VCUDA_SUPERVISE_LOCAL,
                    .session = ++last_session,
                    .uid = who->uid,
                    .pid = (uint32_t)who->pid,
                    .memory_limit = (uint64_t)options->max_local_gpu_mib << 20},
    };
    loop_add(fd, &client->source, EPOLLRDHUP);
    pool_submit(pool, &client->request);
}

static void resume(struct loop_timer *timer) {
    (void)timer;
    if (listen_fd >= 0)
        loop_add(listen_fd, &listener, EPOLLIN);
}

static void client_connects(struct loop_source *source, uint32_t events) {
    struct ucred who;
    socklen_t length = sizeof(who);
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

    (void)source;
    (void)events;
    if (fd < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS)
            return;
        /* The connection waits still: without a pause this would spin. */
        vcuda_log(VCUDA_LOG_WARNING, "cannot accept a connection: %s", strerror(errno));
        loop_remove(listen_fd);
        loop_timer_set(&pause_timer, PAUSE_MS);
        return;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length)) {
        close(fd);
        return;
    }
    welcome(fd, &who);
}

/* 0 when path is free now: nothing there, or the socket of a vcudad that is gone. */
static int clear_stale(const struct sockaddr_un *address) {
    const char *path = address->sun_path;
    struct stat info;
    int probe;
    int error;

    if (lstat(path, &info))
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(info.st_mode))
        return -EEXIST;
    probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return -errno;
    error = connect(probe, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
    close(probe);
    if (error != ECONNREFUSED)
        return -EADDRINUSE;
    vcuda_log(VCUDA_LOG_INFO, "replaces the stale socket %s", path);
    return unlink(path) ? -errno : 0;
}

/* The group that the options name; (gid_t)-1 changes nothing. False if there is none. */
static bool find_group(gid_t *group) {
    const char *text = options->socket_group;
    const struct group *found;
    unsigned long id;
    char *end;

    *group = (gid_t)-1;
    if (!text)
        return true;
    id = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && id < UINT_MAX) {
        *group = (gid_t)id;
        return true;
    }
    found = getgrnam(text);
    if (found)
        *group = found->gr_gid;
    else
        vcuda_log(VCUDA_LOG_ERROR, "there is no group '%s': make it (groupadd --system %s)", text,
                  text);
    return found != NULL;
}

static int listen_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    gid_t group;
    int error;

    if (!find_group(&group))
        return -ESRCH;
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    error = clear_stale(&address);
    if (error)
        return error;
    listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listen_fd < 0)
        return -errno;

    mode_t mask = umask(0777); /* nobody connects before the mode is right */

    error = bind(listen_fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
    umask(mask);
    if (!error && (chown(path, (uid_t)-1, group) || chmod(path, options->socket_mode) ||
                   listen(listen_fd, BACKLOG)))
        error = -errno;
    if (error) {
        close(listen_fd);
        listen_fd = -1;
    }
    return error;
}

static const char *remedy(int error) {
    switch (-error) {
    case EADDRINUSE:
        return "another vcudad listens there; stop it first, or choose another --socket";
    case EEXIST:
        return "there is a file of another kind; remove it, or choose another --socket";
    case ENAMETOOLONG:
        return "too long for a socket's name (107 bytes); choose another --socket";
    case ENOENT:
        return "its folder does not exist";
    case ESRCH:
        return "its group, see above";
    case EPERM:
        return "run vcudad as root, or as a member of the --socket-group";
    case EACCES:
        return "run vcudad as root, or choose another --socket";
    default:
        return strerror(-error);
    }
}

int listener_start(const struct options *use, struct pool *serve) {
    int error;

    options = use;
    pool = serve;
    if (!options->local)
        return 0;
    error = listen_at(options->socket);
    if (error) {
        vcuda_log(VCUDA_LOG_ERROR, "cannot listen on %s: %s", options->socket, remedy(error));
        return error;
    }
    listener.ready = client_connects;
    pause_timer.fire = resume;
    loop_add(listen_fd, &listener, EPOLLIN);
    return 0;
}

void listener_stop(void) {
    if (listen_fd < 0)
        return;
    unlink(options->socket);
    close(listen_fd); /* leaves the loop by itself: no copy of it exists */
    listen_fd = -1;
}
