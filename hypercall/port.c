// SPDX-License-Identifier: GPL-2.0
#include "port.h"

#include <asm/xen/hypercall.h>
#include <linux/interrupt.h>

static irqreturn_t port_interrupt(int irq, void *data)
{
	struct vcuda_port *port = data;

	atomic64_inc(&port->received);
	atomic_set(&port->owed, 1);
	port->event(port);
	return IRQ_HANDLED;
}

static int alloc_unbound(domid_t domid, evtchn_port_t *evtchn)
{
	struct evtchn_alloc_unbound op = {
		.dom = DOMID_SELF,
		.remote_dom = domid,
	};
	int err = HYPERVISOR_event_channel_op(EVTCHNOP_alloc_unbound, &op);

	if (!err)
		*evtchn = op.port;
	return err;
}

static void close_unbound(evtchn_port_t evtchn)
{
	struct evtchn_close op = { .port = evtchn };

	/* It can only fail for a port that is not open. */
	HYPERVISOR_event_channel_op(EVTCHNOP_close, &op);
}

int vcuda_port_open(struct vcuda_port *port, domid_t domid, const char *name,
		    void (*event)(struct vcuda_port *port))
{
	int err;
	int irq;

	spin_lock_init(&port->lock);
	port->irq = 0;
	port->event = event;
	atomic_set(&port->owed, 0);
	atomic64_set(&port->sent, 0);
	atomic64_set(&port->received, 0);

	err = alloc_unbound(domid, &port->evtchn);
	if (err)
		return err;
	irq = bind_evtchn_to_irqhandler_lateeoi(port->evtchn, port_interrupt, 0,
						name, port);
	if (irq < 0) {
		close_unbound(port->evtchn);
		return irq;
	}
	port->irq = irq;
	return 0;
}

void vcuda_port_notify(struct vcuda_port *port)
{
	spin_lock(&port->lock);
	if (port->irq) {
		atomic64_inc(&port->sent);
		notify_remote_via_irq(port->irq);
	}
	spin_unlock(&port->lock);
}

void vcuda_port_eoi(struct vcuda_port *port, unsigned int flags)
{
	spin_lock(&port->lock);
	if (port->irq && atomic_xchg(&port->owed, 0))
		xen_irq_lateeoi(port->irq, flags);
	spin_unlock(&port->lock);
}

bool vcuda_port_lost(struct vcuda_port *port)
{
	bool lost;

	spin_lock(&port->lock);
	lost = port->irq && irq_from_evtchn(port->evtchn) != port->irq;
	spin_unlock(&port->lock);
	return lost;
}

void vcuda_port_close(struct vcuda_port *port)
{
	unsigned int irq;

	spin_lock(&port->lock);
	irq = port->irq;
	port->irq = 0;
	spin_unlock(&port->lock);
	if (irq)
		unbind_from_irqhandler(irq, port);
}
