// SPDX-License-Identifier: GPL-2.0
/* /dev/vcuda-host: new sessions to vcudad, its decisions back. */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "back.h"

static struct {
	spinlock_t lock;	 /* all of this */
	bool open;		 /* vcudad is there */
	struct list_head events; /* sessions, each with a reference */
	wait_queue_head_t wait;
} host = {
	.lock = __SPIN_LOCK_UNLOCKED(host.lock),
	.events = LIST_HEAD_INIT(host.events),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(host.wait),
};

static void event_add(struct vcuda_back_session *s, enum vcuda_host_event what)
{
	vcuda_session_get(s);
	s->event_what = what;
	list_add_tail(&s->event, &host.events);
	wake_up(&host.wait);
}

int vcuda_hostdev_new(struct vcuda_back_session *s)
{
	int err = 0;

	spin_lock(&host.lock);
	if (host.open)
		event_add(s, VCUDA_HOST_SESSION_NEW);
	else
		err = -ESHUTDOWN;
	spin_unlock(&host.lock);
	return err;
}

/* A session has at most one event in the queue: what vcudad never heard of
 * needs no end. So the queue is no longer than the sessions are many.
 */
void vcuda_hostdev_gone(struct vcuda_back_session *s)
{
	bool unheard;

	spin_lock(&host.lock);
	unheard = !list_empty(&s->event);
	if (unheard)
		list_del_init(&s->event);
	else if (host.open && s->told)
		event_add(s, VCUDA_HOST_SESSION_GONE);
	spin_unlock(&host.lock);
	if (unheard)
		vcuda_session_put(s);
}

static struct vcuda_back_session *event_take(void)
{
	struct vcuda_back_session *s;

	spin_lock(&host.lock);
	s = list_first_entry_or_null(&host.events, struct vcuda_back_session,
				     event);
	if (s) {
		list_del_init(&s->event);
		s->told = true;
	}
	spin_unlock(&host.lock);
	return s;
}

static long host_next(void __user *arg)
{
	struct vcuda_back_session *s = event_take();
	struct vcuda_ioc_host_event event = { 0 };

	if (!s)
		return -EAGAIN;
	event.what = s->event_what;
	event.domid = s->info.domid;
	event.session = s->number;
	vcuda_session_put(s);
	return copy_to_user(arg, &event, sizeof(event)) ? -EFAULT : 0;
}

struct wanted {
	const struct vcuda_ioc_claim *claim;
	struct vcuda_back_session *session;
};

static int find_claimed(struct vcuda_back_conn *conn, void *arg)
{
	struct wanted *wanted = arg;

	if (conn->domid != wanted->claim->domid)
		return 0;
	mutex_lock(&conn->lock);
	wanted->session = vcuda_session_find(conn, wanted->claim->session);
	mutex_unlock(&conn->lock);
	return 1;
}

static struct vcuda_back_session *find(const struct vcuda_ioc_claim *claim)
{
	struct wanted wanted = { .claim = claim };

	vcuda_conns_each(find_claimed, &wanted);
	return wanted.session;
}

/* From NEW to CLAIMED, which answers the guest: 0, -ENOENT or -EBUSY. */
static int session_claim(struct vcuda_back_session *s)
{
	int err = 0;

	mutex_lock(&s->conn->lock);
	if (s->state == SESSION_CLAIMED) {
		err = -EBUSY;
	} else if (s->state != SESSION_NEW) {
		err = -ENOENT;
	} else {
		WRITE_ONCE(s->state, SESSION_CLAIMED);
		vcuda_request_done(s->conn, s->open, 0);
		s->open = NULL;
	}
	mutex_unlock(&s->conn->lock);
	return err;
}

static int claim_file(struct vcuda_back_session *s)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *file;
	int err;

	if (fd < 0)
		return fd;
	file = vcuda_sessionfd_create();
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	err = session_claim(s);
	if (err) {
		fput(file);
		put_unused_fd(fd);
		return err;
	}
	vcuda_sessionfd_arm(file, s);
	fd_install(fd, file);
	return fd;
}

static long host_claim(const struct vcuda_ioc_claim *claim)
{
	struct vcuda_back_session *s = find(claim);
	int fd;

	if (!s)
		return -ENOENT;
	fd = claim_file(s);
	vcuda_session_put(s);
	return fd;
}

static long host_refuse(const struct vcuda_ioc_claim *claim)
{
	struct vcuda_back_session *s;
	long err = 0;

	if (claim->status >= 0 || claim->status < -MAX_ERRNO)
		return -EINVAL;
	s = find(claim);
	if (!s)
		return -ENOENT;
	/*
	 * vcudad, who alone claims, is in this call: a new one stays so or
	 * dies. One that opens is the next of that number, not yet announced:
	 * control_work still builds it, and alone may end it.
	 */
	switch (READ_ONCE(s->state)) {
	case SESSION_NEW:
		vcuda_session_die(s, claim->status);
		break;
	case SESSION_CLAIMED:
		err = -EBUSY;
		break;
	default:
		err = -ENOENT;
	}
	vcuda_session_put(s);
	return err;
}

static long host_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *p = (void __user *)arg;
	struct vcuda_ioc_claim claim;

	if (cmd == VCUDA_HOST_IOC_NEXT)
		return host_next(p);
	if (cmd != VCUDA_HOST_IOC_CLAIM && cmd != VCUDA_HOST_IOC_REFUSE)
		return -ENOTTY;
	if (copy_from_user(&claim, p, sizeof(claim)))
		return -EFAULT;
	return cmd == VCUDA_HOST_IOC_CLAIM ? host_claim(&claim) :
					     host_refuse(&claim);
}

static __poll_t host_poll(struct file *file, poll_table *wait)
{
	bool ready;

	poll_wait(file, &host.wait, wait);
	spin_lock(&host.lock);
	ready = !list_empty(&host.events);
	spin_unlock(&host.lock);
	return ready ? EPOLLIN | EPOLLRDNORM : 0;
}

static int host_open(struct inode *inode, struct file *file)
{
	int err = 0;

	spin_lock(&host.lock);
	if (host.open)
		err = -EBUSY;
	host.open = true;
	spin_unlock(&host.lock);
	return err;
}

static int find_unclaimed(struct vcuda_back_conn *conn, void *arg)
{
	struct vcuda_back_session **found = arg;
	struct vcuda_back_session *s;

	mutex_lock(&conn->lock);
	list_for_each_entry(s, &conn->sessions, link) {
		if (s->state == SESSION_NEW) {
			vcuda_session_get(s);
			*found = s;
			break;
		}
	}
	mutex_unlock(&conn->lock);
	return *found ? 1 : 0;
}

static int host_release(struct inode *inode, struct file *file)
{
	struct vcuda_back_session *s;

	spin_lock(&host.lock);
	host.open = false;
	spin_unlock(&host.lock);
	while ((s = event_take()))
		vcuda_session_put(s);
	for (;;) {
		s = NULL;
		if (!vcuda_conns_each(find_unclaimed, &s))
			break;
		vcuda_session_die(s, -ESHUTDOWN);
		vcuda_session_put(s);
	}
	return 0;
}

static const struct file_operations host_fops = {
	.owner = THIS_MODULE,
	.open = host_open,
	.poll = host_poll,
	.unlocked_ioctl = host_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = host_release,
};

static struct miscdevice host_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "vcuda-host",
	.fops = &host_fops,
	.mode = 0600,
};

int vcuda_hostdev_register(void)
{
	return misc_register(&host_device);
}

void vcuda_hostdev_unregister(void)
{
	misc_deregister(&host_device);
}
