// SPDX-License-Identifier: Apache-2.0
#include "whose.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "ranges.h"
#include "vmm.h"

bool whose_known_device(uint64_t address) {
    struct range range;

    return ranges_find(address, 1, &range) || vmm_reserved(address);
}

static bool mapped(uint64_t address) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;

    return !mincore((void *)(address & ~(page - 1)), 1, &resident) || errno != ENOMEM;
}

bool whose_device(uint64_t address) {
    return whose_known_device(address) ||
           (!arena_holds((const void *)address, 1) && !mapped(address));
}
