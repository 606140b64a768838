// SPDX-License-Identifier: GPL-2.0
/*
 * The life of one connection: the control page and its port, the replies that
 * come over them, and the end of everything that was granted for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "front.h"

#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>

/* Messages that are taken before other work gets its turn: a ring full. */
#define MESSAGES_MAX (VCUDA_CTL_RING_BYTES / sizeof(struct vcuda_ctl))

/* Ending the grants of a large session takes a while. */
static void kick(struct vcuda_front_conn *conn)
{
	queue_work(system_long_wq, &conn->work);
}

static void control_event(struct vcuda_port *port)
{
	struct vcuda_front_conn *conn =
		container_of(port, struct vcuda_front_conn, port);

	kick(conn);
}

/* Whether that was news: 1 or 0, or -EPROTO. */
static int take_dead(struct vcuda_front_conn *conn, const struct vcuda_ctl *msg)
{
	struct vcuda_front_session *session;
	bool news;

	if (!vcuda_front_status_ok(msg->status))
		return -EPROTO;
	/* The table's reference holds the session while its lock is held. */
	xa_lock(&conn->sessions);
	session = xa_load(&conn->sessions, msg->session);
	news = session && !vcuda_front_session_dead(session);
	if (news)
		vcuda_front_session_kill(session, msg->status ?: -EPIPE);
	xa_unlock(&conn->sessions);
	return news;
}

static int take_message(struct vcuda_front_conn *conn,
			const struct vcuda_ctl *msg)
{
	if (msg->op == VCUDA_CTL_DEAD)
		return take_dead(conn, msg);
	if (msg->op & VCUDA_CTL_REPLY)
		return vcuda_front_answer(conn, msg) ?: 1;
	return -EPROTO;
}

/*
 * Takes messages until none is left, and then announces that we sleep.
 * Returns how many meant something, or -EPROTO. *again: more may wait.
 */
static int take_messages(struct vcuda_front_conn *conn, bool *again)
{
	struct vcuda_duplex *d = &conn->duplex;
	struct vcuda_ctl msg;
	unsigned int i;
	int useful = 0;
	int n;

	vcuda_wait_end(d);
	for (i = 0; i < MESSAGES_MAX; i++) {
		n = vcuda_rx_take(d, &msg, sizeof(msg), sizeof(msg));
		if (n == 0) {
			vcuda_wait_begin(d, VCUDA_WAIT_DATA);
			n = vcuda_rx_ready(d);
			*again = n > 0;
			return n < 0 ? n : useful;
		}
		if (n < 0)
			return n;
		if (vcuda_must_wake(d, VCUDA_WAIT_SPACE))
			vcuda_port_notify(&conn->port);
		n = take_message(conn, &msg);
		if (n < 0)
			return n;
		useful += n;
	}
	*again = true;
	return useful;
}

static void conn_work(struct work_struct *work)
{
	struct vcuda_front_conn *conn =
		container_of(work, struct vcuda_front_conn, work);
	bool again = false;
	int useful = 0;

	if (READ_ONCE(conn->state) == VCUDA_CONN_RUNNING)
		useful = take_messages(conn, &again);
	if (useful < 0)
		vcuda_front_conn_break(conn, "malformed message");

	if (READ_ONCE(conn->broken)) {
		/* No EOI: nothing that it sends is wanted any more. */
		xenbus_switch_state(conn->xdev, XenbusStateClosing);
	} else if (again) {
		kick(conn);
	} else {
		vcuda_port_eoi(&conn->port,
			       useful ? 0 : XEN_EOI_FLAG_SPURIOUS);
	}
}

struct vcuda_front_conn *vcuda_front_conn_create(struct xenbus_device *xdev)
{
	struct vcuda_front_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	int err;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	kref_init(&conn->kref);
	conn->xdev = xdev;
	conn->domid = xdev->otherend_id;
	INIT_WORK(&conn->work, conn_work);
	spin_lock_init(&conn->lock);
	INIT_LIST_HEAD(&conn->queued);
	INIT_LIST_HEAD(&conn->sent);
	xa_init_flags(&conn->sessions, XA_FLAGS_ALLOC1);

