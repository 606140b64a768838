/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backend's objects. README.md tells how they live and die.
 *
 * Locks, outermost first: mmap lock, conns_lock (conn.c), conn->lock, and then
 * the leaves: conn->request_lock, the host device's lock, locks of a mapping and
 * of a port. No user memory is touched, and no mapping made or ended, under
 * conns_lock or conn->lock.
 */
#ifndef VCUDA_XEN_BACK_H
#define VCUDA_XEN_BACK_H

#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <xen/interface/xen.h>

#include "../hypercall/bindport.h"
#include "../hypercall/mapping.h"
#include "../protocol/control.h"
#include "../protocol/ioctl.h"
#include "../protocol/ring.h"

struct file;
struct xenbus_device;

/* Everything that the module does later runs here; its exit drains it. */
extern struct workqueue_struct *vcuda_back_wq;

/* ---- conn.c: one connection with a frontend ---- */

enum vcuda_back_request_state { REQUEST_FREE, REQUEST_BUSY, REQUEST_DONE };

/* A request of the frontend that has no reply yet. */
struct vcuda_back_request {
	struct vcuda_ctl ctl;
	enum vcuda_back_request_state state;
};

struct vcuda_back_limits {
	u32 sessions;
	u32 pages;
};

struct vcuda_back_conn {
	struct kref kref;
	struct list_head link;	   /* all connections; conns_lock */
	struct xenbus_device *dev; /* a reference to its struct device */
	domid_t domid;
	struct vcuda_back_limits limits;
	u32 pages;	/* mapped for the guest; conns_lock */
	atomic_t live;	/* mappings whose kernel handles have not ended */
	bool stopping;	/* no more requests are taken */
	bool broken;	/* the frontend broke the protocol */

	/* Control channel (control.c), used by control_work alone. */
	struct vcuda_mapping *page;
	struct vcuda_duplex ring;
	struct vcuda_bindport port;
	struct work_struct control_work;
	struct work_struct stop_work;

	spinlock_t request_lock; /* state of each request */
	struct vcuda_back_request requests[VCUDA_CTL_REQUESTS_MAX];

	struct mutex lock; /* sessions and all that is in them; changed */
	struct list_head sessions;
	u32 nr_sessions;
	void (*changed)(void *owner); /* broken, or live has come to 0 */
	void *owner;
};

/*
 * Maps the control page and binds the port that the frontend published
 * (untrusted numbers). changed(owner) may be called from now on, until
 * vcuda_conn_disown(). The caller owns a reference, and ends the connection
 * with vcuda_conn_stop(). ERR_PTR: -ENOMEM, -EEXIST (the domain has one),
 * -EINVAL...
 */
struct vcuda_back_conn *vcuda_conn_create(struct xenbus_device *dev,
					  const struct vcuda_back_limits *limits,
					  u32 page_ref, u32 port,
					  void (*changed)(void *owner),
					  void *owner);

/* Begins the end: sessions die, mappings end, changed() tells when all have. */
void vcuda_conn_stop(struct vcuda_back_conn *conn);
/* Whether nothing of the frontend's is mapped by the kernel any more. */
bool vcuda_conn_drained(struct vcuda_back_conn *conn);
void vcuda_conn_disown(struct vcuda_back_conn *conn);
void vcuda_conn_get(struct vcuda_back_conn *conn);
void vcuda_conn_put(struct vcuda_back_conn *conn);

/* Cuts a rogue frontend off: no EOI, no reply, changed(). */
void vcuda_conn_break(struct vcuda_back_conn *conn, const char *why);

/*
 * Counts pages against the guest's limit (-EDQUOT) and the module's (-ENOSPC).
 * A guest's pages count until they are unmapped, over all its connections.
 */
int vcuda_conn_charge(struct vcuda_back_conn *conn, u32 pages);
void vcuda_conn_uncharge(struct vcuda_back_conn *conn, u32 pages);

/* One of the connection's mappings begins, or has ended. */
void vcuda_conn_mapping_begun(struct vcuda_back_conn *conn);
void vcuda_conn_mapping_ended(struct vcuda_back_conn *conn);

/* Calls fn for each connection that is not stopping until it returns non-0. */
int vcuda_conns_each(int (*fn)(struct vcuda_back_conn *conn, void *arg),
		     void *arg);
/* Waits until no connection is left. For the module's exit. */
void vcuda_conns_wait(void);

/* ---- control.c: requests and replies ---- */

