// SPDX-License-Identifier: GPL-2.0
#include "front_state.h"

static struct vcuda_front_step step(unsigned int actions,
				    enum vcuda_bus_state state)
{
	struct vcuda_front_step s = { actions, state };

	return s;
}

int vcuda_front_peer_holds(enum vcuda_bus_state peer)
{
	switch (peer) {
	case VCUDA_BUS_INITIALISED:
	case VCUDA_BUS_CONNECTED:
	case VCUDA_BUS_CLOSING:
	case VCUDA_BUS_RECONFIGURING:
	case VCUDA_BUS_RECONFIGURED:
		return 1;
	default:
		return 0;
	}
}

/* New, or new again after a restore: nothing is published yet. */
static struct vcuda_front_step while_initialising(enum vcuda_bus_state peer)
{
	switch (peer) {
	case VCUDA_BUS_INIT_WAIT:
		return step(VCUDA_FRONT_PUBLISH, VCUDA_BUS_INITIALISING);
	case VCUDA_BUS_CLOSING:
		/* Detached before it was ever connected. */
		return step(0, VCUDA_BUS_CLOSED);
	default:
		/*
		 * Closed: the backend has yet to see that we are new. Connected:
		 * the same after a restore. Both go to InitWait on their own.
		 */
		return step(0, VCUDA_BUS_INITIALISING);
	}
}

/* Published, or connected. */
static struct vcuda_front_step while_up(enum vcuda_bus_state own,
					enum vcuda_bus_state peer)
{
	switch (peer) {
	case VCUDA_BUS_CONNECTED:
		if (own == VCUDA_BUS_CONNECTED)
			return step(0, own);
		return step(VCUDA_FRONT_START, VCUDA_BUS_CONNECTED);
	case VCUDA_BUS_INIT_WAIT:
		/* What we published before stays good for a new backend. */
		if (own == VCUDA_BUS_INITIALISED)
			return step(0, own);
		/* Its Closed passed unseen: it has come back already. */
		return step(VCUDA_FRONT_STOP | VCUDA_FRONT_RELEASE |
			    VCUDA_FRONT_PUBLISH, VCUDA_BUS_INITIALISING);
	case VCUDA_BUS_INITIALISING:
		if (own == VCUDA_BUS_INITIALISED)
			return step(0, own);
		return step(VCUDA_FRONT_STOP | VCUDA_FRONT_RELEASE,
			    VCUDA_BUS_INITIALISING);
	case VCUDA_BUS_CLOSING:
		return step(VCUDA_FRONT_STOP, VCUDA_BUS_CLOSED);
	case VCUDA_BUS_CLOSED:
	case VCUDA_BUS_UNKNOWN:
		/* Closed without closing, or the nodes were removed. */
		return step(VCUDA_FRONT_STOP | VCUDA_FRONT_RELEASE,
			    VCUDA_BUS_CLOSED);
	default:
		return step(0, own);
	}
}

/*
 * Closing: we cut the backend off, or could not connect. Closed: its answer, or
 * ours to its Closing. A backend that starts again finds us willing.
 */
static struct vcuda_front_step while_down(enum vcuda_bus_state own,
					  enum vcuda_bus_state peer)
{
	const unsigned int over = VCUDA_FRONT_STOP | VCUDA_FRONT_RELEASE;

	switch (peer) {
	case VCUDA_BUS_INIT_WAIT:
		/* After our own Closing it stands there until it has seen it. */
		if (own == VCUDA_BUS_CLOSING)
			return step(over, VCUDA_BUS_CLOSED);
		return step(over | VCUDA_FRONT_PUBLISH, VCUDA_BUS_INITIALISING);
	case VCUDA_BUS_INITIALISING:
		return step(over, VCUDA_BUS_INITIALISING);
	case VCUDA_BUS_CLOSED:
	case VCUDA_BUS_UNKNOWN:
		return step(over, VCUDA_BUS_CLOSED);
	case VCUDA_BUS_CLOSING:
		return step(VCUDA_FRONT_STOP, VCUDA_BUS_CLOSED);
	default:
		return step(0, own);
	}
}

struct vcuda_front_step vcuda_front_step(enum vcuda_bus_state own,
					 enum vcuda_bus_state peer)
{
	switch (own) {
	case VCUDA_BUS_INITIALISING:
		return while_initialising(peer);
	case VCUDA_BUS_INITIALISED:
	case VCUDA_BUS_CONNECTED:
		return while_up(own, peer);
	case VCUDA_BUS_CLOSING:
	case VCUDA_BUS_CLOSED:
		return while_down(own, peer);
	default:
		return step(0, own);
	}
}
