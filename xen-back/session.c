// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "../hypercall/fetch.h"
#include "back.h"

static void session_free(struct kref *kref)
{
	struct vcuda_back_session *s =
		container_of(kref, struct vcuda_back_session, kref);

	vcuda_conn_put(s->conn);
	kfree(s);
}

void vcuda_session_get(struct vcuda_back_session *s)
{
	kref_get(&s->kref);
}

void vcuda_session_put(struct vcuda_back_session *s)
{
	kref_put(&s->kref, session_free);
}

bool vcuda_session_dead(struct vcuda_back_session *s)
{
	return READ_ONCE(s->state) == SESSION_DEAD;
}

struct vcuda_back_session *vcuda_session_find(struct vcuda_back_conn *conn,
					      u32 number)
{
	struct vcuda_back_session *s;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry(s, &conn->sessions, link) {
		if (s->number == number) {
			vcuda_session_get(s);
			return s;
		}
	}
	return NULL;
}

/* Takes the session from the table; its number is free again. */
static void session_unlink(struct vcuda_back_session *s)
{
	if (list_empty(&s->link))
		return;
	list_del_init(&s->link);
	s->conn->nr_sessions--;
	vcuda_session_put(s); /* the caller has another one */
}

/*
 * Answers what waited for the end of a dead session's mappings: only now may
 * the frontend end its grants. conn->lock held.
 */
static void session_settle(struct vcuda_back_session *s)
{
	if (s->state != SESSION_DEAD ||
	    !bitmap_empty(s->live, VCUDA_REGIONS_MAX))
		return;
	if (!s->open && !s->close)
		return;
	if (s->open)
		vcuda_request_done(s->conn, s->open, s->status);
	if (s->close)
		vcuda_request_done(s->conn, s->close, 0);
	s->open = NULL;
	s->close = NULL;
	session_unlink(s);
}

static void region_released(void *owner)
{
	struct vcuda_back_region *r = owner;
	struct vcuda_back_session *s = r->session;
	struct vcuda_back_conn *conn = s->conn;

	vcuda_conn_uncharge(conn, r->pages);
	mutex_lock(&conn->lock);
	/* First: once it has the reply the frontend may use the number again. */
	__clear_bit(r->number, s->live);
	if (r->reply)
		vcuda_request_done(conn, r->reply, r->status);
	session_settle(s);
	mutex_unlock(&conn->lock);
	vcuda_conn_mapping_ended(conn);
	vcuda_session_put(s);
	kfree(r);
}

static void region_release(struct vcuda_back_region *r)
{
	struct vcuda_mapping_place place = {
		.space = &r->session->space,
		.offset = vcuda_region_offset(r->number),
	};

	vcuda_mapping_release(r->mapping, place, region_released, r);
}

void vcuda_session_die(struct vcuda_back_session *s, int status)
{
	struct vcuda_back_conn *conn = s->conn;
	struct vcuda_back_region *r, *next;
	LIST_HEAD(dying);
	u32 i;

	mutex_lock(&conn->lock);
	if (s->state == SESSION_DEAD) {
		mutex_unlock(&conn->lock);
		return;
	}
	s->dead_owed = s->state == SESSION_CLAIMED && !s->close;
	s->status = status;
	WRITE_ONCE(s->state, SESSION_DEAD);
	for (i = 0; i < VCUDA_REGIONS_MAX; i++) {
		if (s->regions[i])
			list_add_tail(&s->regions[i]->dying, &dying);
		s->regions[i] = NULL;
	}
	mutex_unlock(&conn->lock);

	vcuda_bindport_unbind(&s->port);
	wake_up_all(&s->wait);
	list_for_each_entry_safe(r, next, &dying, dying)
		region_release(r);
	vcuda_hostdev_gone(s);
	mutex_lock(&conn->lock);
	session_settle(s);
	mutex_unlock(&conn->lock);
	vcuda_control_kick(conn);
}

void vcuda_sessions_end(struct vcuda_back_conn *conn)
{
	struct vcuda_back_session *s;

	for (;;) {
		mutex_lock(&conn->lock);
		s = list_first_entry_or_null(&conn->sessions,
					     struct vcuda_back_session, link);
		if (s)
			vcuda_session_get(s);
		mutex_unlock(&conn->lock);
		if (!s)
			break;
		vcuda_session_die(s, -ESHUTDOWN);
		mutex_lock(&conn->lock);
		session_unlink(s);
		mutex_unlock(&conn->lock);
		vcuda_session_put(s);
	}
}

