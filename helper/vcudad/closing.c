// SPDX-License-Identifier: Apache-2.0
#include "closing.h"
#include "loop.h"

#include <stdlib.h>
#include <unistd.h>

#define ROUND 8

static int *fds;
static size_t count, room;
static struct loop_timer timer;

static void close_some(struct loop_timer *unused) {
    (void)unused;
    for (int i = 0; i < ROUND && count; i++)
        close(fds[--count]);
    if (count)
        loop_timer_set(&timer, 0);
}

static bool fits(void) {
    size_t more = room ? 2 * room : 64;
    int *bigger;

    if (count < room)
        return true;
    bigger = realloc(fds, more * sizeof(*fds));
    if (!bigger)
        return false;
    fds = bigger;
    room = more;
    return true;
}

void closing_add(int fd) {
    if (!fits()) {
        close(fd);
        return;
    }
    fds[count++] = fd;
    timer.fire = close_some;
    loop_timer_set(&timer, 0);
}

size_t closing_count(void) {
    return count;
}
