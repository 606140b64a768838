/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the executor sleeps. Nothing but the program's notification wakes it: it
 * sleeps in a single system call, and none is needed to wake up. What other
 * threads have for it can only be what the completion ring had no room for, and
 * the program makes room, so that it is the one to wake the executor for that,
 * too. tests/model/room.pml is the proof.
 */
#ifndef VCUDA_WORKER_SLEEP_H
#define VCUDA_WORKER_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

/*
 * Sleeps until the program notifies of what the VCUDA_WAIT_* bits say, for `ns` at most (-1: no
 * end): only if there is nothing now. Executor only.
 */
void sleep_for(struct worker *w, uint32_t what, bool (*nothing_yet)(struct worker *w), int64_t ns);

/*
 * For something that was left to the executor for want of room in the completion ring, and that its
 * nothing_yet() sees: has the program wake it when it makes room, if it sleeps. Who finds room
 * after this must send it himself. Any thread.
 */
void sleep_asks_for_room(struct worker *w);

#endif
