// SPDX-License-Identifier: Apache-2.0
#include "options.h"
#include "sandbox.h"
#include "schema.h"
#include "xen.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_DIR "/run/vcuda"
#define WARM_MAX 64

static const char help[] =
    "Usage: vcudad [OPTION]...\n"
    "Serves this host's GPUs to Xen guests and, over a local socket, to programs\n"
    "on this machine. Runs in the foreground until SIGTERM.\n"
    "\n"
    "      --warm N               workers kept ready (default 1)\n"
    "      --burst N              more of them while programs come faster (default 3)\n"
    "      --xen auto|on|off      serve guests; auto: where /dev/vcuda-host is\n"
    "      --local on|off         serve programs of this machine (default on)\n"
    "      --socket PATH          for them (default STATE-DIR/vcudad.sock)\n"
    "      --socket-mode MODE     who may connect (default 0666)\n"
    "      --socket-group GROUP   whose the socket is, by name or number\n"
    "      --max-local-sessions N for each user (default 64)\n"
    "      --max-local-gpu-mib N  device memory in MiB for each user (default 0: no limit)\n"
    "      --policy-dir DIR       which domains get what (default " VCUDA_POLICY_DIR ")\n"
    "      --state-dir DIR        status and counters (default " STATE_DIR ")\n"
    "      --driver PATH          CUDA driver to load (default: VCUDA_DRIVER, or the\n"
    "                             system's libcuda.so.1)\n"
    "      --worker PATH          vcuda-worker (default: beside vcudad)\n"
    "      --worker-user USER     workers run as this user (default: vcuda if there is\n"
    "                             one, else nobody); only when started as root\n"
    "      --no-sandbox           workers keep their privileges: for debugging only\n"
    "  -q, --quiet                errors and warnings only\n"
    "  -v, --verbose              more messages; twice for even more\n"
    "      --help, --version\n"
    "\n"
    "SIGHUP reads the policy anew and retries the driver; SIGUSR1 logs the table of\n"
    "sessions. See vcudad(8).\n";

enum {
    OPT_WARM = 256,
    OPT_BURST,
    OPT_XEN,
    OPT_LOCAL,
    OPT_SOCKET,
    OPT_SOCKET_MODE,
    OPT_SOCKET_GROUP,
    OPT_MAX_LOCAL,
    OPT_MAX_LOCAL_GPU_MIB,
    OPT_POLICY_DIR,
    OPT_STATE_DIR,
    OPT_DRIVER,
    OPT_WORKER,
    OPT_WORKER_USER,
    OPT_NO_SANDBOX,
    OPT_HELP,
    OPT_VERSION,
};

static const struct option long_options[] = {
    {"warm", required_argument, NULL, OPT_WARM},
    {"burst", required_argument, NULL, OPT_BURST},
    {"xen", required_argument, NULL, OPT_XEN},
    {"local", required_argument, NULL, OPT_LOCAL},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"socket-mode", required_argument, NULL, OPT_SOCKET_MODE},
    {"socket-group", required_argument, NULL, OPT_SOCKET_GROUP},
    {"max-local-sessions", required_argument, NULL, OPT_MAX_LOCAL},
    {"max-local-gpu-mib", required_argument, NULL, OPT_MAX_LOCAL_GPU_MIB},
    {"policy-dir", required_argument, NULL, OPT_POLICY_DIR},
    {"state-dir", required_argument, NULL, OPT_STATE_DIR},
    {"driver", required_argument, NULL, OPT_DRIVER},
    {"worker", required_argument, NULL, OPT_WORKER},
    {"worker-user", required_argument, NULL, OPT_WORKER_USER},
    {"no-sandbox", no_argument, NULL, OPT_NO_SANDBOX},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static void __attribute__((noreturn)) bad(const char *option, const char *value, const char *want) {
    fprintf(stderr, "vcudad: --%s %s: %s\nTry 'vcudad --help'.\n", option, value, want);
    exit(2);
}

