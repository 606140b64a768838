// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/vcuda: what programs see, as protocol/ioctl.h defines it. One open file
 * is one session.
 */
#include "front.h"

#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

/* The connection that new sessions join: the device's link to the guest. */
static DEFINE_SPINLOCK(attached_lock);
static struct vcuda_front_conn *attached;

struct front_file {
	struct mutex lock; /* guards what follows */
	/*
	 * Once there is one it stays until release, even when its OPEN is
	 * refused: who polls the file has entries in its wait queue, and holds
	 * the file alone.
	 */
	struct vcuda_front_session *session;
	struct vcuda_ioc_open asked;	/* what session was opened with */
	bool told;			/* the program has OPEN's answer */
};

int vcuda_front_chardev_attach(struct vcuda_front_conn *conn)
{
	int err = -EBUSY;

	spin_lock(&attached_lock);
	if (!attached) {
		attached = vcuda_front_conn_get(conn);
		err = 0;
	}
	spin_unlock(&attached_lock);
	return err;
}

void vcuda_front_chardev_detach(struct vcuda_front_conn *conn)
{
	bool was_attached;

	spin_lock(&attached_lock);
	was_attached = attached == conn;
	if (was_attached)
		attached = NULL;
	spin_unlock(&attached_lock);
	if (was_attached)
		vcuda_front_conn_put(conn);
}

struct vcuda_front_conn *vcuda_front_chardev_conn(void)
{
	struct vcuda_front_conn *conn = NULL;

	spin_lock(&attached_lock);
	if (attached)
		conn = vcuda_front_conn_get(attached);
	spin_unlock(&attached_lock);
	return conn;
}

/* The file's session with a reference, or NULL. */
static struct vcuda_front_session *file_session(struct file *filp)
{
	struct front_file *file = filp->private_data;
	struct vcuda_front_session *session;

	mutex_lock(&file->lock);
	session = file->session;
	if (session)
		vcuda_front_session_get(session);
	mutex_unlock(&file->lock);
	return session;
}

static int front_open(struct inode *inode, struct file *filp)
{
	struct front_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return -ENOMEM;
	mutex_init(&file->lock);
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

static int front_release(struct inode *inode, struct file *filp)
{
	struct front_file *file = filp->private_data;

	if (file->session)
		vcuda_front_session_close(file->session);
	mutex_destroy(&file->lock);
	kfree(file);
	return 0;
}

static bool same_open(const struct vcuda_ioc_open *a,
		      const struct vcuda_ioc_open *b)
{
	return a->version == b->version && a->features == b->features &&
	       a->sub_bytes == b->sub_bytes && a->cmp_bytes == b->cmp_bytes;
}

static struct vcuda_front_session *new_session(const struct vcuda_ioc_open *open)
{
	struct vcuda_front_conn *conn = vcuda_front_chardev_conn();
	struct vcuda_front_session *session;

	if (!conn)
		return ERR_PTR(-ENODEV);
	session = vcuda_front_session_open(conn, open);
	vcuda_front_conn_put(conn);
	return session;
}

/*
 * The session to wait for, with a reference: a new one, or that of an OPEN
 * which a signal interrupted, when it is asked for again.
 */
static struct vcuda_front_session *
session_to_open(struct front_file *file, const struct vcuda_ioc_open *open)
{
	struct vcuda_front_session *session;

	mutex_lock(&file->lock);
	if (!file->session) {
		session = new_session(open);
		if (IS_ERR(session))
			goto unlock;
		file->session = session;
		file->asked = *open;
	} else if (!file->told && same_open(&file->asked, open)) {
		session = file->session;
	} else {
		session = ERR_PTR(-EBUSY);
		goto unlock;
	}
	vcuda_front_session_get(session);
unlock:
	mutex_unlock(&file->lock);
	return session;
}

static long ioc_open(struct front_file *file, void __user *arg)
{
	struct vcuda_front_session *session;
	struct vcuda_ioc_open open;
	long err;

	if (copy_from_user(&open, arg, sizeof(open)))
		return -EFAULT;
	session = session_to_open(file, &open);
	if (IS_ERR(session))
		return PTR_ERR(session);
	err = vcuda_front_session_wait_open(session);
	if (err != -ERESTARTSYS) {
		mutex_lock(&file->lock);
		file->told = true;
		mutex_unlock(&file->lock);
	}
	open.session = session->id;
	open.domid = 0;
	vcuda_front_session_put(session);
	if (!err && copy_to_user(arg, &open, sizeof(open)))
		return -EFAULT;
	return err;
}

static long ioc_region_add(struct vcuda_front_session *session,
			   void __user *arg)
{
	struct vcuda_ioc_region region;
	long err;

	if (copy_from_user(&region, arg, sizeof(region)))
		return -EFAULT;
	err = vcuda_front_region_add(session, region.bytes, &region.region);
	if (!err && copy_to_user(arg, &region, sizeof(region)))
		return -EFAULT;
	return err;
}

static long ioc_region_del(struct vcuda_front_session *session,
			   void __user *arg)
{
	struct vcuda_ioc_region region;

	if (copy_from_user(&region, arg, sizeof(region)))
		return -EFAULT;
	return vcuda_front_region_del(session, region.region);
}

static long ioc_counters(struct vcuda_front_session *session, void __user *arg)
{
	struct vcuda_ioc_counters counters;

	vcuda_front_session_counters(session, &counters);
	return copy_to_user(arg, &counters, sizeof(counters)) ? -EFAULT : 0;
}

static long session_ioctl(struct vcuda_front_session *session, unsigned int cmd,
			  void __user *arg)
{
	switch (cmd) {
	case VCUDA_IOC_REGION_ADD:
		return ioc_region_add(session, arg);
	case VCUDA_IOC_REGION_DEL:
		return ioc_region_del(session, arg);
	case VCUDA_IOC_COUNTERS:
		return ioc_counters(session, arg);
	default:
		return -ENOTTY;
	}
}

static long front_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct vcuda_front_session *session;
	long ret;

	if (cmd == VCUDA_IOC_OPEN)
		return ioc_open(filp->private_data, (void __user *)arg);
	session = file_session(filp);
	if (!session)
		return -ENOTCONN;
	ret = session_ioctl(session, cmd, (void __user *)arg);
	vcuda_front_session_put(session);
	return ret;
}

