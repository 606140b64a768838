// SPDX-License-Identifier: GPL-2.0
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <xen/xenbus.h>

#include "back.h"

/* Two of Xen's handles a page; dom0's table has about 262,000 for all guests. */
static unsigned int max_map_pages = 60000;
module_param(max_map_pages, uint, 0644);
MODULE_PARM_DESC(max_map_pages, "Pages of all guests together that may be mapped");

static DEFINE_MUTEX(conns_lock);
static LIST_HEAD(conns);
static DECLARE_WAIT_QUEUE_HEAD(conns_gone);

static void conn_free(struct kref *kref)
{
	struct vcuda_back_conn *conn =
		container_of(kref, struct vcuda_back_conn, kref);

	mutex_lock(&conns_lock);
	list_del(&conn->link);
	if (list_empty(&conns))
		wake_up(&conns_gone);
	mutex_unlock(&conns_lock);
	put_device(&conn->dev->dev);
	kfree(conn);
}

void vcuda_conn_get(struct vcuda_back_conn *conn)
{
	kref_get(&conn->kref);
}

void vcuda_conn_put(struct vcuda_back_conn *conn)
{
	kref_put(&conn->kref, conn_free);
}

static bool conns_empty(void)
{
	bool empty;

	mutex_lock(&conns_lock);
	empty = list_empty(&conns);
	mutex_unlock(&conns_lock);
	return empty;
}

void vcuda_conns_wait(void)
{
	wait_event(conns_gone, conns_empty());
}

int vcuda_conns_each(int (*fn)(struct vcuda_back_conn *conn, void *arg),
		     void *arg)
{
	struct vcuda_back_conn *conn;
	int ret = 0;

	mutex_lock(&conns_lock);
	list_for_each_entry(conn, &conns, link) {
		if (READ_ONCE(conn->stopping))
			continue;
		ret = fn(conn, arg);
		if (ret)
			break;
	}
	mutex_unlock(&conns_lock);
	return ret;
}

int vcuda_conn_charge(struct vcuda_back_conn *conn, u32 pages)
{
	struct vcuda_back_conn *c;
	u64 guest = pages;
	u64 all = pages;
	int err = 0;

	mutex_lock(&conns_lock);
	list_for_each_entry(c, &conns, link) {
		all += c->pages;
		if (c->domid == conn->domid)
			guest += c->pages;
	}
	if (guest > conn->limits.pages)
		err = -EDQUOT;
	else if (all > READ_ONCE(max_map_pages))
		err = -ENOSPC;
	else
		conn->pages += pages;
	mutex_unlock(&conns_lock);
	return err;
}

void vcuda_conn_uncharge(struct vcuda_back_conn *conn, u32 pages)
{
	mutex_lock(&conns_lock);
	conn->pages -= pages;
	mutex_unlock(&conns_lock);
}

static void conn_changed(struct vcuda_back_conn *conn)
{
	mutex_lock(&conn->lock);
	if (conn->changed)
		conn->changed(conn->owner);
	mutex_unlock(&conn->lock);
}

void vcuda_conn_disown(struct vcuda_back_conn *conn)
{
	mutex_lock(&conn->lock);
	conn->changed = NULL;
	mutex_unlock(&conn->lock);
}

void vcuda_conn_mapping_begun(struct vcuda_back_conn *conn)
{
	atomic_inc(&conn->live);
}

void vcuda_conn_mapping_ended(struct vcuda_back_conn *conn)
{
	if (atomic_dec_and_test(&conn->live))
		conn_changed(conn);
}

bool vcuda_conn_drained(struct vcuda_back_conn *conn)
{
	return !atomic_read(&conn->live);
}

void vcuda_conn_break(struct vcuda_back_conn *conn, const char *why)
{
	pr_err_ratelimited("domain %u is cut off: %s\n",
			   conn->domid, why);
	WRITE_ONCE(conn->broken, true);
	conn_changed(conn);
}

static void page_released(void *owner)
{
	struct vcuda_back_conn *conn = owner;

	vcuda_conn_mapping_ended(conn);
	vcuda_conn_put(conn);
}

static void conn_stop_work(struct work_struct *work)
{
	struct vcuda_back_conn *conn =
		container_of(work, struct vcuda_back_conn, stop_work);
	struct vcuda_mapping_place nowhere = { NULL };

	/* After this control_work, which alone makes sessions, does nothing. */
	vcuda_bindport_unbind(&conn->port);
	if (cancel_work_sync(&conn->control_work))
		vcuda_conn_put(conn);
	vcuda_sessions_end(conn);
	vcuda_conn_get(conn);
	vcuda_mapping_release(conn->page, nowhere, page_released, conn);
	vcuda_conn_put(conn);
}

void vcuda_conn_stop(struct vcuda_back_conn *conn)
{
	WRITE_ONCE(conn->stopping, true);
	vcuda_conn_get(conn);
	queue_work(vcuda_back_wq, &conn->stop_work);
}

static void control_event(void *owner)
{
	vcuda_control_kick(owner);
}

/* A domain has one connection, since sessions are named by domain and number. */
static int conn_publish(struct vcuda_back_conn *conn)
{
	struct vcuda_back_conn *c;
	int err = 0;

	mutex_lock(&conns_lock);
	list_for_each_entry(c, &conns, link)
		if (c->domid == conn->domid && !READ_ONCE(c->stopping))
			err = -EEXIST;
	list_add_tail(&conn->link, &conns);
	mutex_unlock(&conns_lock);
	return err;
}

static struct vcuda_back_conn *conn_alloc(struct xenbus_device *dev)
{
	struct vcuda_back_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	kref_init(&conn->kref);
	mutex_init(&conn->lock);
	spin_lock_init(&conn->request_lock);
	INIT_LIST_HEAD(&conn->sessions);
	INIT_WORK(&conn->control_work, vcuda_control_work);
	INIT_WORK(&conn->stop_work, conn_stop_work);
	vcuda_bindport_init(&conn->port, control_event, conn);
	get_device(&dev->dev);
	conn->dev = dev;
	conn->domid = dev->otherend_id;
	return conn;
}

struct vcuda_back_conn *vcuda_conn_create(struct xenbus_device *dev,
					  const struct vcuda_back_limits *limits,
					  u32 page_ref, u32 port,
					  void (*changed)(void *owner),
					  void *owner)
{
	struct vcuda_back_conn *conn = conn_alloc(dev);
	int err;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	conn->limits = *limits;
	/* Now, since binding raises an event, and so may break it already. */
	conn->owner = owner;
	conn->changed = changed;
	err = conn_publish(conn);
	if (err)
		goto out_put;
	conn->page = vcuda_mapping_create(vcuda_back_wq, conn->domid, &page_ref,
					  1);
	if (IS_ERR(conn->page)) {
		err = PTR_ERR(conn->page);
		goto out_put;
	}
	vcuda_conn_mapping_begun(conn);
	vcuda_duplex_control(&conn->ring, vcuda_mapping_first(conn->page),
			     VCUDA_PARTY_H);
	err = vcuda_bindport_bind(&conn->port, dev, port, "vcuda-back");
	if (err) {
		vcuda_conn_disown(conn);
		vcuda_conn_stop(conn);
		goto out_put;
	}
	/* Announces to the frontend that we sleep, and looks at the ring. */
	vcuda_control_kick(conn);
	return conn;

out_put:
	WRITE_ONCE(conn->stopping, true);
	vcuda_conn_put(conn);
	return ERR_PTR(err);
}
