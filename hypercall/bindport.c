// SPDX-License-Identifier: GPL-2.0
#include <linux/interrupt.h>
#include <xen/events.h>
#include <xen/xenbus.h>

#include "bindport.h"

static irqreturn_t bindport_interrupt(int irq, void *data)
{
	struct vcuda_bindport *p = data;

	atomic_set(&p->owed, 1);
	p->event(p->owner);
	return IRQ_HANDLED;
}

void vcuda_bindport_init(struct vcuda_bindport *p, void (*event)(void *owner),
			 void *owner)
{
	mutex_init(&p->lock);
	p->irq = 0;
	atomic_set(&p->owed, 0);
	p->event = event;
	p->owner = owner;
}

int vcuda_bindport_bind(struct vcuda_bindport *p, struct xenbus_device *dev,
			u32 remote_port, const char *name)
{
	int irq;

	mutex_lock(&p->lock);
	irq = bind_interdomain_evtchn_to_irqhandler_lateeoi(dev, remote_port,
							    bindport_interrupt,
							    0, name, p);
	if (irq > 0)
		p->irq = irq;
	mutex_unlock(&p->lock);
	return irq > 0 ? 0 : irq;
}

void vcuda_bindport_unbind(struct vcuda_bindport *p)
{
	mutex_lock(&p->lock);
	if (p->irq)
		unbind_from_irqhandler(p->irq, p);
	p->irq = 0;
	mutex_unlock(&p->lock);
}

void vcuda_bindport_notify(struct vcuda_bindport *p)
{
	mutex_lock(&p->lock);
	if (p->irq)
		notify_remote_via_irq(p->irq);
	mutex_unlock(&p->lock);
}

void vcuda_bindport_eoi(struct vcuda_bindport *p, bool worked)
{
	mutex_lock(&p->lock);
	if (p->irq && atomic_xchg(&p->owed, 0))
		xen_irq_lateeoi(p->irq, worked ? 0 : XEN_EOI_FLAG_SPURIOUS);
	mutex_unlock(&p->lock);
}
