/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of vcuda-front and what each owns; README.md tells their lives.
 */
#ifndef VCUDA_FRONT_H
#define VCUDA_FRONT_H

#include <linux/atomic.h>
#include <linux/freezer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <xen/xenbus.h>

#include "../hypercall/directory.h"
#include "../hypercall/grant.h"
#include "../hypercall/port.h"
#include "../protocol/control.h"
#include "../protocol/ioctl.h"
#include "../protocol/ring.h"

struct vm_area_struct;

/* ---- Requests (request.c) ------------------------------------------------ */

/* A message to the backend and what to do with its answer. */
struct vcuda_front_request {
	struct list_head list;
	struct vcuda_ctl msg;
	bool sent;
	/*
	 * Called exactly once for each request that was submitted and not
	 * cancelled: in process context, without locks, with the backend's
	 * status, or with -ENODEV when the connection was released first.
	 */
	void (*done)(struct vcuda_front_request *request, int status);
};

/* ---- Connections (conn.c) ------------------------------------------------ */

enum vcuda_conn_state {
	VCUDA_CONN_RUNNING,
	VCUDA_CONN_STOPPED,	/* nothing is sent or believed any more */
	VCUDA_CONN_RELEASED,	/* and no grant is left */
};

/*
 * One connection to one backend, from publishing to release. A reconnect makes
 * a new one. Held by the xenbus device, by the character device while programs
 * may open sessions, and by each session.
 */
struct vcuda_front_conn {
	struct kref kref;
	struct xenbus_device *xdev;	/* until vcuda_front_conn_stop() */
	domid_t domid;			/* the backend's */
	struct vcuda_grant_run control;	/* the control page */
	struct vcuda_port port;
	struct work_struct work;	/* takes replies */

	spinlock_t lock;		/* guards what follows, but the xarray */
	enum vcuda_conn_state state;
	bool broken;			/* the backend broke the protocol */
	/* The sending half. The work alone uses the receiving one, unlocked. */
	struct vcuda_duplex duplex;
	struct list_head queued;	/* requests to send */
	struct list_head sent;		/* requests to be answered */
	unsigned int unanswered;	/* entries of sent, */
	unsigned int unanswered_opens;	/* and how many of them are OPEN */
	u32 next_id;

	/* Sessions by number: all that have grants. Each holds a reference. */
	struct xarray sessions;
	u32 next_session;
};

/* Grants the control page and allocates the port: nothing is published yet. */
struct vcuda_front_conn *vcuda_front_conn_create(struct xenbus_device *xdev);

/*
 * Ends all traffic, and with it all sessions; may be called again. Waits for
 * our own work only. The grants stay: the backend may use them.
 */
void vcuda_front_conn_stop(struct vcuda_front_conn *conn);

/*
 * The guest runs on: if it was restored elsewhere, the connection's sessions
 * die. Atomic. xenbus' own resume follows, unless it does not find the backend.
 */
void vcuda_front_conn_resume(struct vcuda_front_conn *conn);

/* The stopped connection's backend is gone or has unmapped: ends all grants. */
void vcuda_front_conn_release(struct vcuda_front_conn *conn);

static inline struct vcuda_front_conn *
vcuda_front_conn_get(struct vcuda_front_conn *conn)
{
	kref_get(&conn->kref);
	return conn;
}

void vcuda_front_conn_put(struct vcuda_front_conn *conn);

/* The backend broke the protocol: cuts it off. Any context that may sleep. */
void vcuda_front_conn_break(struct vcuda_front_conn *conn, const char *what);

/* Queues the request, sends it if it may go now. -ENODEV: not running. */
int vcuda_front_submit(struct vcuda_front_conn *conn,
		       struct vcuda_front_request *request);

/* Takes back a request that has not been sent. False: it was, or never queued. */
bool vcuda_front_cancel(struct vcuda_front_conn *conn,
			struct vcuda_front_request *request);

/* Whether a status from the backend is 0 or an errno that programs know. */
bool vcuda_front_status_ok(s32 status);

/*
 * Matches a reply with its request, sends what waited for the free place, and
 * completes the request. -EPROTO: no such request, or nonsense.
 */
int vcuda_front_answer(struct vcuda_front_conn *conn,
		       const struct vcuda_ctl *reply);

/* Completes all requests of a connection that is not running, with -ENODEV. */
void vcuda_front_drop_requests(struct vcuda_front_conn *conn);

/* ---- Sessions (session.c) ------------------------------------------------ */

/*
 * One open file's session. Held by the file and, as long as there are grants,
 * by the connection's table.
 */
struct vcuda_front_session {
	struct kref kref;
	struct vcuda_front_conn *conn;
	u32 id;
	struct vcuda_port port;
	wait_queue_head_t wait;		/* events, answers and death */
	atomic_t events;		/* not yet read */
	int dead;			/* 0, or the errno that ended it; set once */