static ssize_t front_read(struct file *filp, char __user *buf, size_t count,
			  loff_t *pos)
{
	struct vcuda_front_session *session;
	u64 events;
	int err;

	if (count < sizeof(events))
		return -EINVAL;
	session = file_session(filp);
	if (!session)
		return -ENOTCONN;
	err = vcuda_front_session_take_events(session,
					      filp->f_flags & O_NONBLOCK,
					      &events);
	vcuda_front_session_put(session);
	if (err)
		return err;
	return put_user(events, (u64 __user *)buf) ? -EFAULT : sizeof(events);
}

static ssize_t front_write(struct file *filp, const char __user *buf,
			   size_t count, loff_t *pos)
{
	struct vcuda_front_session *session;
	int err;

	if (count != sizeof(u64))
		return -EINVAL;
	session = file_session(filp);
	if (!session)
		return -ENOTCONN;
	err = vcuda_front_session_notify(session);
	vcuda_front_session_put(session);
	return err ?: (ssize_t)count;
}

static __poll_t front_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct vcuda_front_session *session = file_session(filp);
	__poll_t mask = 0;

	if (!session)
		return EPOLLERR;
	/* The file keeps the session, and is kept by whoever waits here. */
	poll_wait(filp, &session->wait, wait);
	if (vcuda_front_session_dead(session))
		mask = EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	else if (atomic_read(&session->events))
		mask = EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM;
	else
		mask = EPOLLOUT | EPOLLWRNORM;
	vcuda_front_session_put(session);
	return mask;
}

static int front_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct vcuda_front_session *session;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 region = offset / vcuda_region_offset(1);
	int err;

	if (region >= VCUDA_REGIONS_MAX || offset != vcuda_region_offset(region))
		return -EINVAL;
	session = file_session(filp);
	if (!session)
		return -ENOTCONN;
	err = vcuda_front_region_map(session, region, vma);
	vcuda_front_session_put(session);
	return err;
}

static const struct file_operations front_fops = {
	.owner = THIS_MODULE,
	.open = front_open,
	.release = front_release,
	.unlocked_ioctl = front_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = front_read,
	.write = front_write,
	.poll = front_poll,
	.mmap = front_mmap,
};

static struct miscdevice front_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "vcuda",
	.mode = 0666,
	.fops = &front_fops,
};

int vcuda_front_chardev_register(void)
{
	return misc_register(&front_misc);
}

void vcuda_front_chardev_unregister(void)
{
	misc_deregister(&front_misc);
}
