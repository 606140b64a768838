// SPDX-License-Identifier: GPL-2.0
/*
 * The xenbus device backend/vcuda/DOMID/0.
 *
 * The callbacks, which run in the one thread that serves all devices, only have
 * the device's work run; the work asks back_state.c what to do and does it. It
 * never waits: a connection that ends has it run again.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <xen/xenbus.h>

#include "../protocol/version.h"
#include "back.h"
#include "back_state.h"

/* How long Closed waits for pins of the frontend's pages. */
#define DRAIN_TIMEOUT (10 * HZ)

#define DEFAULT_MAX_SESSIONS 64
#define DEFAULT_MAX_PAGES 24576

struct vcuda_back {
	struct xenbus_device *dev;
	struct delayed_work work;
	struct xenbus_watch own_state; /* see back_leave() */
	struct vcuda_back_conn *conn;  /* the work's alone, as the rest */
	struct vcuda_back_view view;
	unsigned long drain_until; /* jiffies */
	bool removed;		   /* the work has nothing more to do */
};

static_assert(VCUDA_FRONT_UNKNOWN == (int)XenbusStateUnknown);
static_assert(VCUDA_FRONT_INITIALISING == (int)XenbusStateInitialising);
static_assert(VCUDA_FRONT_INIT_WAIT == (int)XenbusStateInitWait);
static_assert(VCUDA_FRONT_INITIALISED == (int)XenbusStateInitialised);
static_assert(VCUDA_FRONT_CONNECTED == (int)XenbusStateConnected);
static_assert(VCUDA_FRONT_CLOSING == (int)XenbusStateClosing);
static_assert(VCUDA_FRONT_CLOSED == (int)XenbusStateClosed);

/* Exactly one decimal number of 32 bits: 0 or -errno. */
static int read_number(const char *dir, const char *node, u32 *value)
{
	char *text = xenbus_read(XBT_NIL, dir, node, NULL);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = kstrtou32(text, 10, value);
	kfree(text);
	return err;
}

/* Errors that a guest makes are told here, ratelimited, and not through
 * xenbus_dev_fatal(), which logs without bound and leaves nodes behind.
 */
static int read_front(struct xenbus_device *dev, const char *node, u32 *value)
{
	int err = read_number(dev->otherend, node, value);

	if (err)
		dev_err_ratelimited(&dev->dev, "reading %s/%s: %d\n",
				    dev->otherend, node, err);
	return err;
}

/* A limit in the backend's own directory, where only dom0 writes. */
static u32 read_limit(struct xenbus_device *dev, const char *node, u32 missing)
{
	u32 value;

	return read_number(dev->nodename, node, &value) ? missing : value;
}

static int check_version(struct xenbus_device *dev)
{
	u32 version, features;
	int err;

	err = read_front(dev, "version", &version);
	if (!err)
		err = read_front(dev, "features", &features);
	if (err)
		return err;
	if (vcuda_version_common(version, version))
		return 0;
	dev_err_ratelimited(&dev->dev,
			    "frontend speaks version %u, backend %u to %u\n",
			    version, VCUDA_VERSION_MIN, VCUDA_VERSION_MAX);
	return -EPROTO;
}

static void back_kick(void *owner)
{
	struct vcuda_back *back = owner;

	mod_delayed_work(vcuda_back_wq, &back->work, 0);
}

static int back_connect(struct vcuda_back *back)
{
	struct xenbus_device *dev = back->dev;
	struct vcuda_back_limits limits = {
		.sessions = read_limit(dev, "max-sessions",
				       DEFAULT_MAX_SESSIONS),
		.pages = read_limit(dev, "max-pages", DEFAULT_MAX_PAGES),
	};
	struct vcuda_back_conn *conn;
	u32 ref, port;
	int err;

	err = check_version(dev);
	if (!err)
		err = read_front(dev, "ctl-ring-ref", &ref);
	if (!err)
		err = read_front(dev, "event-channel", &port);
	if (err)
		return err;
	conn = vcuda_conn_create(dev, &limits, ref, port, back_kick, back);
	if (IS_ERR(conn)) {
		dev_err_ratelimited(&dev->dev,
				    "connecting by grant %u and port %u: %ld\n",
				    ref, port, PTR_ERR(conn));
		return PTR_ERR(conn);
	}
	back->conn = conn;
	return 0;
}

/* The phase is set before xenstore tells it, so that whoever sees the one finds
 * the other.
 */
static void back_say(struct vcuda_back *back, enum vcuda_back_phase phase,
		     enum xenbus_state state)
{
	WRITE_ONCE(back->view.phase, phase);
	xenbus_switch_state(back->dev, state);
}

static void back_stop(struct vcuda_back *back)
{
	WRITE_ONCE(back->view.phase, VCUDA_BACK_DRAINING);
	back->drain_until = jiffies + DRAIN_TIMEOUT;
	vcuda_conn_stop(back->conn);
}

