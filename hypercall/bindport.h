/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backend's end of an interdomain event channel.
 *
 * Late EOI: after an event the channel stays masked until the owner has worked
 * and says so, so that a peer cannot make interrupts faster than dom0 serves
 * them. An owner that found the peer to be rogue just never says so.
 */
#ifndef VCUDA_HYPERCALL_BINDPORT_H
#define VCUDA_HYPERCALL_BINDPORT_H

#include <linux/mutex.h>
#include <linux/types.h>

struct xenbus_device;

struct vcuda_bindport {
	struct mutex lock; /* irq: not unbound while somebody uses it */
	int irq;	   /* 0: not bound */
	atomic_t owed;	   /* an event has come since the last EOI */
	void (*event)(void *owner); /* in hard interrupt context */
	void *owner;
};

/* Makes the port unbound; every other call is then allowed. */
void vcuda_bindport_init(struct vcuda_bindport *p, void (*event)(void *owner),
			 void *owner);

/*
 * Binds to the frontend's port (an untrusted number: Xen checks it): 0 or
 * -errno. dev must live until the port is unbound. name must live as long.
 */
int vcuda_bindport_bind(struct vcuda_bindport *p, struct xenbus_device *dev,
			u32 remote_port, const char *name);

/* Unbinds, after the last event handler has returned. Again is harmless. */
void vcuda_bindport_unbind(struct vcuda_bindport *p);

/* Sends one event. Nothing happens on an unbound port. */
void vcuda_bindport_notify(struct vcuda_bindport *p);

/*
 * Allows the next event, if one came since the last call. worked: whether there
 * was something to do; Xen's code slows a channel down where there never is.
 */
void vcuda_bindport_eoi(struct vcuda_bindport *p, bool worked);

#endif
