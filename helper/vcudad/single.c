// SPDX-License-Identifier: Apache-2.0
#include "single.h"
#include "log.h"
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void say_who(int fd, const char *path) {
    char pid[16] = "?";
    ssize_t length = pread(fd, pid, sizeof(pid) - 1, 0);

    if (length > 0)
        pid[length] = 0;
    pid[strcspn(pid, "\n")] = 0;
    vcuda_log(VCUDA_LOG_ERROR,
              "vcudad runs already (process %s holds %s): stop it first, or give this one its own "
              "--state-dir",
              pid, path);
}

int single_start(const char *state_dir) {
    char path[PATH_MAX];
    int error = textfile_make_dir(state_dir);
    int fd;

    if (error) {
        vcuda_log(VCUDA_LOG_ERROR, "cannot make %s: %s; run as root or choose a --state-dir",
                  state_dir, strerror(-error));
        return error;
    }
    if (snprintf(path, sizeof(path), "%s/vcudad.pid", state_dir) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        vcuda_log(VCUDA_LOG_ERROR, "%s: %s; run as root or choose a --state-dir", path,
                  strerror(errno));
        return -errno;
    }
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        say_who(fd, path);
        close(fd);
        return -EBUSY;
    }
    if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0)
        vcuda_log(VCUDA_LOG_WARNING, "%s: %s", path, strerror(errno));
    return 0; /* the descriptor stays open: it is the lock */
}
