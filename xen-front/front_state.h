/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the frontend does when the backend's state changes, as a function of the
 * two states alone. Free of Xen's headers, so that KUnit can walk the table.
 */
#ifndef VCUDA_FRONT_STATE_H
#define VCUDA_FRONT_STATE_H

/* enum xenbus_state, by its numbers. */
enum vcuda_bus_state {
	VCUDA_BUS_UNKNOWN = 0,	/* also: the node is gone */
	VCUDA_BUS_INITIALISING = 1,
	VCUDA_BUS_INIT_WAIT = 2,
	VCUDA_BUS_INITIALISED = 3,
	VCUDA_BUS_CONNECTED = 4,
	VCUDA_BUS_CLOSING = 5,
	VCUDA_BUS_CLOSED = 6,
	VCUDA_BUS_RECONFIGURING = 7,
	VCUDA_BUS_RECONFIGURED = 8,
};

/* To be done in this order, and between STOP and RELEASE goes the new state. */
#define VCUDA_FRONT_STOP	0x1u /* sessions die, nothing is sent any more */
#define VCUDA_FRONT_RELEASE	0x2u /* the backend maps nothing: end grants */
#define VCUDA_FRONT_PUBLISH	0x4u /* new connection, then Initialised */
#define VCUDA_FRONT_START	0x8u /* programs may open sessions */

struct vcuda_front_step {
	unsigned int actions;
	enum vcuda_bus_state state;	/* to go to; own where nothing changes */
};

/* Both may be any number: the peer's comes from a node that it writes. */
struct vcuda_front_step vcuda_front_step(enum vcuda_bus_state own,
					 enum vcuda_bus_state peer);

/*
 * Whether a backend in this state may still have our pages mapped. It says
 * Closed only after it has unmapped them.
 */
int vcuda_front_peer_holds(enum vcuda_bus_state peer);

#endif
