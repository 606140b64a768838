/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event channels of the guest: one port that the backend binds to, used both
 * ways.
 *
 * Events are of the "late EOI" kind: after one arrived, Xen delivers no other
 * on this port until the owner has called vcuda_port_eoi(). A peer that floods
 * the port so gets no more than what the owner takes (XSA-332).
 */
#ifndef VCUDA_HYPERCALL_PORT_H
#define VCUDA_HYPERCALL_PORT_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <xen/events.h>

struct vcuda_port {
	spinlock_t lock;	/* irq: against use while it is unbound */
	unsigned int irq;	/* 0: closed */
	evtchn_port_t evtchn;
	void (*event)(struct vcuda_port *port);	/* in hard interrupt context */
	atomic_t owed;		/* an event has come and has had no EOI */
	atomic64_t sent;
	atomic64_t received;
};

/*
 * Allocates a port for the domain to bind to. Events arrive once the peer has
 * been told the port's number. Errors are Xen's: -ENOSPC when the domain has no
 * port left. The port counts as closed then.
 */
int vcuda_port_open(struct vcuda_port *port, domid_t domid, const char *name,
		    void (*event)(struct vcuda_port *port));

/* Sends an event; nothing happens on a closed port. Process context. */
void vcuda_port_notify(struct vcuda_port *port);

/*
 * Lets the next event come, if one has come since the last call; flags as for
 * xen_irq_lateeoi(). Process context.
 */
void vcuda_port_eoi(struct vcuda_port *port, unsigned int flags);

/* Whether a save and restore of the guest took the open port's channel away. */
bool vcuda_port_lost(struct vcuda_port *port);

/*
 * Closes the port, once or again; event() is not running any more afterwards.
 * A port whose channel was lost by a save and restore closes as well. Sleeps.
 */
void vcuda_port_close(struct vcuda_port *port);

#endif
