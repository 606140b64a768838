/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA programs that a test runs on the real worker and the simulated GPU.
 */
#ifndef VCUDAD_TESTS_PROGRAM_H
#define VCUDAD_TESTS_PROGRAM_H

#include "daemon.h"

struct program {
    pid_t pid;
    int in, out;
};

/* Starts the program at path, with the guest's library. */
struct program program_start(const struct daemon *daemon, const char *path);
/* Its next line, within ms; "" when it has ended. */
const char *program_says(const struct program *p, int ms);
/* Text for its standard input. */
void program_tell(const struct program *p, const char *text);
/* Closes its input and waits for its end: its wait status. */
int program_end(struct program *p);
/* The process of the worker that serves it. */
pid_t program_worker(const struct daemon *daemon, const struct program *p);

#endif
