// SPDX-License-Identifier: Apache-2.0
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(const char *path, const char *text, size_t length) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    ssize_t wrote;

    if (fd < 0)
        return -errno;
    wrote = write(fd, text, length);
    if (close(fd) || wrote < 0)
        return -errno;
    return (size_t)wrote == length ? 0 : -ENOSPC;
}

int textfile_write(const char *dir, const char *name, const char *text, size_t length) {
    char path[PATH_MAX];
    char fresh[PATH_MAX];
    int error;

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
        snprintf(fresh, sizeof(fresh), "%s/.%s.new", dir, name) >= (int)sizeof(fresh))
        return -ENAMETOOLONG;
    error = write_all(fresh, text, length);
    if (!error && rename(fresh, path))
        error = -errno;
    if (error)
        unlink(fresh);
    return error;
}

void textfile_remove(const char *dir, const char *name) {
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
        unlink(path);
}

static int make_dir(const char *dir) {
    return mkdir(dir, 0755) && errno != EEXIST ? -errno : 0;
}

int textfile_make_dir(const char *dir) {
    char parent[PATH_MAX];
    char *slash;
    int error = make_dir(dir);

    if (error != -ENOENT)
        return error;
    if (snprintf(parent, sizeof(parent), "%s", dir) >= (int)sizeof(parent))
        return -ENAMETOOLONG;
    slash = strrchr(parent, '/');
    if (!slash || slash == parent)
        return error;
    *slash = 0;
    error = make_dir(parent);
    return error ? error : make_dir(dir);
}
