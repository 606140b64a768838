// SPDX-License-Identifier: Apache-2.0
/*
 * A worker without a GPU, to test its supervisor: speaks the real supervise
 * protocol, loads VCUDA_DRIVER as a library, enters the real sandbox, and then
 * answers each message of its local client, or holds its guest's session. PROBE in the environment
 * makes it fail in ways in which a good worker does not.
 */
#include "probe.h"
#include "local.h"
#include "log.h"
#include "sandbox.h"
#include "supervise.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool told(const char *how) {
    const char *probe = getenv("PROBE");

    return probe && !strcmp(probe, how);
}

/* Wrong on purpose: what a worker from another release would send. */
static void say_other_version(void) {
    struct vcuda_supervise_ready ready = {
        .op = VCUDA_SUPERVISE_READY,
        .version = VCUDA_SUPERVISE_VERSION + 1,
        .devices = 1,
    };

    send(VCUDA_SUPERVISE_FD, &ready, sizeof(ready), 0);
    pause();
}

static void load_driver(void) {
    const char *driver = getenv("VCUDA_DRIVER");

    if (told("crash"))
        abort();
    if (told("other-version"))
        say_other_version();
    if (told("slow"))
        usleep(PROBE_SLOW_MS * 1000);
    if (driver && !dlopen(driver, RTLD_NOW)) {
        vcuda_supervise_failed(dlerror());
        exit(1);
    }
}

/* ---- What the sandbox lets through: 0 or the errno ------------------------ */

static int outcome(long result) {
    return result < 0 ? errno : 0;
}

static int try_execve(void) {
    char *none[] = {NULL};

    return outcome(execve("/nonexistent", none, none)); /* ENOENT where it is allowed */
}

static int try_fork(void) {
    pid_t child = fork();

    if (!child)
        _exit(0);
    return outcome(child);
}

static int try_spawn(void) {
    char *arguments[] = {"true", NULL};
    pid_t child;

    return posix_spawn(&child, "/bin/true", NULL, NULL, arguments, NULL);
}

