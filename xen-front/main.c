// SPDX-License-Identifier: GPL-2.0
/*
 * vcuda-front: gives the programs of a guest shared memory with workers in the
 * backend's domain, which make CUDA calls for them.
 */
#include "front.h"

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <xen/page.h>
#include <xen/xen-ops.h>
#include <xen/xen.h>

/*
 * After a restore, or a save that was cancelled. Here and not in the driver's
 * resume, which xenbus does not call when the new host has no device yet: the
 * programs learn of their sessions' death all the same.
 */
static int guest_resumes(struct notifier_block *nb, unsigned long action,
			 void *data)
{
	struct vcuda_front_conn *conn = vcuda_front_chardev_conn();

	if (conn) {
		vcuda_front_conn_resume(conn);
		vcuda_front_conn_put(conn);
	}
	return NOTIFY_OK;
}

static struct notifier_block resume_notifier = {
	.notifier_call = guest_resumes,
};

static int __init vcuda_front_init(void)
{
	int err;

	BUILD_BUG_ON(PAGE_SIZE != VCUDA_PAGE || PAGE_SIZE != XEN_PAGE_SIZE);
	BUILD_BUG_ON(sizeof(struct vcuda_ctl) != 64);
	BUILD_BUG_ON(sizeof(struct vcuda_directory) != PAGE_SIZE);

	if (!xen_domain())
		return -ENODEV;
	err = vcuda_front_chardev_register();
	if (err)
		return err;
	err = vcuda_front_xenbus_register();
	if (err) {
		vcuda_front_chardev_unregister();
		return err;
	}
	xen_resume_notifier_register(&resume_notifier);
	return 0;
}
module_init(vcuda_front_init);

static void __exit vcuda_front_exit(void)
{
	xen_resume_notifier_unregister(&resume_notifier);
	/* No file is open any more; this closes the connection, if there is one. */
	vcuda_front_xenbus_unregister();
	vcuda_front_chardev_unregister();
}
module_exit(vcuda_front_exit);

MODULE_DESCRIPTION("CUDA over Xen, the guest's side");
MODULE_AUTHOR("The vcuda authors");
MODULE_LICENSE("GPL");
MODULE_ALIAS("xen:vcuda");
