// SPDX-License-Identifier: Apache-2.0
#include "own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static void block_signals(sigset_t *before) {
    sigset_t blocked;

    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

bool own_thread_start(void *(*run)(void *unused)) {
    sigset_t before;
    pthread_t thread;
    bool started;

    block_signals(&before);
    started = !pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}
