// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "swap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* One line of /proc/self/maps: whether its memory is the program's alone and of no file. */
static bool line_is_private(const char *line, uint64_t *from, uint64_t *to) {
    char rights[5] = "", name[32] = "";
    unsigned long long offset, inode;
    unsigned int major, minor;

    if (sscanf(line, "%lx-%lx %4s %llx %x:%x %llu %31s", from, to, rights, &offset, &major, &minor,
               &inode, name) < 7)
        return false;
    return !strncmp(rights, "rw", 2) && rights[3] == 'p' && !inode && strcmp(name, "[stack]");
}

static bool all_private(uint64_t start, uint64_t end) {
    FILE *maps = fopen("/proc/self/maps", "re");
    uint64_t from, to, done = start;
    char *line = NULL;
    size_t room = 0;

    if (!maps)
        return false;
    while (done < end && getline(&line, &room, maps) > 0) {
        bool good = line_is_private(line, &from, &to);

        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= done && done < to) {
            if (!good)
                break;
            done = to;
        }
    }
    free(line);
    fclose(maps);
    return done >= end;
}

bool swap_possible(const void *start, size_t bytes) {
    uint64_t from = (uint64_t)start, here = (uint64_t)__builtin_frame_address(0);

    /* Nothing that this thread writes to may be among the pages while they wait. */
    if (here - from < bytes || (uint64_t)&errno - from < bytes)
        return false;
    return all_private(from, from + bytes);
}

/* Makes writers of the pages wait until the descriptor is closed: -1 where that cannot be had. */
static int hold_writers(void *start, size_t bytes) {
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register all = {.range = {(uint64_t)start, bytes},
                                  .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protect = {.range = {(uint64_t)start, bytes},
                                          .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

    if (fd < 0)
        return -1;
    if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all) ||
        ioctl(fd, UFFDIO_WRITEPROTECT, &protect)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void let_writers_go(int fd) {
    if (fd >= 0)
        close(fd);
}

/* A page that was never written to cannot be protected: a write that changes nothing makes it. */
static void touch(char *start, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PAGE)
        __atomic_fetch_add(start + at, 0, __ATOMIC_RELAXED);
}

/* After a failed mapping of other pages there may be nothing at all. */
static int restore(void *start, size_t bytes, const void *copy) {
    void *p =
        mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    if (p == MAP_FAILED)
        return -errno;
    memcpy(start, copy, bytes);
    return 0;
}

int swap_in(void *start, size_t bytes, void *alias, int (*map)(void *arg), void *arg) {
    int held, r;

    touch(start, bytes);
    held = hold_writers(start, bytes);
    memcpy(alias, start, bytes);
    r = map(arg);
    if (r && restore(start, bytes, alias))
        abort(); /* the program's memory is gone */
    let_writers_go(held);
    return r;
}

int swap_out(void *start, size_t bytes) {
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int held, r = 0;

    if (fresh == MAP_FAILED)
        return -errno;
    held = hold_writers(start, bytes);
    memcpy(fresh, start, bytes);
    if (mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) == MAP_FAILED) {
        r = -errno;
        munmap(fresh, bytes);
    }
    let_writers_go(held);
    return r;
}