/* Fetches the directory and maps what it names. ERR_PTR. */
static struct vcuda_mapping *map_run(struct vcuda_back_conn *conn,
				     const struct vcuda_ctl *ctl)
{
	struct vcuda_mapping *m;
	u32 *refs;
	int err;

	refs = kvmalloc_array(ctl->pages, sizeof(*refs), GFP_KERNEL);
	if (!refs)
		return ERR_PTR(-ENOMEM);
	err = vcuda_fetch_directory(conn->domid, ctl->dir_ref, ctl->pages, refs);
	m = err ? ERR_PTR(err) : vcuda_mapping_create(vcuda_back_wq, conn->domid,
						      refs, ctl->pages);
	kvfree(refs);
	return m;
}

/* A region, not yet in its session's table, counted as live. ERR_PTR. */
static struct vcuda_back_region *region_create(struct vcuda_back_session *s,
					       const struct vcuda_ctl *ctl,
					       u32 number)
{
	struct vcuda_back_conn *conn = s->conn;
	struct vcuda_back_region *r;
	int err;

	err = vcuda_conn_charge(conn, ctl->pages);
	if (err)
		return ERR_PTR(err);
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r) {
		err = -ENOMEM;
		goto out_uncharge;
	}
	r->mapping = map_run(conn, ctl);
	if (IS_ERR(r->mapping)) {
		err = PTR_ERR(r->mapping);
		goto out_free;
	}
	r->number = number;
	r->pages = ctl->pages;
	vcuda_session_get(s);
	r->session = s;
	vcuda_conn_mapping_begun(conn);
	return r;

out_free:
	kfree(r);
out_uncharge:
	vcuda_conn_uncharge(conn, ctl->pages);
	return ERR_PTR(err);
}

/*
 * A number is free when the last mapping of that number has ended: until then
 * it takes whatever lies at the number's place in the file from the worker.
 */
static bool number_free(struct vcuda_back_session *s, u32 number)
{
	bool free;

	mutex_lock(&s->conn->lock);
	free = !test_bit(number, s->live);
	mutex_unlock(&s->conn->lock);
	return free;
}

/* Whether the session lived and now has the region. Control work alone adds. */
static bool region_install(struct vcuda_back_region *r)
{
	struct vcuda_back_session *s = r->session;
	bool alive;

	mutex_lock(&s->conn->lock);
	alive = s->state != SESSION_DEAD;
	__set_bit(r->number, s->live);
	if (alive)
		s->regions[r->number] = r;
	mutex_unlock(&s->conn->lock);
	return alive;
}

static void session_event(void *owner)
{
	struct vcuda_back_session *s = owner;

	atomic_inc(&s->events);
	atomic64_inc(&s->received);
	/* Not those who poll for the session's end alone. */
	wake_up_poll(&s->wait, EPOLLIN | EPOLLRDNORM);
}

static struct vcuda_back_session *
session_create(struct vcuda_back_conn *conn, struct vcuda_back_request *request)
{
	struct vcuda_back_session *s = kzalloc(sizeof(*s), GFP_KERNEL);
	const struct vcuda_ctl *ctl = &request->ctl;

	if (!s)
		return NULL;
	kref_init(&s->kref);
	INIT_LIST_HEAD(&s->link);
	INIT_LIST_HEAD(&s->event);
	init_waitqueue_head(&s->wait);
	address_space_init_once(&s->space);
	vcuda_bindport_init(&s->port, session_event, s);
	vcuda_conn_get(conn);
	s->conn = conn;
	s->number = ctl->session;
	s->open = request;
	s->info.version = ctl->version;
	s->info.features = ctl->features;
	s->info.sub_bytes = ctl->sub_bytes;
	s->info.cmp_bytes = ctl->cmp_bytes;
	s->info.session = ctl->session;
	s->info.domid = conn->domid;
	return s;
}

/* -EEXIST: the number is in use, which an honest frontend never does. */
static int session_link(struct vcuda_back_session *s)
{
	struct vcuda_back_conn *conn = s->conn;
	struct vcuda_back_session *other;
	int err = 0;

	mutex_lock(&conn->lock);
	other = vcuda_session_find(conn, s->number);
	if (other) {
		err = -EEXIST;
	} else if (conn->nr_sessions >= conn->limits.sessions) {
		err = -EDQUOT;
	} else {
		vcuda_session_get(s);
		list_add_tail(&s->link, &conn->sessions);
		conn->nr_sessions++;
	}
	mutex_unlock(&conn->lock);
	if (other)
		vcuda_session_put(other);
	return err;
}

