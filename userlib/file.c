// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

CUresult file_read(const char *path, char **data, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    size_t done = 0;

    *data = NULL;
    if (fd < 0)
        return errno == ENOENT ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_OPERATING_SYSTEM;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode))
        *data = malloc((size_t)st.st_size + 1);
    while (*data && done < (size_t)st.st_size) {
        ssize_t n = read(fd, *data + done, (size_t)st.st_size - done);

        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(fd);
    if (!*data)
        return CUDA_ERROR_OPERATING_SYSTEM;
    (*data)[done] = 0;
    *size = done + 1;
    return CUDA_SUCCESS;
}
