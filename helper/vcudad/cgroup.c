// SPDX-License-Identifier: Apache-2.0
#include "cgroup.h"
#include "log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOUNT "/sys/fs/cgroup"
#define PREFIX "worker-"
/* Threads of the driver and ours, with much to spare. */
#define THREADS_MAX "6144"

static int base = -1; /* vcudad's own group */

/* Path of our group below MOUNT, from the v2 line of /proc/self/cgroup. */
static int own_group(char *path, size_t size) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    int error = -ENOENT;

    if (!file)
        return -errno;
    while (error == -ENOENT && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "0::", 3)) {
            int length = snprintf(path, size, MOUNT "%s", line + 3);

            error = (size_t)length < size ? 0 : -ENAMETOOLONG;
        }
    }
    fclose(file);
    return error;
}

static int write_at(int dir, const char *name, const char *text) {
    int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
    int error = 0;

    if (fd < 0)
        return -errno;
    if (write(fd, text, strlen(text)) < 0)
        error = -errno;
    close(fd);
    return error;
}

/* Groups whose workers have ended since; one that still has a worker stays. */
static void remove_old(void) {
    DIR *dir = fdopendir(dup(base));
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
            unlinkat(base, entry->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

/* Controllers can only be passed on by a group that has no process itself. */
static void delegate(void) {
    if (mkdirat(base, "supervisor", 0755) && errno != EEXIST)
        return;
    if (write_at(base, "supervisor/cgroup.procs", "0"))
        return;
    if (write_at(base, "cgroup.subtree_control", "+pids +memory"))
        vcuda_log(VCUDA_LOG_INFO, "workers' cgroups only count (no controllers here)");
}

void cgroup_start(void) {
    char path[PATH_MAX];
    int error = access(MOUNT "/cgroup.controllers", F_OK) ? -errno : own_group(path, sizeof(path));

    if (!error) {
        base = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = base < 0 ? -errno : 0;
    }
    if (!error && faccessat(base, "cgroup.procs", W_OK, 0))
        error = -errno;
    if (error) {
        vcuda_log(VCUDA_LOG_INFO, "workers have no cgroups of their own: %s", strerror(-error));
        if (base >= 0)
            close(base);
        base = -1;
        return;
    }
    remove_old();
    delegate();
}

static void group_name(char name[64], unsigned n) {
    snprintf(name, 64, PREFIX "%d-%u", (int)getpid(), n);
}

int cgroup_make(unsigned n) {
    char name[64];
    char file[96];

    if (base < 0)
        return -1;
    group_name(name, n);
    if (mkdirat(base, name, 0755) && errno != EEXIST) {
        vcuda_log(VCUDA_LOG_INFO, "workers have no cgroups of their own: %s", strerror(errno));
        close(base);
        base = -1;
        return -1;
    }
    snprintf(file, sizeof(file), "%s/pids.max", name);
    write_at(base, file, THREADS_MAX); /* absent without the controller */
    snprintf(file, sizeof(file), "%s/cgroup.procs", name);
    return openat(base, file, O_WRONLY | O_CLOEXEC);
}

void cgroup_remove(unsigned n) {
    char name[64];

    if (base < 0)
        return;
    group_name(name, n);
    unlinkat(base, name, AT_REMOVEDIR);
}
