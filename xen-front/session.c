// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: from OPEN to the answer to CLOSE, whether or not the program that
 * opened them still runs.
 */
#include "front.h"

#include <linux/errno.h>
#include <linux/poll.h>
#include <linux/slab.h>

static void session_event(struct vcuda_port *port)
{
	struct vcuda_front_session *session =
		container_of(port, struct vcuda_front_session, port);

	atomic_inc(&session->events);
	/* Not those who poll for the session's end alone. */
	wake_up_poll(&session->wait, EPOLLIN | EPOLLRDNORM);
}

static void session_free(struct kref *kref)
{
	struct vcuda_front_session *session =
		container_of(kref, struct vcuda_front_session, kref);
	unsigned int i;

	for (i = 0; i < VCUDA_REGIONS_MAX; i++)
		if (session->regions[i])
			vcuda_front_region_put(session->regions[i]);
	vcuda_front_conn_put(session->conn);
	mutex_destroy(&session->lock);
	kfree(session);
}

void vcuda_front_session_put(struct vcuda_front_session *session)
{
	kref_put(&session->kref, session_free);
}

void vcuda_front_session_kill(struct vcuda_front_session *session, int error)
{
	cmpxchg(&session->dead, 0, error);
	wake_up_all(&session->wait);
}

int vcuda_front_session_submit(struct vcuda_front_session *session,
			       struct vcuda_front_request *request)
{
	int err;

	session->unanswered++;
	err = vcuda_front_submit(session->conn, request);
	if (err)
		session->unanswered--;
	return err;
}

void vcuda_front_session_answered(struct vcuda_front_session *session)
{
	bool finish;

	mutex_lock(&session->lock);
	session->unanswered--;
	finish = session->over && !session->unanswered;
	mutex_unlock(&session->lock);
	/* The last that may touch the session. */
	if (finish)
		vcuda_front_session_finish(session);
}

void vcuda_front_session_finish(struct vcuda_front_session *session)
{
	struct vcuda_front_conn *conn = session->conn;
	unsigned int i;
	bool listed;

	mutex_lock(&session->lock);
	for (i = 0; i < VCUDA_REGIONS_MAX; i++)
		if (session->regions[i])
			vcuda_grant_run_end(&session->regions[i]->run);
	mutex_unlock(&session->lock);
	vcuda_port_close(&session->port);

	xa_lock(&conn->sessions);
	listed = xa_load(&conn->sessions, session->id) == session;
	if (listed)
		__xa_erase(&conn->sessions, session->id);
	xa_unlock(&conn->sessions);
	if (listed)
		vcuda_front_session_put(session);
}

static void open_done(struct vcuda_front_request *request, int status)
{
	struct vcuda_front_region *rings =
		container_of(request, struct vcuda_front_region, request);
	struct vcuda_front_session *session = rings->session;

	vcuda_directory_free(&rings->directory);
	mutex_lock(&session->lock);
	rings->status = status;
	WRITE_ONCE(rings->state, status ? VCUDA_REGION_GONE :
					  VCUDA_REGION_LIVE);
	/* What was refused is not known to the backend: there is no CLOSE. */
	if (status)
		session->over = true;
	mutex_unlock(&session->lock);
	if (status)
		vcuda_front_session_kill(session, status);
	else
		wake_up_all(&session->wait);
	vcuda_front_session_answered(session);
}

static void close_done(struct vcuda_front_request *request, int status)
{
	struct vcuda_front_session *session =
		container_of(request, struct vcuda_front_session, close);

	/* Whatever the status: there is no second way to end a session. */
	mutex_lock(&session->lock);
	session->over = true;
	mutex_unlock(&session->lock);
	vcuda_front_session_answered(session);
}

static struct vcuda_front_session *session_alloc(struct vcuda_front_conn *conn)
{
	struct vcuda_front_session *session;

	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return NULL;
	kref_init(&session->kref);
	session->conn = vcuda_front_conn_get(conn);
	init_waitqueue_head(&session->wait);
	mutex_init(&session->lock);
	INIT_LIST_HEAD(&session->close.list);
	session->close.done = close_done;
	return session;
}

/* Gives the session its number and a place, with a reference, in the table. */
static int enlist(struct vcuda_front_session *session)
{
	struct vcuda_front_conn *conn = session->conn;
	int err;

	vcuda_front_session_get(session);
	err = xa_alloc_cyclic(&conn->sessions, &session->id, session,
			      xa_limit_31b, &conn->next_session,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0) {
		vcuda_front_session_put(session);
		return err;
	}
	return 0;
}

