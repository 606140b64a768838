// SPDX-License-Identifier: Apache-2.0
#include "limbo.h"

#include <pthread.h>
#include <stdlib.h>

#include "clock.h"

struct waiting {
    struct waiting *next;
    void *object;
    void (*release)(void *object);
    uint64_t since;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *first, **end = &first; /* the oldest is the first */

void limbo_put(void *object, void (*release)(void *object)) {
    struct waiting *w = malloc(sizeof(*w));

    if (!w) /* then it stays for good */
        return;
    *w = (struct waiting){NULL, object, release, vcuda_now_ns()};
    pthread_mutex_lock(&lock);
    *end = w;
    end = &w->next;
    pthread_mutex_unlock(&lock);
}

static struct waiting *take(uint64_t ns) {
    struct waiting *w;

    pthread_mutex_lock(&lock);
    w = first && vcuda_now_ns() - first->since >= ns ? first : NULL;
    if (w) {
        first = w->next;
        if (!first)
            end = &first;
    }
    pthread_mutex_unlock(&lock);
    return w;
}

void limbo_empty(uint64_t ns) {
    struct waiting *w;

    while ((w = take(ns))) {
        w->release(w->object);
        free(w);
    }
}
