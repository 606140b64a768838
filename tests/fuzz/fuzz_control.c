// SPDX-License-Identifier: Apache-2.0
/* libFuzzer: a request that passes the check makes sense in every number. */
#include <stdint.h>
#include <string.h>

#include "control.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct vcuda_ctl c = {.len = sizeof(c)};

    memcpy((uint8_t *)&c + 4, data, size < sizeof(c) - 4 ? size : sizeof(c) - 4);
    if (vcuda_ctl_check_request(&c))
        return 0;
    require(c.op >= VCUDA_CTL_OPEN && c.op <= VCUDA_CTL_CLOSE);
    if (c.op == VCUDA_CTL_OPEN) {
        require(vcuda_ring_size_ok(c.sub_bytes) && vcuda_ring_size_ok(c.cmp_bytes));
        require((uint64_t)c.pages * VCUDA_PAGE == vcuda_rings_bytes(c.sub_bytes, c.cmp_bytes));
    }
    if (c.op == VCUDA_CTL_REGION_ADD || c.op == VCUDA_CTL_REGION_DEL)
        require(c.region > 0 && c.region < VCUDA_REGIONS_MAX);
    if (c.op == VCUDA_CTL_REGION_ADD) {
        require(c.pages > 0 && c.pages <= VCUDA_REGION_PAGES_MAX);
        require((uint64_t)vcuda_directory_pages(c.pages) * VCUDA_DIRECTORY_REFS >= c.pages);
    }
    return 0;
}
