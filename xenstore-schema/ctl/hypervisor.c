// SPDX-License-Identifier: Apache-2.0
/* What Xen itself says of a domain: xenstore knows only what toolstacks wrote. */
#include "ctl.h"

#include <errno.h>
#include <string.h>
#include <xenctrl.h>

static const char *state_of(uint32_t flags) {
    if (flags & XEN_DOMINF_dying)
        return "dying";
    if (flags & XEN_DOMINF_shutdown)
        return "shutdown";
    if (flags & XEN_DOMINF_paused)
        return "paused";
    return "running";
}

const char *ctl_domain_state(uint32_t domid) {
    xc_interface *xc = xc_interface_open(NULL, NULL, 0);
    xc_domaininfo_t info;
    int count, err;

    if (!xc) {
        ctl_fail(CTL_FAILED, "Xen cannot be reached (%s): is this dom0? run as root",
                 strerror(errno));
        return NULL;
    }
    /* Gives the first domain from this id on, which may be another one. */
    count = xc_domain_getinfolist(xc, domid, 1, &info);
    err = errno;
    xc_interface_close(xc);
    if (count < 0) {
        ctl_fail(CTL_FAILED, "Xen does not list domains (%s)", strerror(err));
        return NULL;
    }
    return count == 1 && info.domain == domid ? state_of(info.flags) : "gone";
}
