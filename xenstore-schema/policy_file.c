// SPDX-License-Identifier: Apache-2.0
/* Policies on disk: one small file a domain, dir/NAME.conf. */
#include "schema.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".conf"
/* Far above any sensible policy with its comments. */
#define FILE_MAX 16384

typedef char file_name[VCUDA_NAME_MAX + sizeof(SUFFIX)];

static int open_dir(const char *dir) {
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

static int name_file(const char *name, file_name file) {
    if (!vcuda_name_ok(name))
        return -EINVAL;
    snprintf(file, sizeof(file_name), "%s" SUFFIX, name);
    return 0;
}

static ssize_t read_all(int fd, char *text, size_t size) {
    size_t len = 0;

    while (len < size) {
        ssize_t got = read(fd, text + len, size - len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

static int write_all(int fd, const char *text, size_t len) {
    while (len) {
        ssize_t put = write(fd, text, len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        text += put;
        len -= (size_t)put;
    }
    return 0;
}

static int parse_fd(int fd, struct vcuda_policy *policy, struct vcuda_policy_error *error) {
    char text[FILE_MAX];
    ssize_t len = read_all(fd, text, sizeof(text));

    if (len < 0)
        return (int)len;
    if (len == FILE_MAX) {
        *error = (struct vcuda_policy_error){.what = "the file is too long"};
        return -EINVAL;
    }
    vcuda_policy_defaults(policy);
    return vcuda_policy_parse(text, (size_t)len, policy, error);
}

int vcuda_policy_load(const char *dir, const char *name, struct vcuda_policy *policy,
                      struct vcuda_policy_error *error) {
    file_name file;
    int dirfd, fd, err;

    if (name_file(name, file))
        return -ENOENT; /* no file can have that name */
    dirfd = open_dir(dir);
    if (dirfd < 0)
        return dirfd;
    fd = openat(dirfd, file, O_RDONLY | O_CLOEXEC);
    err = fd < 0 ? -errno : parse_fd(fd, policy, error);
    if (fd >= 0)
        close(fd);
    close(dirfd);
    return err;
}

/* The directory and its parent, as a package would have made them. */
static int make_dir(const char *dir) {
    char parent[256];
    const char *slash = strrchr(dir, '/');

    if (slash && slash > dir && (size_t)(slash - dir) < sizeof(parent)) {
        snprintf(parent, sizeof(parent), "%.*s", (int)(slash - dir), dir);
        if (mkdir(parent, 0755) && errno != EEXIST)
            return -errno;
    }
    if (mkdir(dir, 0755) && errno != EEXIST)
        return -errno;
    return 0;
}

/* A reader sees the old file or the new one, never a part. */
static int replace(int dirfd, const char *file, const char *text, size_t len) {
    static const char draft[] = ".vcuda-policy.new";
    int fd = openat(dirfd, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    int err;

    if (fd < 0)
        return -errno;
    err = write_all(fd, text, len);
    if (!err && fsync(fd))
        err = -errno;
    close(fd);
    if (!err && renameat(dirfd, draft, dirfd, file))
        err = -errno;
    if (err)
        unlinkat(dirfd, draft, 0);
    return err;
}

int vcuda_policy_store(const char *dir, const char *name, const struct vcuda_policy *policy) {
    char text[1024];
    file_name file;
    int dirfd, len, err = name_file(name, file);

    if (err)
        return err;
    len = vcuda_policy_format(policy, text, sizeof(text));
    if (len < 0)
        return len;
    err = make_dir(dir);
    if (err)
        return err;
    dirfd = open_dir(dir);
    if (dirfd < 0)
        return dirfd;
    err = replace(dirfd, file, text, (size_t)len);
    close(dirfd);
    return err;
}

int vcuda_policy_remove(const char *dir, const char *name) {
    file_name file;
    int dirfd, err = name_file(name, file);

    if (err)
        return err;
    dirfd = open_dir(dir);
    if (dirfd < 0)
        return dirfd;
    if (unlinkat(dirfd, file, 0))
        err = -errno;
    close(dirfd);
    return err;
}

/* The length of NAME in an entry NAME.conf, or 0 for any other file. */
static size_t policy_name_len(const char *entry) {
    size_t len = strlen(entry);
    file_name name;

    if (len < sizeof(SUFFIX) || len >= sizeof(name))
        return 0;
    len -= sizeof(SUFFIX) - 1;
    if (strcmp(entry + len, SUFFIX))
        return 0;
    snprintf(name, sizeof(name), "%.*s", (int)len, entry);
    return vcuda_name_ok(name) ? len : 0;
}

static int is_policy(const struct dirent *entry) {
    return policy_name_len(entry->d_name) > 0;
}

int vcuda_policy_names(const char *dir, char ***names) {
    struct dirent **entries;
    size_t size = 0;
    char *at;
    int count = scandir(dir, &entries, is_policy, alphasort);

    *names = NULL;
    if (count < 0)
        return errno == ENOENT ? 0 : -errno;
    for (int i = 0; i < count; i++)
        size += sizeof(char *) + policy_name_len(entries[i]->d_name) + 1;
    *names = malloc(size ? size : 1);
    at = *names ? (char *)(*names + count) : NULL;
    for (int i = 0; i < count; i++) {
        size_t len = policy_name_len(entries[i]->d_name);

        if (at) {
            (*names)[i] = at;
            memcpy(at, entries[i]->d_name, len);
            at[len] = '\0';
            at += len + 1;
        }
        free(entries[i]);
    }
    free(entries);
    return *names ? count : -ENOMEM;
}
