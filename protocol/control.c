// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "control.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

static int check_open(const struct vcuda_ctl *c)
{
	if (!vcuda_ring_size_ok(c->sub_bytes) ||
	    !vcuda_ring_size_ok(c->cmp_bytes))
		return -EINVAL;
	if (c->pages !=
	    vcuda_rings_bytes(c->sub_bytes, c->cmp_bytes) / VCUDA_PAGE)
		return -EINVAL;
	return 0;
}

static int check_region(const struct vcuda_ctl *c)
{
	return c->region && c->region < VCUDA_REGIONS_MAX ? 0 : -EINVAL;
}

int vcuda_ctl_check_request(const struct vcuda_ctl *c)
{
	if (c->len != sizeof(*c))
		return -EINVAL;
	switch (c->op) {
	case VCUDA_CTL_OPEN:
		return check_open(c);
	case VCUDA_CTL_REGION_ADD:
		if (!c->pages || c->pages > VCUDA_REGION_PAGES_MAX)
			return -EINVAL;
		return check_region(c);
	case VCUDA_CTL_REGION_DEL:
		return check_region(c);
	case VCUDA_CTL_CLOSE:
		return 0;
	default:
		return -EINVAL;
	}
}