static int send_open(struct vcuda_front_session *session,
		     struct vcuda_front_region *rings,
		     const struct vcuda_ioc_open *open)
{
	struct vcuda_ctl msg = {
		.op = VCUDA_CTL_OPEN,
		.port = session->port.evtchn,
		.sub_bytes = open->sub_bytes,
		.cmp_bytes = open->cmp_bytes,
		.version = open->version,
		.features = open->features,
	};
	int err;

	rings->request.done = open_done;
	mutex_lock(&session->lock);
	err = vcuda_front_region_submit(rings, 0, &msg);
	mutex_unlock(&session->lock);
	return err;
}

struct vcuda_front_session *
vcuda_front_session_open(struct vcuda_front_conn *conn,
			 const struct vcuda_ioc_open *open)
{
	struct vcuda_front_session *session;
	struct vcuda_front_region *rings;
	u64 bytes;
	int err;

	if (!vcuda_ring_size_ok(open->sub_bytes) ||
	    !vcuda_ring_size_ok(open->cmp_bytes))
		return ERR_PTR(-EINVAL);
	bytes = vcuda_rings_bytes(open->sub_bytes, open->cmp_bytes);

	session = session_alloc(conn);
	if (!session)
		return ERR_PTR(-ENOMEM);
	err = vcuda_port_open(&session->port, conn->domid, "vcuda-session",
			      session_event);
	if (err)
		goto put;
	rings = vcuda_front_region_create(session, bytes >> PAGE_SHIFT);
	if (IS_ERR(rings)) {
		err = PTR_ERR(rings);
		goto finish;
	}
	err = enlist(session);
	if (!err)
		err = send_open(session, rings, open);
	vcuda_front_region_put(rings);
	if (!err)
		return session;
finish:
	vcuda_front_session_finish(session);
put:
	vcuda_front_session_put(session);
	return ERR_PTR(err);
}

/* Whether OPEN has no answer yet, and may still get one. */
static bool opening(struct vcuda_front_session *session)
{
	return READ_ONCE(session->regions[0]->state) == VCUDA_REGION_ADDING &&
	       !vcuda_front_session_dead(session);
}

int vcuda_front_session_wait_open(struct vcuda_front_session *session)
{
	struct vcuda_front_region *rings = session->regions[0];
	int err;

	/* vcudad may take its time, so any signal ends the wait, not the OPEN. */
	err = wait_event_freezable(session->wait, !opening(session));
	if (err)
		return err;
	if (READ_ONCE(rings->state) == VCUDA_REGION_ADDING)
		return vcuda_front_session_dead(session);
	return READ_ONCE(rings->status);
}

void vcuda_front_session_close(struct vcuda_front_session *session)
{
	struct vcuda_front_region *rings = session->regions[0];
	bool finish;

	mutex_lock(&session->lock);
	if (rings->state == VCUDA_REGION_ADDING &&
	    vcuda_front_cancel(session->conn, &rings->request)) {
		session->unanswered--;
		session->over = true;
	}
	if (!session->over) {
		session->close.msg.op = VCUDA_CTL_CLOSE;
		session->close.msg.session = session->id;
		/* Without a running connection its release ends the session. */
		vcuda_front_session_submit(session, &session->close);
	}
	finish = session->over && !session->unanswered;
	mutex_unlock(&session->lock);
	if (finish)
		vcuda_front_session_finish(session);
	vcuda_front_session_put(session);
}

static int wait_for_events(struct vcuda_front_session *session)
{
	return wait_event_freezable(session->wait,
				    atomic_read(&session->events) ||
				    vcuda_front_session_dead(session));
}

int vcuda_front_session_take_events(struct vcuda_front_session *session,
				    bool nonblock, u64 *events)
{
	int err;

	while (!vcuda_front_session_dead(session)) {
		/* Count first: what the EOI lets in is for the next read. */
		*events = atomic_xchg(&session->events, 0);
		if (*events) {
			vcuda_port_eoi(&session->port, 0);
			return 0;
		}
		if (nonblock)
			return -EAGAIN;
		err = wait_for_events(session);
		if (err)
			return err;
	}
	return -EPIPE;
}

int vcuda_front_session_notify(struct vcuda_front_session *session)
{
	if (vcuda_front_session_dead(session))
		return -EPIPE;
	vcuda_port_notify(&session->port);
	return 0;
}

void vcuda_front_session_counters(struct vcuda_front_session *session,
				  struct vcuda_ioc_counters *counters)
{
	unsigned int i;

	memset(counters, 0, sizeof(*counters));
	counters->notifications_sent = atomic64_read(&session->port.sent);
	counters->notifications_received =
		atomic64_read(&session->port.received);
	mutex_lock(&session->lock);
	for (i = 0; i < VCUDA_REGIONS_MAX; i++)
		if (session->regions[i])
			counters->pages += session->regions[i]->run.granted;
	mutex_unlock(&session->lock);
}
