// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <xen/xen.h>

#include "back.h"

struct workqueue_struct *vcuda_back_wq;

static int __init vcuda_back_init(void)
{
	int err;

	if (!xen_domain())
		return -ENODEV;
	/* Unbound: mapping and unmapping many pages takes a while. */
	vcuda_back_wq = alloc_workqueue("vcuda-back", WQ_UNBOUND, 0);
	if (!vcuda_back_wq)
		return -ENOMEM;
	err = vcuda_hostdev_register();
	if (err)
		goto out_wq;
	err = vcuda_xenbus_register();
	if (err)
		goto out_hostdev;
	return 0;

out_hostdev:
	vcuda_hostdev_unregister();
out_wq:
	destroy_workqueue(vcuda_back_wq);
	return err;
}

static void __exit vcuda_back_exit(void)
{
	vcuda_xenbus_unregister();
	vcuda_hostdev_unregister();
	/* No descriptor is open and no page that a process ever had is mapped
	 * (both hold the module), so that what is left ends by itself.
	 */
	vcuda_conns_wait();
	destroy_workqueue(vcuda_back_wq);
}

module_init(vcuda_back_init);
module_exit(vcuda_back_exit);

MODULE_DESCRIPTION("vcuda: GPUs for Xen guests, backend");
MODULE_LICENSE("GPL");
MODULE_ALIAS("xen-backend:vcuda");
