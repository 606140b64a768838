// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct program program_start(const struct daemon *daemon, const char *path) {
    int in[2], out[2];
    struct program p;

    /* No program may hold another one's pipe open. */
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    p = (struct program){.pid = fork(), .in = in[1], .out = out[0]};
    if (!p.pid) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        setenv("LD_LIBRARY_PATH", LIBRARY_DIR, 1);
        setenv("VCUDA_TRANSPORT", "local", 1);
        setenv("VCUDA_SOCKET", daemon->socket, 1);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return p;
}

const char *program_says(const struct program *p, int ms) {
    static char line[64];
    struct pollfd out = {.fd = p->out, .events = POLLIN};
    size_t length = 0;

    do {
        if (poll(&out, 1, ms) != 1)
            fail_msg("the program says nothing within %d ms", ms);
        if (read(p->out, line + length, 1) != 1)
            break;
    } while (line[length++] != '\n' && length < sizeof(line) - 1);
    line[length ? length - 1 : 0] = 0;
    return line;
}

void program_tell(const struct program *p, const char *text) {
    assert_int_equal(write(p->in, text, strlen(text)), strlen(text));
}

int program_end(struct program *p) {
    int status = -1;

    close(p->in);
    for (int waited = 0; waited < 5000 && status == -1; waited += 10) {
        if (waitpid(p->pid, &status, WNOHANG) == 0)
            usleep(10 * 1000);
    }
    close(p->out);
    if (status == -1)
        kill(p->pid, SIGKILL);
    assert_int_not_equal(status, -1);
    return status;
}

pid_t program_worker(const struct daemon *daemon, const struct program *p) {
    char text[64];

    snprintf(text, sizeof(text), "\"pid\": %d, ", (int)p->pid);
    daemon_expect_status(daemon, text);
    return daemon_status_number(daemon, text, "\"worker\": ");
}
