// SPDX-License-Identifier: GPL-2.0
#include "back_state.h"

#define NOTHING VCUDA_BACK_NOTHING
#define AWAIT VCUDA_BACK_AWAIT
#define CONNECT VCUDA_BACK_CONNECT
#define STOP VCUDA_BACK_STOP
#define RESTART VCUDA_BACK_RESTART
#define CLOSE VCUDA_BACK_CLOSE

/* Columns: Unknown, Initialising, InitWait, Initialised, Connected, Closing,
 * Closed, nonsense.
 */
static const unsigned char table[VCUDA_BACK_PHASES][VCUDA_FRONT_STATES] = {
	[VCUDA_BACK_WAITING] = {
		CLOSE, NOTHING, NOTHING, CONNECT, CONNECT, CLOSE, NOTHING,
		NOTHING,
	},
	[VCUDA_BACK_RUNNING] = {
		STOP, RESTART, STOP, NOTHING, NOTHING, STOP, STOP, STOP,
	},
	[VCUDA_BACK_DRAINING] = {
		NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
		NOTHING,
	},
	[VCUDA_BACK_DRAINED] = {
		CLOSE, AWAIT, CLOSE, CLOSE, CLOSE, CLOSE, CLOSE, CLOSE,
	},
	[VCUDA_BACK_CLOSED] = {
		NOTHING, AWAIT, NOTHING, AWAIT, AWAIT, NOTHING, NOTHING,
		NOTHING,
	},
};

static enum vcuda_front_state sane(int front)
{
	if (front < 0 || front > VCUDA_FRONT_NONSENSE)
		return VCUDA_FRONT_NONSENSE;
	return front;
}

enum vcuda_back_action vcuda_back_next(struct vcuda_back_view *view, int front)
{
	enum vcuda_front_state state = sane(front);

	if (state != VCUDA_FRONT_UNKNOWN)
		view->front_seen = true;
	else if (!view->front_seen)
		return NOTHING; /* its nodes may come later */

	switch (state) {
	case VCUDA_FRONT_INITIALISED:
	case VCUDA_FRONT_CONNECTED:
		/* What a frontend that was cut off still says means nothing. */
		if (view->broken)
			state = VCUDA_FRONT_CLOSING;
		break;
	case VCUDA_FRONT_UNKNOWN:
	case VCUDA_FRONT_INITIALISING:
	case VCUDA_FRONT_CLOSED:
		view->broken = false;
		break;
	default:
		break;
	}
	/* A frontend that closed can come back, unless the toolstack says no. */
	if (view->phase == VCUDA_BACK_WAITING && state == VCUDA_FRONT_CLOSED &&
	    !view->online)
		return CLOSE;
	return table[view->phase][state];
}

bool vcuda_back_finished(const struct vcuda_back_view *view, int front)
{
	if (view->phase != VCUDA_BACK_CLOSED || !view->front_seen)
		return false;
	return front == VCUDA_FRONT_UNKNOWN ||
	       (front == VCUDA_FRONT_CLOSED && !view->online);
}
