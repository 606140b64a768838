// SPDX-License-Identifier: GPL-2.0
/*
 * The frontend on xenbus: follows the backend's states (front_state.c decides)
 * and makes, starts, stops and releases connections.
 *
 * xenbus calls one of these functions at a time for a device.
 */
#include "front.h"

#include <linux/build_bug.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>

#include "../protocol/version.h"
#include "front_state.h"

/* How long a device that goes away waits for the backend to unmap. */
#define CLOSE_TIMEOUT (5 * HZ)

static enum vcuda_bus_state bus_state(enum xenbus_state state)
{
	BUILD_BUG_ON((int)XenbusStateUnknown != VCUDA_BUS_UNKNOWN);
	BUILD_BUG_ON((int)XenbusStateInitialising != VCUDA_BUS_INITIALISING);
	BUILD_BUG_ON((int)XenbusStateInitWait != VCUDA_BUS_INIT_WAIT);
	BUILD_BUG_ON((int)XenbusStateInitialised != VCUDA_BUS_INITIALISED);
	BUILD_BUG_ON((int)XenbusStateConnected != VCUDA_BUS_CONNECTED);
	BUILD_BUG_ON((int)XenbusStateClosing != VCUDA_BUS_CLOSING);
	BUILD_BUG_ON((int)XenbusStateClosed != VCUDA_BUS_CLOSED);
	return (enum vcuda_bus_state)state;
}

static enum vcuda_bus_state backend_state(struct xenbus_device *xdev)
{
	/* A resume that did not find the backend has forgotten its path. */
	if (!xdev->otherend)
		return VCUDA_BUS_UNKNOWN;
	return bus_state(xenbus_read_driver_state(xdev->otherend));
}

static int agree_on_version(struct xenbus_device *xdev, u32 *version)
{
	unsigned int min, max;
	int err;

	err = xenbus_gather(XBT_NIL, xdev->otherend, "min-version", "%u", &min,
			    "max-version", "%u", &max, NULL);
	if (err) {
		xenbus_dev_fatal(xdev, err, "reading the backend's versions");
		return err;
	}
	*version = vcuda_version_common(min, max);
	if (*version)
		return 0;
	xenbus_dev_fatal(xdev, -EPROTO,
			 "no common version: backend %u to %u, frontend %u to %u",
			 min, max, VCUDA_VERSION_MIN, VCUDA_VERSION_MAX);
	return -EPROTO;
}

static int write_nodes(struct xenbus_device *xdev,
		       const struct vcuda_front_conn *conn, u32 version)
{
	const struct {
		const char *name;
		u32 value;
	} nodes[] = {
		{ "version", version },
		{ "features", VCUDA_FEATURES },
		{ "ctl-ring-ref", conn->control.refs[0] },
		{ "event-channel", conn->port.evtchn },
	};
	unsigned int i;
	int err;

	/* No transaction: the backend reads them after Initialised. */
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		err = xenbus_printf(XBT_NIL, xdev->nodename, nodes[i].name,
				    "%u", nodes[i].value);
		if (err) {
			xenbus_dev_fatal(xdev, err, "writing %s",
					 nodes[i].name);
			return err;
		}
	}
	return 0;
}

/* Whatever fails here is told to xenbus, which goes to Closing. */
static void publish(struct xenbus_device *xdev)
{
	struct vcuda_front_conn *conn;
	u32 version;

	if (agree_on_version(xdev, &version))
		return;
	conn = vcuda_front_conn_create(xdev);
	if (IS_ERR(conn)) {
		xenbus_dev_fatal(xdev, PTR_ERR(conn), "setting up the channel");
		return;
	}
	/* The next change of the backend's state releases what fails now. */
	dev_set_drvdata(&xdev->dev, conn);
	if (!write_nodes(xdev, conn, version))
		xenbus_switch_state(xdev, XenbusStateInitialised);
}

/* Forgets the connection, after which the backend maps nothing. */
static void release(struct xenbus_device *xdev)
{
	struct vcuda_front_conn *conn = dev_get_drvdata(&xdev->dev);

	if (!conn)
		return;
	dev_set_drvdata(&xdev->dev, NULL);
	vcuda_front_conn_stop(conn);
	vcuda_front_conn_release(conn);
	vcuda_front_conn_put(conn);
}

static void stop(struct xenbus_device *xdev)
{
	struct vcuda_front_conn *conn = dev_get_drvdata(&xdev->dev);

	if (conn)
		vcuda_front_conn_stop(conn);
}

static void start(struct xenbus_device *xdev)
{
	int err = vcuda_front_chardev_attach(dev_get_drvdata(&xdev->dev));

	if (err)
		xenbus_dev_fatal(xdev, err, "this guest has a device already");
}

static void front_changed(struct xenbus_device *xdev, enum xenbus_state state)
{
	struct vcuda_front_step step;

	step = vcuda_front_step(bus_state(xdev->state), bus_state(state));
	if (step.actions & VCUDA_FRONT_STOP)
		stop(xdev);
	xenbus_switch_state(xdev, (enum xenbus_state)step.state);
	if (step.actions & VCUDA_FRONT_RELEASE)
		release(xdev);
	if (step.actions & VCUDA_FRONT_PUBLISH)
		publish(xdev);
	if (step.actions & VCUDA_FRONT_START)
		start(xdev);
}

static int front_probe(struct xenbus_device *xdev,
		       const struct xenbus_device_id *id)
{
	/* After an unbind it stands at Closed. A new device is here already. */
	return xenbus_switch_state(xdev, XenbusStateInitialising);
}

/*
 * The backend answers our Closed with its own when it has unmapped. The watch
 * is gone already, so its state is asked for. Without an answer the grants that
 * it holds stay with the grant table, slowly retried.
 */
static void wait_until_unmapped(struct xenbus_device *xdev)
{
	unsigned long end = jiffies + CLOSE_TIMEOUT;

	while (vcuda_front_peer_holds(backend_state(xdev)) &&
	       time_before(jiffies, end))
		msleep(20);
}

static void front_remove(struct xenbus_device *xdev)
{
	stop(xdev);
	xenbus_switch_state(xdev, XenbusStateClosing);
	xenbus_switch_state(xdev, XenbusStateClosed);
	if (dev_get_drvdata(&xdev->dev))
		wait_until_unmapped(xdev);
	release(xdev);
}

/*
 * After a restore the grant table is new and the old ports are gone, so all of
 * the old connection's grants end at once. Its sessions are dead: their workers
 * stayed behind. The watch that is set up next reports the new backend.
 */
static int front_resume(struct xenbus_device *xdev)
{
	release(xdev);
	return 0;
}

static const struct xenbus_device_id front_ids[] = {
	{ "vcuda" },
	{ "" },
};

static struct xenbus_driver front_driver = {
	.name = "vcuda",
	.ids = front_ids,
	.not_essential = true,
	.probe = front_probe,
	.remove = front_remove,
	.resume = front_resume,
	.otherend_changed = front_changed,
};

int vcuda_front_xenbus_register(void)
{
	return xenbus_register_frontend(&front_driver);
}

void vcuda_front_xenbus_unregister(void)
{
	xenbus_unregister_driver(&front_driver);
}
