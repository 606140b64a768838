// SPDX-License-Identifier: GPL-2.0
/* The worker's end of a session, as protocol/ioctl.h describes it. */
#include <linux/anon_inodes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "back.h"

static ssize_t sessionfd_read(struct file *file, char __user *buf, size_t count,
			      loff_t *pos)
{
	struct vcuda_back_session *s = file->private_data;
	u64 events;
	int err;

	if (count < sizeof(events))
		return -EINVAL;
	for (;;) {
		if (vcuda_session_dead(s))
			return -EPIPE;
		events = atomic_xchg(&s->events, 0);
		if (events)
			break;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(s->wait,
					       atomic_read(&s->events) ||
					       vcuda_session_dead(s));
		if (err)
			return err;
	}
	/* The next one only now: a guest cannot send faster than we read. */
	vcuda_bindport_eoi(&s->port, true);
	if (copy_to_user(buf, &events, sizeof(events)))
		return -EFAULT;
	return sizeof(events);
}

static ssize_t sessionfd_write(struct file *file, const char __user *buf,
			       size_t count, loff_t *pos)
{
	struct vcuda_back_session *s = file->private_data;

	if (count < sizeof(u64))
		return -EINVAL;
	if (vcuda_session_dead(s))
		return -EPIPE;
	vcuda_bindport_notify(&s->port);
	atomic64_inc(&s->sent);
	return sizeof(u64);
}

static __poll_t sessionfd_poll(struct file *file, poll_table *wait)
{
	struct vcuda_back_session *s = file->private_data;

	poll_wait(file, &s->wait, wait);
	if (vcuda_session_dead(s))
		return EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	return atomic_read(&s->events) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* The region's mapping, with a reference to the object, and its size. */
static struct vcuda_mapping *mapping_of(struct vcuda_back_session *s, u32 number,
					u64 *bytes)
{
	struct vcuda_mapping *m = NULL;
	struct vcuda_back_region *r;

	if (number >= VCUDA_REGIONS_MAX)
		return NULL;
	mutex_lock(&s->conn->lock);
	r = s->regions[number];
	if (r) {
		m = r->mapping;
		vcuda_mapping_get(m);
		*bytes = (u64)r->pages * VCUDA_PAGE;
	}
	mutex_unlock(&s->conn->lock);
	return m;
}

static int sessionfd_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct vcuda_back_session *s = file->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u32 number = min_t(u64, offset / vcuda_region_offset(1),
			   VCUDA_REGIONS_MAX);
	struct vcuda_mapping *m;
	u64 bytes;
	int err;

	if (offset != vcuda_region_offset(number))
		return -EINVAL;
	m = mapping_of(s, number, &bytes);
	if (!m)
		return vcuda_session_dead(s) ? -EPIPE : -ENOENT;
	err = vcuda_mapping_mmap(m, vma);
	vcuda_mapping_put(m);
	return err;
}

static long region_info(struct vcuda_back_session *s, void __user *arg)
{
	struct vcuda_ioc_region info;
	struct vcuda_mapping *m;
	u64 bytes;

	if (copy_from_user(&info, arg, sizeof(info)))
		return -EFAULT;
	m = mapping_of(s, info.region, &bytes);
	if (!m)
		return -ENOENT;
	vcuda_mapping_put(m);
	info.bytes = bytes;
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

static long counters(struct vcuda_back_session *s, void __user *arg)
{
	struct vcuda_ioc_counters c = {
		.notifications_sent = atomic64_read(&s->sent),
		.notifications_received = atomic64_read(&s->received),
	};
	u32 i;

	mutex_lock(&s->conn->lock);
	for (i = 0; i < VCUDA_REGIONS_MAX; i++)
		if (s->regions[i])
			c.pages += s->regions[i]->pages;
	mutex_unlock(&s->conn->lock);
	return copy_to_user(arg, &c, sizeof(c)) ? -EFAULT : 0;
}

static long sessionfd_ioctl(struct file *file, unsigned int cmd,
			    unsigned long arg)
{
	struct vcuda_back_session *s = file->private_data;
	void __user *p = (void __user *)arg;

	switch (cmd) {
	case VCUDA_IOC_SESSION_INFO:
		return copy_to_user(p, &s->info, sizeof(s->info)) ? -EFAULT : 0;
	case VCUDA_IOC_REGION_INFO:
		return region_info(s, p);
	case VCUDA_IOC_COUNTERS:
		return counters(s, p);
	default:
		return -ENOTTY;
	}
}

static int sessionfd_release(struct inode *inode, struct file *file)
{
	struct vcuda_back_session *s = file->private_data;

	if (!s) /* never armed */
		return 0;
	vcuda_session_die(s, -EPIPE);
	vcuda_session_put(s);
	return 0;
}

static const struct file_operations sessionfd_fops = {
	.owner = THIS_MODULE,
	.read = sessionfd_read,
	.write = sessionfd_write,
	.poll = sessionfd_poll,
	.mmap = sessionfd_mmap,
	.unlocked_ioctl = sessionfd_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = sessionfd_release,
};

struct file *vcuda_sessionfd_create(void)
{
	return anon_inode_getfile("[vcuda-session]", &sessionfd_fops, NULL,
				  O_RDWR);
}

void vcuda_sessionfd_arm(struct file *file, struct vcuda_back_session *s)
{
	vcuda_session_get(s);
	file->private_data = s;
	/* All anonymous files share one inode: a space of its own lets us find
	 * this session's mappings, and no others.
	 */
	s->space.host = file_inode(file);
	s->space.a_ops = &empty_aops;
	file->f_mapping = &s->space;
}