static int session_announce(struct vcuda_back_session *s)
{
	int err;

	mutex_lock(&s->conn->lock);
	WRITE_ONCE(s->state, SESSION_NEW);
	err = vcuda_hostdev_new(s);
	mutex_unlock(&s->conn->lock);
	return err;
}

/* Rings, port, and a place in vcudad's queue. */
static int session_begin(struct vcuda_back_session *s,
			 const struct vcuda_ctl *ctl)
{
	struct vcuda_back_region *rings = region_create(s, ctl, 0);
	int err;

	if (IS_ERR(rings))
		return PTR_ERR(rings);
	region_install(rings); /* nobody else ends a session that opens */
	err = vcuda_bindport_bind(&s->port, s->conn->dev, ctl->port,
				  "vcuda-session");
	return err ? err : session_announce(s);
}

int vcuda_session_open(struct vcuda_back_conn *conn,
		       struct vcuda_back_request *request)
{
	struct vcuda_back_session *s = session_create(conn, request);
	int err;

	if (!s) {
		vcuda_request_done(conn, request, -ENOMEM);
		return 0;
	}
	err = session_link(s);
	if (err == -EDQUOT) {
		vcuda_request_done(conn, request, err);
		err = 0;
	} else if (!err) {
		err = session_begin(s, &request->ctl);
		if (err)
			vcuda_session_die(s, err);
		err = 0;
	}
	vcuda_session_put(s);
	return err;
}

static struct vcuda_back_session *
session_of(struct vcuda_back_conn *conn, struct vcuda_back_request *request)
{
	struct vcuda_back_session *s;

	mutex_lock(&conn->lock);
	s = vcuda_session_find(conn, request->ctl.session);
	mutex_unlock(&conn->lock);
	if (!s)
		vcuda_request_done(conn, request, -ENOENT);
	return s;
}

void vcuda_session_close(struct vcuda_back_conn *conn,
			 struct vcuda_back_request *request)
{
	struct vcuda_back_session *s = session_of(conn, request);
	bool again;

	if (!s)
		return;
	mutex_lock(&conn->lock);
	again = s->close;
	if (!again)
		s->close = request;
	s->dead_owed = false;
	mutex_unlock(&conn->lock);
	if (again)
		vcuda_request_done(conn, request, -EALREADY);

	vcuda_session_die(s, -EPIPE);
	mutex_lock(&conn->lock);
	session_settle(s);
	mutex_unlock(&conn->lock);
	vcuda_session_put(s);
}

static int region_add(struct vcuda_back_session *s,
		      struct vcuda_back_request *request)
{
	struct vcuda_back_region *r;
	u32 number = request->ctl.region;

	if (vcuda_session_dead(s))
		return -EPIPE;
	if (!number_free(s, number))
		return -EEXIST;
	r = region_create(s, &request->ctl, number);
	if (IS_ERR(r))
		return PTR_ERR(r);
	if (region_install(r))
		return 0;
	r->reply = request;
	r->status = -EPIPE;
	region_release(r);
	return -EINPROGRESS;
}

void vcuda_region_add(struct vcuda_back_conn *conn,
		      struct vcuda_back_request *request)
{
	struct vcuda_back_session *s = session_of(conn, request);
	int err;

	if (!s)
		return;
	err = region_add(s, request);
	if (err != -EINPROGRESS)
		vcuda_request_done(conn, request, err);
	vcuda_session_put(s);
}

void vcuda_region_del(struct vcuda_back_conn *conn,
		      struct vcuda_back_request *request)
{
	struct vcuda_back_session *s = session_of(conn, request);
	u32 number = request->ctl.region;
	struct vcuda_back_region *r;
	int err = 0;

	if (!s)
		return;
	mutex_lock(&conn->lock);
	r = s->regions[number];
	if (!r)
		err = s->state == SESSION_DEAD ? -EPIPE : -ENOENT;
	else if (vcuda_mapping_in_use(r->mapping))
		err = -EBUSY;
	else
		s->regions[number] = NULL;
	mutex_unlock(&conn->lock);
	if (err) {
		vcuda_request_done(conn, request, err);
	} else {
		r->reply = request;
		region_release(r);
	}
	vcuda_session_put(s);
}
