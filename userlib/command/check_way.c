// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "checks.h"
#include "ioctl.h"
#include "local.h"
#include "report.h"

#define XEN_DEVICES "/sys/bus/xen/devices"

/* The first line of a file, or "". */
static void read_line(const char *path, char *line, size_t size) {
    FILE *f = fopen(path, "re");

    line[0] = 0;
    if (!f)
        return;
    if (!fgets(line, (int)size, f))
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    fclose(f);
}

static bool in_xen(void) {
    char type[32];

    read_line("/sys/hypervisor/type", type, sizeof(type));
    return !strcmp(type, "xen");
}

/* The device that dom0 attached, as xenbus sees it: false if there is none. */
static bool find_device(char name[256]) {
    DIR *dir = opendir(XEN_DEVICES);
    struct dirent *entry;
    bool found = false;

    if (!dir)
        return false;
    while (!found && (entry = readdir(dir))) {
        found = !strncmp(entry->d_name, "vcuda-", 6);
        if (found)
            snprintf(name, 256, "%s", entry->d_name);
    }
    closedir(dir);
    return found;
}

static void check_attachment(void) {
    char name[256], path[512], state[32];

    if (!find_device(name)) {
        report_problem("in dom0: vcudactl attach DOMAIN",
                       "dom0 has attached no GPU to this domain");
        return;
    }
    snprintf(path, sizeof(path), XEN_DEVICES "/%s/state", name);
    read_line(path, state, sizeof(state));
    if (!strcmp(state, "Connected"))
        report_ok("%s is connected to dom0", name);
    else
        report_problem(
            "in dom0: is vcuda-back loaded, does vcudad run? then vcudactl detach DOMAIN "
            "and attach it anew; dmesg here and there says more",
            "%s is not connected to dom0 but %s", name, *state ? state : "unknown");
}

static void check_device_file(void) {
    int fd = open(VCUDA_DEVICE, O_RDWR | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
        report_ok(VCUDA_DEVICE " may be opened");
    } else if (errno == EACCES || errno == EPERM) {
        report_problem("chmod 666 " VCUDA_DEVICE ", and a udev rule so that it stays",
                       "this user may not open " VCUDA_DEVICE);
    } else {
        report_problem("see the remedy above", VCUDA_DEVICE ": %s", strerror(errno));
    }
}

static void check_xen(void) {
    if (access("/sys/module/vcuda_front", F_OK)) {
        report_problem("modprobe vcuda-front; if there is none: dkms install vcuda/" VCUDA_RELEASE,
                       "the module vcuda-front is not loaded");
        return;
    }
    report_ok("the module vcuda-front is loaded");
    check_attachment();
    check_device_file();
}

/*
 * Knocks with a socket of the wrong kind: the kernel says so (EPROTOTYPE) only after it has found
 * that somebody listens and that we may connect, and vcudad spends no worker on it.
 */
static int knock_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error = 0;

    if (fd < 0)
        return errno;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        error = errno;
    close(fd);
    return error;
}

static void check_socket(void) {
    const char *path = getenv("VCUDA_SOCKET");
    int error;

    if (!path)
        path = VCUDA_LOCAL_SOCKET;
    error = knock_at(path);
    switch (error) {
    case EPROTOTYPE:
        report_ok("vcudad listens at %s", path);
        break;
    case ENOENT:
        report_problem("start vcudad; in a container, mount the folder of its socket, or name it "
                       "by VCUDA_SOCKET",
                       "there is no socket %s", path);
        break;
    case ECONNREFUSED:
        report_problem("systemctl start vcudad (in a container, mount the folder of the socket, "
                       "not the socket: vcudad makes a new one when it starts)",
                       "nobody listens at %s", path);
        break;
    case EACCES:
    case EPERM:
        report_problem("put the user into the group of the socket (adduser USER vcuda) and log in "
                       "anew, or start vcudad with another --socket-mode",
                       "this user may not connect to %s", path);
        break;
    case 0:
        report_problem("name vcudad's socket by --socket or VCUDA_SOCKET",
                       "it is not vcudad that listens at %s", path);
        break;
    default:
        report_problem("name vcudad's socket by --socket or VCUDA_SOCKET", "%s: %s", path,
                       strerror(error));
    }
}

void check_way(void) {
    const char *which = getenv("VCUDA_TRANSPORT");

    if (which && !strcmp(which, "local"))
        check_socket();
    else if (in_xen() || (which && !strcmp(which, "xen")))
        check_xen();
    else
        check_socket();
}
