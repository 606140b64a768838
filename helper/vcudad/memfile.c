// SPDX-License-Identifier: Apache-2.0
#include "memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int memfile_make(const char *name, size_t bytes, void **memory) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error;

    if (fd < 0)
        return -errno;
    if (!ftruncate(fd, (off_t)bytes) &&
        !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (*memory != MAP_FAILED)
            return fd;
    }
    error = -errno;
    close(fd);
    return error;
}