static unsigned number(const char *option, const char *text, int base, unsigned max) {
    char *end;
    unsigned long value;
    char want[64];

    errno = 0;
    value = strtoul(text, &end, base);
    if (*text >= '0' && *text <= '9' && !*end && !errno && value <= max)
        return (unsigned)value;
    snprintf(want, sizeof(want), base == 8 ? "an octal number up to %o" : "a number up to %u", max);
    bad(option, text, want);
}

static enum tristate tristate(const char *option, const char *text, bool may_be_auto) {
    if (!strcmp(text, "on"))
        return ON;
    if (!strcmp(text, "off"))
        return OFF;
    if (may_be_auto && !strcmp(text, "auto"))
        return AUTO;
    bad(option, text, may_be_auto ? "auto, on or off" : "on or off");
}

static char *join(const char *dir, const char *name) {
    char *path;

    if (asprintf(&path, "%s/%s", dir, name) < 0) {
        perror("vcudad");
        exit(1);
    }
    return path;
}

/* vcuda-worker stands beside vcudad, in the build folder as well as installed. */
static char *default_worker(void) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (length < 0)
        return join("/usr/sbin", "vcuda-worker");
    self[length] = 0;
    slash = strrchr(self, '/');
    *slash = 0;
    return join(self, "vcuda-worker");
}

static void version(void) {
    printf("vcudad " VCUDA_RELEASE " (Xen: %s; system call filter: %s)\n",
           xen_built_in() ? "yes" : "no, built without libxenstore",
           vcuda_sandbox_filters() ? "yes" : "no, built without libseccomp");
    exit(0);
}

static void set(struct options *o, int option, const char *value) {
    switch (option) {
    case OPT_WARM:
        o->warm = number("warm", value, 10, WARM_MAX);
        break;
    case OPT_BURST:
        o->burst = number("burst", value, 10, WARM_MAX);
        break;
    case OPT_XEN:
        o->xen = tristate("xen", value, true);
        break;
    case OPT_LOCAL:
        o->local = tristate("local", value, false) == ON;
        break;
    case OPT_SOCKET:
        o->socket = value;
        break;
    case OPT_SOCKET_MODE:
        o->socket_mode = number("socket-mode", value, 8, 0777);
        break;
    case OPT_SOCKET_GROUP:
        o->socket_group = value;
        break;
    case OPT_MAX_LOCAL:
        o->max_local_sessions = number("max-local-sessions", value, 10, VCUDA_ACCOUNT_SHARES);
        break;
    case OPT_MAX_LOCAL_GPU_MIB:
        o->max_local_gpu_mib = number("max-local-gpu-mib", value, 10, VCUDA_GPU_MIB_MAX);
        break;
    case OPT_POLICY_DIR:
        o->policy_dir = value;
        break;
    case OPT_STATE_DIR:
        o->state_dir = value;
        break;
    case OPT_DRIVER:
        o->driver = value;
        break;
    case OPT_WORKER:
        o->worker = value;
        break;
    case OPT_WORKER_USER:
        o->worker_user = value;
        break;
    case OPT_NO_SANDBOX:
        o->sandbox = false;
        break;
    case 'q':
        o->verbose = -1;
        break;
    case 'v':
        if (o->verbose < 2)
            o->verbose++;
        break;
    case OPT_HELP:
        fputs(help, stdout);
        exit(0);
    case OPT_VERSION:
        version();
        break;
    default:
        fputs("Try 'vcudad --help'.\n", stderr);
        exit(2);
    }
}

void options_parse(struct options *options, int argc, char **argv) {
    int option;

    *options = (struct options){
        .warm = 1,
        .burst = 3,
        .xen = AUTO,
        .local = true,
        .socket_mode = 0666,
        .max_local_sessions = 64,
        .policy_dir = VCUDA_POLICY_DIR,
        .state_dir = STATE_DIR,
        .sandbox = true,
    };
    while ((option = getopt_long(argc, argv, "qv", long_options, NULL)) >= 0)
        set(options, option, optarg);
    if (optind < argc) {
        fprintf(stderr, "vcudad: '%s' is not an option.\nTry 'vcudad --help'.\n", argv[optind]);
        exit(2);
    }
    if (!options->socket)
        options->socket = join(options->state_dir, "vcudad.sock");
    if (!options->worker)
        options->worker = default_worker();
}