	err = vcuda_grant_run_create(&conn->control, 1, conn->domid, false);
	if (err)
		goto free_conn;
	vcuda_duplex_control(&conn->duplex,
			     page_address(conn->control.pages[0]),
			     VCUDA_PARTY_G);
	vcuda_wait_begin(&conn->duplex, VCUDA_WAIT_DATA);

	err = vcuda_port_open(&conn->port, conn->domid, "vcuda-control",
			      control_event);
	if (err)
		goto free_run;
	return conn;

free_run:
	vcuda_grant_run_free(&conn->control);
free_conn:
	kfree(conn);
	return ERR_PTR(err);
}

static void conn_free(struct kref *kref)
{
	struct vcuda_front_conn *conn =
		container_of(kref, struct vcuda_front_conn, kref);

	vcuda_grant_run_free(&conn->control);
	xa_destroy(&conn->sessions);
	kfree(conn);
}

void vcuda_front_conn_put(struct vcuda_front_conn *conn)
{
	kref_put(&conn->kref, conn_free);
}

/*
 * Stops all traffic without waiting for anything; when it returns all sessions
 * are dead, whoever was first. Whether it was running.
 */
static bool cut(struct vcuda_front_conn *conn, bool broken)
{
	struct vcuda_front_session *session;
	unsigned long id;
	bool running;

	spin_lock(&conn->lock);
	running = conn->state == VCUDA_CONN_RUNNING;
	if (running) {
		WRITE_ONCE(conn->state, VCUDA_CONN_STOPPED);
		WRITE_ONCE(conn->broken, broken);
		/*
		 * The work tells xenbus. Under the lock, so that whoever stops
		 * the connection after us finds it queued, and cancels it.
		 */
		if (broken)
			kick(conn);
	}
	spin_unlock(&conn->lock);

	/* It may have been attached after it broke. */
	vcuda_front_chardev_detach(conn);
	/* No session joins any more that could submit its OPEN. */
	xa_lock(&conn->sessions);
	xa_for_each(&conn->sessions, id, session)
		vcuda_front_session_kill(session, -ENODEV);
	xa_unlock(&conn->sessions);
	return running;
}

void vcuda_front_conn_break(struct vcuda_front_conn *conn, const char *what)
{
	if (cut(conn, true))
		pr_err_ratelimited("domain %u broke the protocol (%s), cut off\n",
				   conn->domid, what);
}

void vcuda_front_conn_resume(struct vcuda_front_conn *conn)
{
	if (vcuda_port_lost(&conn->port))
		cut(conn, false);
}

void vcuda_front_conn_stop(struct vcuda_front_conn *conn)
{
	cut(conn, false);
	vcuda_port_close(&conn->port);
	cancel_work_sync(&conn->work);
}

/* The session with the lowest number, taken out of the table. */
static struct vcuda_front_session *pop_session(struct vcuda_front_conn *conn)
{
	struct vcuda_front_session *session;
	unsigned long id = 0;

	xa_lock(&conn->sessions);
	session = xa_find(&conn->sessions, &id, ULONG_MAX, XA_PRESENT);
	if (session)
		__xa_erase(&conn->sessions, id);
	xa_unlock(&conn->sessions);
	return session;
}

void vcuda_front_conn_release(struct vcuda_front_conn *conn)
{
	struct vcuda_front_session *session;

	spin_lock(&conn->lock);
	WRITE_ONCE(conn->state, VCUDA_CONN_RELEASED);
	spin_unlock(&conn->lock);

	vcuda_front_drop_requests(conn);
	while ((session = pop_session(conn))) {
		vcuda_front_session_finish(session);
		vcuda_front_session_put(session);
	}
	vcuda_grant_run_end(&conn->control);
}
