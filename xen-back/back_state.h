/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backend's side of a device's life, as a table. Pure: no Xen, no locks.
 * xenbus.c carries out what it says; README.md draws it.
 */
#ifndef VCUDA_XEN_BACK_STATE_H
#define VCUDA_XEN_BACK_STATE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#endif

/* A frontend's state as xenstore has it: any int at all. The numbers of
 * Xen's io/xenbus.h; xenbus.c asserts that they are equal.
 */
enum vcuda_front_state {
	VCUDA_FRONT_UNKNOWN = 0, /* no such node: domain or device is gone */
	VCUDA_FRONT_INITIALISING = 1,
	VCUDA_FRONT_INIT_WAIT = 2,
	VCUDA_FRONT_INITIALISED = 3,
	VCUDA_FRONT_CONNECTED = 4,
	VCUDA_FRONT_CLOSING = 5,
	VCUDA_FRONT_CLOSED = 6,
	VCUDA_FRONT_NONSENSE = 7, /* any other number */
	VCUDA_FRONT_STATES,
};

enum vcuda_back_phase {
	VCUDA_BACK_WAITING,  /* InitWait: no connection */
	VCUDA_BACK_RUNNING,  /* Connected */
	VCUDA_BACK_DRAINING, /* a connection ends; pages may still be mapped */
	VCUDA_BACK_DRAINED,  /* ... are not, or we have waited long enough */
	VCUDA_BACK_CLOSED,   /* Closed */
	VCUDA_BACK_PHASES,
};

enum vcuda_back_action {
	VCUDA_BACK_NOTHING,
	VCUDA_BACK_AWAIT,   /* say InitWait: WAITING */
	VCUDA_BACK_CONNECT, /* connect, say Connected: RUNNING (or broken) */
	VCUDA_BACK_STOP,    /* say Closing, end the connection: DRAINING */
	VCUDA_BACK_RESTART, /* the same in silence: the frontend starts anew */
	VCUDA_BACK_CLOSE,   /* say Closed: CLOSED */
};

struct vcuda_back_view {
	enum vcuda_back_phase phase;
	bool front_seen; /* a live frontend has been seen */
	bool broken;	 /* cut off, until the frontend has gone and come back */
	bool online;	 /* the toolstack wants the device to stay */
};

/*
 * What to do next, given the frontend's state. Updates front_seen and broken;
 * the caller acts, updates the phase and asks again until the answer is
 * NOTHING, which with a state that stays is after at most four actions.
 */
enum vcuda_back_action vcuda_back_next(struct vcuda_back_view *view, int front);

/* Whether the device is finished with: closed, and nobody will come back. */
bool vcuda_back_finished(const struct vcuda_back_view *view, int front);

#endif