	struct mutex lock;		/* guards what follows */
	bool over;			/* the backend knows it no more */
	unsigned int unanswered;	/* requests about it */
	struct vcuda_front_request close;
	struct vcuda_front_region *regions[VCUDA_REGIONS_MAX];
};

/* Sends OPEN. The caller owns the reference that is returned. */
struct vcuda_front_session *
vcuda_front_session_open(struct vcuda_front_conn *conn,
			 const struct vcuda_ioc_open *open);

/* Waits for the answer to OPEN: its status, -ERESTARTSYS for any signal. */
int vcuda_front_session_wait_open(struct vcuda_front_session *session);

/*
 * The owner is done: gives the session, and the reference, to the connection,
 * which tells the backend and ends the grants when it has let go.
 */
void vcuda_front_session_close(struct vcuda_front_session *session);

/* Marks it dead and wakes all that wait for it. Any context. */
void vcuda_front_session_kill(struct vcuda_front_session *session, int error);

/* Ends its grants and its port and takes it out of the table; may be repeated. */
void vcuda_front_session_finish(struct vcuda_front_session *session);

static inline struct vcuda_front_session *
vcuda_front_session_get(struct vcuda_front_session *session)
{
	kref_get(&session->kref);
	return session;
}

void vcuda_front_session_put(struct vcuda_front_session *session);

static inline int vcuda_front_session_dead(struct vcuda_front_session *session)
{
	return READ_ONCE(session->dead);
}

/* Under the lock: submits a request about the session. */
int vcuda_front_session_submit(struct vcuda_front_session *session,
			       struct vcuda_front_request *request);

/* Counts an answer; finishes a session that was only waiting for it. */
void vcuda_front_session_answered(struct vcuda_front_session *session);

/* Events since the last read, at least 1; errors as ioctl.h says for read. */
int vcuda_front_session_take_events(struct vcuda_front_session *session,
				    bool nonblock, u64 *events);
int vcuda_front_session_notify(struct vcuda_front_session *session);
void vcuda_front_session_counters(struct vcuda_front_session *session,
				  struct vcuda_ioc_counters *counters);

/* ---- Regions (region.c) -------------------------------------------------- */

enum vcuda_region_state {
	VCUDA_REGION_ADDING,	/* OPEN or REGION_ADD is not answered yet */
	VCUDA_REGION_LIVE,
	VCUDA_REGION_DELETING,
	VCUDA_REGION_GONE,	/* refused, or deleted */
};

/*
 * A run of pages that both sides may map. Held by its place in the session, by
 * each mapping, and by whoever waits for an answer about it.
 */
struct vcuda_front_region {
	struct kref kref;
	struct vcuda_front_session *session;	/* outlives the place in it */
	u32 index;
	enum vcuda_region_state state;	/* written under the session's lock */
	int status;			/* of the last answer */
	atomic_t mappings;
	struct vcuda_grant_run run;
	struct vcuda_directory_chain directory;	/* while a request is out */
	struct vcuda_front_request request;	/* OPEN, REGION_ADD, REGION_DEL */
};

/* Pages, granted and described. The caller owns the reference. */
struct vcuda_front_region *
vcuda_front_region_create(struct vcuda_front_session *session, u32 pages);
void vcuda_front_region_put(struct vcuda_front_region *region);

/*
 * Under the session's lock: gives the region a place, which holds a reference,
 * and submits the request to add it. Fills in what msg says about pages.
 */
int vcuda_front_region_submit(struct vcuda_front_region *region, u32 index,
			      const struct vcuda_ctl *msg);

int vcuda_front_region_add(struct vcuda_front_session *session, u64 bytes,
			   u32 *index);
int vcuda_front_region_del(struct vcuda_front_session *session, u32 index);
int vcuda_front_region_map(struct vcuda_front_session *session, u32 index,
			   struct vm_area_struct *vma);

/* ---- The character device (chardev.c) ------------------------------------ */

int vcuda_front_chardev_register(void);
void vcuda_front_chardev_unregister(void);

/* Lets programs open sessions on conn: -EBUSY if there is a device already. */
int vcuda_front_chardev_attach(struct vcuda_front_conn *conn);
/* Ends that; does nothing for a connection that is not attached. */
void vcuda_front_chardev_detach(struct vcuda_front_conn *conn);
/* The attached connection with a reference, or NULL. */
struct vcuda_front_conn *vcuda_front_chardev_conn(void);

/* ---- xenbus (xenbus.c) --------------------------------------------------- */

int vcuda_front_xenbus_register(void);
void vcuda_front_xenbus_unregister(void);

#endif
