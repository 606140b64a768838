// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the backend over the control page: sent in order, at most
 * VCUDA_CTL_REQUESTS_MAX unanswered at a time, and matched with their replies.
 */
#include "front.h"

#include <linux/errno.h>

/*
 * OPEN is answered when vcudad gets to it, the rest at once. Some places are
 * kept from OPEN, so that a stuck vcudad stops no CLOSE.
 */
#define OPENS_MAX (VCUDA_CTL_REQUESTS_MAX - 2)

/* The largest errno that programs know (EHWPOISON); above are the kernel's own. */
#define ERRNO_MAX 133

bool vcuda_front_status_ok(s32 status)
{
	return status <= 0 && status >= -ERRNO_MAX;
}

static bool may_send(const struct vcuda_front_conn *conn,
		     const struct vcuda_front_request *request)
{
	if (conn->unanswered >= VCUDA_CTL_REQUESTS_MAX)
		return false;
	return request->msg.op != VCUDA_CTL_OPEN ||
	       conn->unanswered_opens < OPENS_MAX;
}

/* Under the lock. */
static void send(struct vcuda_front_conn *conn,
		 struct vcuda_front_request *request)
{
	request->msg.len = sizeof(request->msg);
	request->msg.id = conn->next_id++;
	request->sent = true;
	vcuda_tx_put(&conn->duplex, 0, &request->msg, sizeof(request->msg));
	vcuda_tx_publish(&conn->duplex, sizeof(request->msg));
	list_move_tail(&request->list, &conn->sent);
	conn->unanswered++;
	if (request->msg.op == VCUDA_CTL_OPEN)
		conn->unanswered_opens++;
}

/*
 * Under the lock. Whether the backend wants a notification, or -EPROTO: there
 * is room for all that may be unanswered, unless the backend's index lies.
 */
static int send_queued(struct vcuda_front_conn *conn)
{
	struct vcuda_front_request *request, *next;
	bool sent = false;

	list_for_each_entry_safe(request, next, &conn->queued, list) {
		if (!may_send(conn, request))
			continue;
		if (vcuda_tx_fits(&conn->duplex, sizeof(request->msg)) != 1)
			return -EPROTO;
		send(conn, request);
		sent = true;
	}
	return sent && vcuda_must_wake(&conn->duplex, VCUDA_WAIT_DATA);
}

int vcuda_front_submit(struct vcuda_front_conn *conn,
		       struct vcuda_front_request *request)
{
	int notify = 0;
	int err = 0;

	request->sent = false;
	spin_lock(&conn->lock);
	if (conn->state == VCUDA_CONN_RUNNING) {
		list_add_tail(&request->list, &conn->queued);
		notify = send_queued(conn);
	} else {
		err = -ENODEV;
	}
	spin_unlock(&conn->lock);

	/* A request of a broken connection is completed by its release. */
	if (notify < 0)
		vcuda_front_conn_break(conn, "bad index in its side");
	else if (notify)
		vcuda_port_notify(&conn->port);
	return err;
}

bool vcuda_front_cancel(struct vcuda_front_conn *conn,
			struct vcuda_front_request *request)
{
	bool queued;

	spin_lock(&conn->lock);
	queued = !request->sent && !list_empty(&request->list);
	if (queued)
		list_del_init(&request->list);
	spin_unlock(&conn->lock);
	return queued;
}

/* Under the lock. */
static struct vcuda_front_request *find(struct vcuda_front_conn *conn,
					const struct vcuda_ctl *reply)
{
	struct vcuda_front_request *request;

	list_for_each_entry(request, &conn->sent, list) {
		const struct vcuda_ctl *msg = &request->msg;

		if (msg->id == reply->id)
			return (msg->op | VCUDA_CTL_REPLY) == reply->op &&
			       msg->session == reply->session &&
			       msg->region == reply->region ? request : NULL;
	}
	return NULL;
}

int vcuda_front_answer(struct vcuda_front_conn *conn,
		       const struct vcuda_ctl *reply)
{
	struct vcuda_front_request *request;
	int notify = 0;

	if (!vcuda_front_status_ok(reply->status))
		return -EPROTO;

	spin_lock(&conn->lock);
	request = find(conn, reply);
	if (request) {
		list_del_init(&request->list);
		conn->unanswered--;
		if (request->msg.op == VCUDA_CTL_OPEN)
			conn->unanswered_opens--;
		if (conn->state == VCUDA_CONN_RUNNING)
			notify = send_queued(conn);
	}
	spin_unlock(&conn->lock);

	if (!request)
		return -EPROTO;
	/* First, since done() may end a large session's grants, and whoever
	 * submits meanwhile relies on this notification.
	 */
	if (notify > 0)
		vcuda_port_notify(&conn->port);
	request->done(request, reply->status);
	return notify < 0 ? notify : 0;
}

/* Takes any request out of the queues; NULL when both are empty. */
static struct vcuda_front_request *pop(struct vcuda_front_conn *conn)
{
	struct list_head *queue = list_empty(&conn->sent) ? &conn->queued :
							    &conn->sent;
	struct vcuda_front_request *request;

	request = list_first_entry_or_null(queue, struct vcuda_front_request,
					   list);
	if (request)
		list_del_init(&request->list);
	return request;
}

void vcuda_front_drop_requests(struct vcuda_front_conn *conn)
{
	struct vcuda_front_request *request;

	/* One at a time: the others may still be cancelled meanwhile. */
	do {
		spin_lock(&conn->lock);
		request = pop(conn);
		spin_unlock(&conn->lock);
		if (request)
			request->done(request, -ENODEV);
	} while (request);
}
