// SPDX-License-Identifier: Apache-2.0
/* vcuda doctor: exit status 0 when nothing must be mended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "report.h"

/*
 * In a child with an end, so that a fault of the library or a helper that does not answer is one
 * more finding. Returns whether it found problems.
 */
static bool in_child(void (*check)(void)) {
    int status;
    pid_t child = fork();

    if (!child) {
        alarm(120);
        check();
        _exit(report_problems() ? 1 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("vcuda: fork");
        return true;
    }
    if (WIFSIGNALED(status))
        report_problem("report this: VCUDA_LOG=1 may show more",
                       "the look at the GPU was ended by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    return WIFSIGNALED(status) || WEXITSTATUS(status);
}

int command_doctor(const struct options *o) {
    bool bad;

    options_export(o);
    /* Why a session cannot be opened is the library's to say. */
    setenv("VCUDA_LOG", "1", 1);
    if (!libraries_folder()) {
        report_problem("install vcuda anew: make install-guest",
                       "vcuda's libraries are neither beside this program nor in ../lib/vcuda");
        return 1;
    }
    report_ok("vcuda " VCUDA_RELEASE ", libraries in %s", libraries_folder());
    check_loader();
    check_way();
    bad = in_child(check_gpu);
    return bad || report_problems();
}