static int try_inet(void) {
    return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int try_datagram(void) {
    return outcome(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static int try_unix(void) {
    return outcome(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int try_connect(void) {
    return outcome(connect(0, NULL, 0)); /* ENOTSOCK where it is allowed */
}

static int try_signal_init(void) {
    return outcome(kill(1, 0));
}

static int try_signal_self(void) {
    return outcome(kill(getpid(), 0));
}

/* A signal to vcudad by a file that has something to read: EPERM if no way there is open. */
static int try_signal_by_file(void) {
    const struct f_owner_ex owner = {F_OWNER_PID, getppid()};
    int other = getppid(), ends[2];
    int errors[4];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return errno;
    errors[0] = outcome(fcntl(ends[0], F_SETOWN, other));
    errors[1] = outcome(fcntl(ends[0], F_SETOWN_EX, &owner));
    errors[2] = outcome(ioctl(ends[0], FIOSETOWN, &other));
    errors[3] = outcome(syscall(SYS_fcntl, ends[0], 1l << 32 | F_SETOWN, (long)other));
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 4; i++)
        if (errors[i] != EPERM)
            return errors[i];
    return EPERM;
}

static int try_ptrace(void) {
    return outcome(ptrace(PTRACE_ATTACH, 0, NULL, NULL)); /* ESRCH where it is allowed */
}

static int try_bpf(void) {
    return outcome(syscall(SYS_bpf, 0, NULL, 0));
}

static int try_root(void) {
    return outcome(setuid(0));
}

static int try_open_null(void) {
    return outcome(open("/dev/null", O_RDWR | O_CLOEXEC));
}

static int try_other_limits(void) {
    struct rlimit limit;

    return outcome(prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit));
}

static void *nothing(void *arg) {
    return arg;
}

static int try_thread(void) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, nothing, NULL);

    return error ? error : pthread_join(thread, NULL);
}

struct sleeper {
    pthread_barrier_t ends;
    pid_t tid;
};

static void *sleep_between(void *arg) {
    struct sleeper *sleeper = arg;

    sleeper->tid = gettid();
    pthread_barrier_wait(&sleeper->ends);
    pthread_barrier_wait(&sleeper->ends);
    return NULL;
}

#define SCHEDULE_WAYS 6
#define NOBODYS 54321 /* no process is this user's */

/* Changes nothing of it. */
static void schedule(pid_t who, int errors[SCHEDULE_WAYS]) {
    const struct sched_param none = {0};
    struct {
        uint32_t size, policy;
        uint64_t rest[5];
    } attributes = {.size = sizeof(attributes)};
    cpu_set_t all;

    sched_getaffinity(0, sizeof(all), &all);
    errors[0] = outcome(sched_setscheduler(who, SCHED_OTHER, &none));
    errors[1] = outcome(sched_setparam(who, &none));
    errors[2] = outcome(syscall(SYS_sched_setattr, who, &attributes, 0));
    errors[3] = outcome(sched_setaffinity(who, sizeof(all), &all));
    errors[4] = outcome(setpriority(PRIO_PROCESS, (id_t)who, getpriority(PRIO_PROCESS, 0)));
    errors[5] = outcome(syscall(SYS_ioprio_set, 1 /* a process */, who, 0));
}

static int try_schedule_self(void) {
    int errors[2 * SCHEDULE_WAYS];

    schedule(0, errors);
    schedule(getpid(), errors + SCHEDULE_WAYS);
    for (int i = 0; i < 2 * SCHEDULE_WAYS; i++)
        if (errors[i])
            return errors[i];
    return 0;
}

/* By the number of a thread: a filter cannot tell it from another process's. */
static int try_schedule_other(void) {
    int errors[SCHEDULE_WAYS + 2];
    struct sleeper sleeper;
    pthread_t thread;

    pthread_barrier_init(&sleeper.ends, NULL, 2);
    if (pthread_create(&thread, NULL, sleep_between, &sleeper))
        return ENOMEM;
    pthread_barrier_wait(&sleeper.ends);
    schedule(sleeper.tid, errors);
    errors[SCHEDULE_WAYS] = outcome(setpriority(PRIO_USER, NOBODYS, 0));
    errors[SCHEDULE_WAYS + 1] = outcome(syscall(SYS_ioprio_set, 3 /* a user */, NOBODYS, 0));
    pthread_barrier_wait(&sleeper.ends);
    pthread_join(thread, NULL);
    for (int i = 0; i < SCHEDULE_WAYS + 2; i++)
        if (errors[i] != EPERM)
            return errors[i];
    return EPERM;
}

static int (*const attempts[])(void) = {
    [PROBE_EXECVE] = try_execve,
    [PROBE_FORK] = try_fork,
    [PROBE_SPAWN] = try_spawn,
    [PROBE_INET] = try_inet,
    [PROBE_DATAGRAM] = try_datagram,
    [PROBE_UNIX] = try_unix,
    [PROBE_CONNECT] = try_connect,
    [PROBE_SIGNAL_INIT] = try_signal_init,
    [PROBE_SIGNAL_SELF] = try_signal_self,
    [PROBE_SIGNAL_BY_FILE] = try_signal_by_file,
    [PROBE_PTRACE] = try_ptrace,
    [PROBE_BPF] = try_bpf,
    [PROBE_ROOT] = try_root,
    [PROBE_OPEN_NULL] = try_open_null,
    [PROBE_OTHER_LIMITS] = try_other_limits,
    [PROBE_THREAD] = try_thread,
    [PROBE_SCHEDULE_SELF] = try_schedule_self,
    [PROBE_SCHEDULE_OTHER] = try_schedule_other,
};

/* ---- The session ----------------------------------------------------------- */

static void fill_answer(struct probe_answer *answer,
                        const struct vcuda_supervise_session *session) {
    struct rlimit core = {1, 1};

    getrlimit(RLIMIT_CORE, &core);
    *answer = (struct probe_answer){
        .pid = getpid(),
        .uid = getuid(),
        .gid = getgid(),
        .groups = getgroups(0, NULL),
        .dumpable = prctl(PR_GET_DUMPABLE),
        .no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
        .core = (int)core.rlim_max,
        .mapping = (uintptr_t)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        .session = *session,
    };
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
        answer->outcomes[i] = attempts[i]();
}

/* The other end of the descriptor table: nothing of vcudad's is left open. */
static int count_descriptors(void) {
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int serve(int client, const struct vcuda_supervise_session *session,
                 struct vcuda_stats *stats) {
    struct vcuda_local_msg message;
    char command;

    if (recv(client, &message, sizeof(message), 0) != sizeof(message) ||
        message.op != VCUDA_LOCAL_OPEN)
        return 1;
    message = (struct vcuda_local_msg){.op = VCUDA_LOCAL_OPENED};
    if (send(client, &message, sizeof(message), MSG_NOSIGNAL) < 0)
        return 1;
    while (recv(client, &command, 1, 0) == 1) {
        struct probe_answer answer;
        int descriptors = count_descriptors();

        vcuda_stats_add(&stats->calls, 1);
        vcuda_stats_set(&stats->last_call, (uint64_t)command);
        if (command == PROBE_ABORT)
            abort();
        fill_answer(&answer, session);
        answer.descriptors = descriptors;
        if (send(client, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
            return 1;
    }
    return 0;
}

/* A guest's session: held until it dies. */
static int serve_guest(int fd) {
    struct pollfd session = {.fd = fd, .events = 0};

    while (poll(&session, 1, -1) >= 0 && !(session.revents & (POLLHUP | POLLERR)))
        ;
    return 0;
}

int main(int argc, char **argv) {
    struct vcuda_stats *stats = vcuda_supervise_stats();
    struct vcuda_supervise_session session;
    struct vcuda_sandbox sandbox = {0};
    struct vcuda_owner *owner;
    const char *what;
    int client;

    for (int i = 1; i < argc; i++) {
        if (!vcuda_log_argument(argv[i]) && vcuda_sandbox_argument(&sandbox, argv[i]))
            return 2;
    }
    load_driver();
    if (vcuda_sandbox_enter(&sandbox, &what)) {
        vcuda_supervise_failed(what);
        return 1;
    }
    if (vcuda_supervise_ready(13000, 2))
        return 0;
    if (told("crash-idle"))
        abort();
    if (vcuda_supervise_wait(&session, &client, &owner))
        return 0;
    if (session.domid != VCUDA_SUPERVISE_LOCAL)
        return serve_guest(client);
    return serve(client, &session, stats);
}
