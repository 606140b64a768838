// SPDX-License-Identifier: Apache-2.0
#include "xen.h"
#include "log.h"

#include <errno.h>

bool xen_built_in(void) {
    return false;
}

int xen_start(const struct options *options, struct pool *pool) {
    (void)pool;
    if (options->xen != ON)
        return 0;
    vcuda_log(VCUDA_LOG_ERROR, "--xen on: this vcudad was built without libxenstore; "
                               "install Xen's development files (Debian: libxen-dev) and rebuild");
    return -ENOTSUP;
}

void xen_reload(void) {
}

void xen_stop(void) {
}

const char *xen_state(void) {
    return "built without libxenstore";
}

bool xen_publish(uint32_t domid, uint32_t sessions, uint64_t pages, uint64_t gpu_memory) {
    (void)gpu_memory;
    (void)domid;
    (void)sessions;
    (void)pages;
    return true;
}