void vcuda_control_work(struct work_struct *work);
/* Has control_work run; any context that holds a reference. */
void vcuda_control_kick(struct vcuda_back_conn *conn);
/* Answers a request (status 0 or -errno): control_work sends the reply. */
void vcuda_request_done(struct vcuda_back_conn *conn,
			struct vcuda_back_request *request, int status);

/* ---- session.c: one guest process ---- */

enum vcuda_back_session_state {
	SESSION_OPENING, /* control_work, which alone may end it, maps its rings */
	SESSION_NEW,	 /* waits for vcudad */
	SESSION_CLAIMED, /* has its worker's descriptor */
	SESSION_DEAD,	 /* for the worker; the guest may not have closed it */
};

struct vcuda_back_session;

struct vcuda_back_region {
	struct vcuda_back_session *session; /* a reference */
	struct vcuda_mapping *mapping;
	u32 number;
	u32 pages;
	struct list_head dying;
	struct vcuda_back_request *reply; /* sent when it is unmapped, or NULL */
	int status;			  /* of the reply */
};

struct vcuda_back_session {
	struct kref kref;
	struct vcuda_back_conn *conn; /* a reference */
	u32 number;
	struct vcuda_ioc_open info;

	/* conn->lock */
	struct list_head link;
	enum vcuda_back_session_state state;
	int status;	 /* why it is dead: -errno */
	bool dead_owed;	 /* DEAD is to be sent */
	/* Regions, by number, whose mappings have not ended. */
	DECLARE_BITMAP(live, VCUDA_REGIONS_MAX);
	struct vcuda_back_request *open;  /* unanswered, or NULL */
	struct vcuda_back_request *close; /* likewise */
	struct vcuda_back_region *regions[VCUDA_REGIONS_MAX];

	/* The worker's descriptor. */
	struct vcuda_bindport port;
	struct address_space space; /* its mappings, to be found at revocation */
	wait_queue_head_t wait;
	atomic_t events; /* notifications not yet read */
	atomic64_t sent;
	atomic64_t received;

	/* hostdev.c, under the host device's lock */
	struct list_head event;
	enum vcuda_host_event event_what;
	bool told; /* vcudad knows of it */
};

/*
 * Requests, from control_work; each is answered now or later.
 * vcuda_session_open(): -EEXIST if the frontend is to be cut off, else 0.
 */
int vcuda_session_open(struct vcuda_back_conn *conn,
		       struct vcuda_back_request *request);
void vcuda_session_close(struct vcuda_back_conn *conn,
			 struct vcuda_back_request *request);
void vcuda_region_add(struct vcuda_back_conn *conn,
		      struct vcuda_back_request *request);
void vcuda_region_del(struct vcuda_back_conn *conn,
		      struct vcuda_back_request *request);

/*
 * Ends a session: the worker loses its memory at once. status (-errno) goes to
 * the guest. A dead session stays as it is. Any context that may sleep, without
 * locks; never waits for the worker.
 */
void vcuda_session_die(struct vcuda_back_session *s, int status);

/* The open session of that number, with a reference, or NULL. conn->lock. */
struct vcuda_back_session *vcuda_session_find(struct vcuda_back_conn *conn,
					      u32 number);
bool vcuda_session_dead(struct vcuda_back_session *s);
void vcuda_session_get(struct vcuda_back_session *s);
void vcuda_session_put(struct vcuda_back_session *s);
/* Every session of a stopping connection dies and is forgotten. */
void vcuda_sessions_end(struct vcuda_back_conn *conn);

/* ---- sessionfd.c: the worker's descriptor ---- */

/* A file that reaches nothing until vcuda_sessionfd_arm(). ERR_PTR. */
struct file *vcuda_sessionfd_create(void);
/* Gives it the session; its last close ends the session. */
void vcuda_sessionfd_arm(struct file *file, struct vcuda_back_session *s);

/* ---- hostdev.c: /dev/vcuda-host ---- */

int vcuda_hostdev_register(void);
void vcuda_hostdev_unregister(void);
/* Announces a new session: 0, or -ESHUTDOWN without vcudad. conn->lock held. */
int vcuda_hostdev_new(struct vcuda_back_session *s);
void vcuda_hostdev_gone(struct vcuda_back_session *s);

/* ---- xenbus.c ---- */

int vcuda_xenbus_register(void);
void vcuda_xenbus_unregister(void);

#endif
