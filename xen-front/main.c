// SPDX-License-Identifier: GPL-2.0
/*
 * vcuda-front: gives the programs of a guest shared memory with workers in the
 * backend's domain, which make CUDA calls for them.
 */
#include "front.h"

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <xen/page.h>
#include <xen/xen.h>

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
	if (err)
		vcuda_front_chardev_unregister();
	return err;
}
module_init(vcuda_front_init);

static void __exit vcuda_front_exit(void)
{
	/* No file is open any more; this closes the connection, if there is one. */
	vcuda_front_xenbus_unregister();
	vcuda_front_chardev_unregister();
}
module_exit(vcuda_front_exit);

MODULE_DESCRIPTION("CUDA over Xen, the guest's side");
MODULE_AUTHOR("The vcuda authors");
MODULE_LICENSE("GPL");
MODULE_ALIAS("xen:vcuda");
