// SPDX-License-Identifier: GPL-2.0
/* Makes the kernel complain when asked to: what the lab must then notice. */
#include <linux/bug.h>
#include <linux/module.h>

static bool warn;
module_param(warn, bool, 0444);
MODULE_PARM_DESC(warn, "print a WARN on load");

static int __init lab_warn_init(void)
{
	WARN(warn, "lab_warn: as asked\n");
	return 0;
}

static void __exit lab_warn_exit(void)
{
}

module_init(lab_warn_init);
module_exit(lab_warn_exit);

MODULE_DESCRIPTION("Self-test of the lab's log check");
MODULE_LICENSE("GPL");