static void back_act(struct vcuda_back *back, enum vcuda_back_action action)
{
	switch (action) {
	case VCUDA_BACK_NOTHING:
		break;
	case VCUDA_BACK_AWAIT:
		back_say(back, VCUDA_BACK_WAITING, XenbusStateInitWait);
		break;
	case VCUDA_BACK_CONNECT:
		if (back_connect(back))
			back->view.broken = true;
		else
			back_say(back, VCUDA_BACK_RUNNING,
				 XenbusStateConnected);
		break;
	case VCUDA_BACK_STOP:
		back_stop(back);
		xenbus_switch_state(back->dev, XenbusStateClosing);
		break;
	case VCUDA_BACK_RESTART:
		back_stop(back);
		break;
	case VCUDA_BACK_CLOSE:
		back_say(back, VCUDA_BACK_CLOSED, XenbusStateClosed);
		break;
	}
}

static void back_forget_conn(struct vcuda_back *back)
{
	vcuda_conn_disown(back->conn);
	vcuda_conn_put(back->conn);
	back->conn = NULL;
}

/* Draining ends when nothing is mapped any more, or by time. */
static void back_check_drain(struct vcuda_back *back)
{
	bool drained;

	if (back->view.phase != VCUDA_BACK_DRAINING)
		return;
	drained = vcuda_conn_drained(back->conn);
	if (!drained && time_before(jiffies, back->drain_until)) {
		queue_delayed_work(vcuda_back_wq, &back->work,
				   back->drain_until - jiffies);
		return;
	}
	if (!drained)
		dev_warn(&back->dev->dev, "pages stay pinned after closing\n");
	back_forget_conn(back);
	WRITE_ONCE(back->view.phase, VCUDA_BACK_DRAINED);
}

static void back_work(struct work_struct *work)
{
	struct vcuda_back *back = container_of(to_delayed_work(work),
					       struct vcuda_back, work);
	struct xenbus_device *dev = back->dev;
	enum vcuda_back_action action;
	int front;

	if (READ_ONCE(back->removed))
		return;
	front = xenbus_read_driver_state(dev->otherend);
	back->view.online = xenbus_dev_is_online(dev);
	if (back->conn && READ_ONCE(back->conn->broken))
		back->view.broken = true;
	do {
		back_check_drain(back);
		action = vcuda_back_next(&back->view, front);
		back_act(back, action);
	} while (action != VCUDA_BACK_NOTHING);
}

/*
 * Unregisters a device that is finished with. In xenbus' thread only, which
 * also unregisters devices whose nodes are gone: never both.
 */
static void back_leave(struct vcuda_back *back)
{
	struct xenbus_device *dev = back->dev;
	struct vcuda_back_view view = {
		.phase = READ_ONCE(back->view.phase),
		.front_seen = READ_ONCE(back->view.front_seen),
		.online = xenbus_dev_is_online(dev),
	};

	if (vcuda_back_finished(&view, xenbus_read_driver_state(dev->otherend)))
		device_unregister(&dev->dev);
}

/* We said Closed (or the toolstack wrote our state). */
static void own_state_changed(struct xenbus_watch *watch, const char *path,
			      const char *token)
{
	back_leave(container_of(watch, struct vcuda_back, own_state));
}

static void front_changed(struct xenbus_device *dev, enum xenbus_state front)
{
	struct vcuda_back *back = dev_get_drvdata(&dev->dev);

	back_kick(back);
	back_leave(back);
}

static int write_offer(struct xenbus_device *dev)
{
	int err;

	err = xenbus_printf(XBT_NIL, dev->nodename, "min-version", "%u",
			    VCUDA_VERSION_MIN);
	if (!err)
		err = xenbus_printf(XBT_NIL, dev->nodename, "max-version", "%u",
				    VCUDA_VERSION_MAX);
	if (!err)
		err = xenbus_printf(XBT_NIL, dev->nodename, "features", "%u",
				    VCUDA_FEATURES);
	return err;
}

static int back_probe(struct xenbus_device *dev,
		      const struct xenbus_device_id *id)
{
	struct vcuda_back *back = kzalloc(sizeof(*back), GFP_KERNEL);
	int err;

	if (!back)
		return -ENOMEM;
	back->dev = dev;
	INIT_DELAYED_WORK(&back->work, back_work);
	dev_set_drvdata(&dev->dev, back);
	err = write_offer(dev);
	if (!err)
		err = xenbus_watch_pathfmt(dev, &back->own_state, NULL,
					   own_state_changed, "%s/state",
					   dev->nodename);
	if (err) {
		kfree(back);
		return err;
	}
	back_say(back, VCUDA_BACK_WAITING, XenbusStateInitWait);
	return 0;
}

static void back_remove(struct xenbus_device *dev)
{
	struct vcuda_back *back = dev_get_drvdata(&dev->dev);

	unregister_xenbus_watch(&back->own_state);
	kfree(back->own_state.node);
	WRITE_ONCE(back->removed, true);
	cancel_delayed_work_sync(&back->work);
	if (back->conn) {
		if (back->view.phase == VCUDA_BACK_RUNNING)
			vcuda_conn_stop(back->conn);
		back_forget_conn(back);
		/* Until it was disowned it may have queued the work again. */
		cancel_delayed_work_sync(&back->work);
	}
	kfree(back);
}

static const struct xenbus_device_id back_ids[] = {
	{ "vcuda" },
	{ "" },
};

static struct xenbus_driver back_driver = {
	.ids = back_ids,
	.probe = back_probe,
	.remove = back_remove,
	.otherend_changed = front_changed,
};

int vcuda_xenbus_register(void)
{
	return xenbus_register_backend(&back_driver);
}

void vcuda_xenbus_unregister(void)
{
	xenbus_unregister_driver(&back_driver);
}
