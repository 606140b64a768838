// SPDX-License-Identifier: Apache-2.0
#include "share.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "simgpu1";

int sim_share_file(enum sim_share_kind kind, int device, size_t size, uint64_t id) {
    struct sim_shared end = {.kind = kind, .device = device, .size = size, .id = id};
    int fd = memfd_create("simgpu", MFD_CLOEXEC);

    memcpy(end.magic, magic, sizeof(magic));
    if (fd < 0)
        return -1;
    if (!ftruncate(fd, (off_t)size) && pwrite(fd, &end, sizeof(end), (off_t)size) == sizeof(end))
        return fd;
    close(fd);
    return -1;
}

bool sim_share_look(int fd, enum sim_share_kind kind, struct sim_shared *out) {
    struct stat st;
    off_t at;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(*out))
        return false;
    at = st.st_size - (off_t)sizeof(*out);
    return pread(fd, out, sizeof(*out), at) == sizeof(*out) &&
           !memcmp(out->magic, magic, sizeof(magic)) && out->kind == (uint32_t)kind &&
           out->size == (uint64_t)at;
}

int sim_share_again(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}
