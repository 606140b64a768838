// SPDX-License-Identifier: Apache-2.0
#include "addresses.h"

#include "worker.h"

static bool reaches_ours;

void addresses_start(struct worker *w) {
    for (int i = 0; i < w->gpu_count; i++) {
        CUdevice device;
        int value = 0;

        if (worker_device(w, i, &device) == CUDA_SUCCESS &&
            w->driver.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                           device) == CUDA_SUCCESS &&
            value)
            reaches_ours = true;
    }
}

/* How many bytes from `address` on are the driver's; 0: none. */
static uint64_t known_from(struct worker *w, uint64_t address) {
    unsigned int type = 0;
    CUdeviceptr start = 0;
    size_t size = 0;

    if (w->driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
            CUDA_SUCCESS ||
        !type)
        return 0;
    if (w->driver.cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) !=
            CUDA_SUCCESS ||
        w->driver.cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) !=
            CUDA_SUCCESS ||
        address - start >= size)
        return 0;
    return size - (address - start);
}

bool addresses_ok(struct worker *w, uint64_t address, uint64_t bytes) {
    if (!reaches_ours || regions_hold(w, address, bytes))
        return true;
    while (bytes) {
        uint64_t known = known_from(w, address);

        if (!known)
            return false;
        if (known >= bytes)
            return true;
        address += known;
        bytes -= known;
    }
    return true;
}

bool addresses_rows_ok(struct worker *w, uint64_t address, uint64_t pitch, uint64_t width,
                       uint64_t rows) {
    const struct vcuda_copy3d c = {.width = width, .rows = rows, .slices = 1};
    const struct vcuda_place p = {.base = address, .pitch = pitch};

    return addresses_place_ok(w, &c, &p);
}

bool addresses_place_ok(struct worker *w, const struct vcuda_copy3d *c,
                        const struct vcuda_place *p) {
    __u64 first, bytes;

    if (!reaches_ours || !c->width || !c->rows || !c->slices)
        return true;
    bytes = vcuda_place_span(c, p, &first);
    return bytes && addresses_ok(w, first, bytes);
}

bool addresses_operations_ok(struct worker *w, const CUstreamBatchMemOpParams *ops, size_t count) {
    bool ok = true;

    for (size_t i = 0; i < count && ok; i++) {
        switch (ops[i].operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            ok = addresses_ok(w, ops[i].waitValue.address, sizeof(uint32_t));
            break;
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            ok = addresses_ok(w, ops[i].waitValue.address, sizeof(uint64_t));
            break;
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        case CU_STREAM_MEM_OP_BARRIER:
            break;
        default: /* one that came later may have an address anywhere */
            ok = !reaches_ours;
        }
    }
    return ok;
}
