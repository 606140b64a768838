// SPDX-License-Identifier: GPL-2.0
#include <linux/sched.h>

#include "back.h"

/* DEAD leaves room for the replies that the frontend may yet be owed. */
#define DEATH_ROOM ((1 + VCUDA_CTL_REQUESTS_MAX) * sizeof(struct vcuda_ctl))

void vcuda_control_kick(struct vcuda_back_conn *conn)
{
	/* The work holds a reference while it is queued or runs. */
	vcuda_conn_get(conn);
	if (READ_ONCE(conn->stopping) ||
	    !queue_work(vcuda_back_wq, &conn->control_work))
		vcuda_conn_put(conn);
}

void vcuda_request_done(struct vcuda_back_conn *conn,
			struct vcuda_back_request *request, int status)
{
	request->ctl.status = status;
	spin_lock(&conn->request_lock);
	request->state = REQUEST_DONE;
	spin_unlock(&conn->request_lock);
	vcuda_control_kick(conn);
}

/* Requests are taken and freed by control_work alone. */
static struct vcuda_back_request *request_take(struct vcuda_back_conn *conn,
					       const struct vcuda_ctl *ctl)
{
	struct vcuda_back_request *found = NULL;
	u32 i;

	spin_lock(&conn->request_lock);
	for (i = 0; i < VCUDA_CTL_REQUESTS_MAX && !found; i++)
		if (conn->requests[i].state == REQUEST_FREE)
			found = &conn->requests[i];
	if (found) {
		found->ctl = *ctl;
		found->state = REQUEST_BUSY;
	}
	spin_unlock(&conn->request_lock);
	return found;
}

static struct vcuda_back_request *request_finished(struct vcuda_back_conn *conn)
{
	struct vcuda_back_request *found = NULL;
	u32 i;

	spin_lock(&conn->request_lock);
	for (i = 0; i < VCUDA_CTL_REQUESTS_MAX && !found; i++)
		if (conn->requests[i].state == REQUEST_DONE)
			found = &conn->requests[i];
	spin_unlock(&conn->request_lock);
	return found;
}

static void request_free(struct vcuda_back_conn *conn,
			 struct vcuda_back_request *request)
{
	spin_lock(&conn->request_lock);
	request->state = REQUEST_FREE;
	spin_unlock(&conn->request_lock);
}

static int execute(struct vcuda_back_conn *conn,
		   struct vcuda_back_request *request)
{
	switch (request->ctl.op) {
	case VCUDA_CTL_OPEN:
		return vcuda_session_open(conn, request);
	case VCUDA_CTL_REGION_ADD:
		vcuda_region_add(conn, request);
		break;
	case VCUDA_CTL_REGION_DEL:
		vcuda_region_del(conn, request);
		break;
	case VCUDA_CTL_CLOSE:
		vcuda_session_close(conn, request);
		break;
	}
	return 0;
}

/* Each returns how many records it handled, or -errno: cut the peer off. */

static int take_requests(struct vcuda_back_conn *conn)
{
	struct vcuda_back_request *request;
	struct vcuda_ctl ctl;
	int taken;
	int len;
	int err;

	for (taken = 0; taken < VCUDA_CTL_REQUESTS_MAX; taken++) {
		len = vcuda_rx_take(&conn->ring, &ctl, sizeof(ctl), sizeof(ctl));
		if (len <= 0)
			return len < 0 ? len : taken;
		if (vcuda_ctl_check_request(&ctl))
			return -EINVAL;
		request = request_take(conn, &ctl);
		if (!request)
			return -EOVERFLOW;
		err = execute(conn, request);
		if (err)
			return err;
		cond_resched();
	}
	return taken;
}

static void send(struct vcuda_back_conn *conn, const struct vcuda_ctl *ctl)
{
	vcuda_tx_put(&conn->ring, 0, ctl, sizeof(*ctl));
	vcuda_tx_publish(&conn->ring, sizeof(*ctl));
}

/* Replies always fit, with a frontend that keeps to its number of requests. */
static int send_replies(struct vcuda_back_conn *conn)
{
	struct vcuda_back_request *request;
	int sent;

	for (sent = 0; (request = request_finished(conn)); sent++) {
		struct vcuda_ctl reply = {
			.len = sizeof(reply),
			.op = request->ctl.op | VCUDA_CTL_REPLY,
			.id = request->ctl.id,
			.session = request->ctl.session,
			.region = request->ctl.region,
			.status = request->ctl.status,
		};

		if (vcuda_tx_fits(&conn->ring, sizeof(reply)) <= 0)
			return -ENOBUFS;
		send(conn, &reply);
		request_free(conn, request);
	}
	return sent;
}

static int send_deaths(struct vcuda_back_conn *conn, bool *more)
{
	struct vcuda_back_session *s;
	int sent = 0;
	int fits;

	*more = false;
	mutex_lock(&conn->lock);
	list_for_each_entry(s, &conn->sessions, link) {
		struct vcuda_ctl dead = {
			.len = sizeof(dead),
			.op = VCUDA_CTL_DEAD,
			.session = s->number,
			.status = s->status,
		};

		if (!s->dead_owed)
			continue;
		fits = vcuda_tx_fits(&conn->ring, DEATH_ROOM);
		if (fits <= 0) {
			*more = !fits;
			sent = fits ? fits : sent;
			break;
		}
		send(conn, &dead);
		s->dead_owed = false;
		sent++;
	}
	mutex_unlock(&conn->lock);
	return sent;
}

static const char *fault_name(int err)
{
	switch (err) {
	case -EINVAL:
		return "malformed request";
	case -EOVERFLOW:
		return "too many requests outstanding";
	case -ENOBUFS:
		return "replies not read";
	case -EEXIST:
		return "session number in use";
	default:
		return "ring index or record length is nonsense";
	}
}

/* One round: 0, or -errno. more: deaths wait for room. */
static int control_round(struct vcuda_back_conn *conn, int *worked, bool *more)
{
	int taken = take_requests(conn);
	int replies = taken < 0 ? taken : send_replies(conn);
	int deaths = replies < 0 ? replies : send_deaths(conn, more);
	u32 wake = 0;

	if (deaths < 0)
		return deaths;
	if (taken)
		wake |= VCUDA_WAIT_SPACE;
	if (replies || deaths)
		wake |= VCUDA_WAIT_DATA;
	if (wake && vcuda_must_wake(&conn->ring, wake))
		vcuda_bindport_notify(&conn->port);
	*worked = taken + replies + deaths;
	return 0;
}

void vcuda_control_work(struct work_struct *work)
{
	struct vcuda_back_conn *conn =
		container_of(work, struct vcuda_back_conn, control_work);
	bool more = false;
	int worked = 0;
	int err;

	if (READ_ONCE(conn->stopping) || conn->broken)
		goto out;
	vcuda_wait_end(&conn->ring);
	err = control_round(conn, &worked, &more);
	if (err) {
		vcuda_conn_break(conn, fault_name(err));
		goto out;
	}
	vcuda_wait_begin(&conn->ring,
			 VCUDA_WAIT_DATA | (more ? VCUDA_WAIT_SPACE : 0));
	/* Others get the queue between two rounds. */
	if (vcuda_rx_ready(&conn->ring) ||
	    (more && vcuda_tx_fits(&conn->ring, DEATH_ROOM)))
		vcuda_control_kick(conn);
	else
		vcuda_bindport_eoi(&conn->port, worked);
out:
	vcuda_conn_put(conn);
}
