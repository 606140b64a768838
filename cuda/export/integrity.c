// SPDX-License-Identifier: Apache-2.0
/*
 * A digest by which NVIDIA's runtime and driver make sure of each other. It is over numbers that
 * only the program's own process has, so it is computed here; what goes into it is public, in the
 * open description by the ZLUDA project. The driver that does the work is the genuine one.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cuda_calls.h"
#include "export/md2.h"
#include "export/tables.h"

static const uint8_t key[MD2_BYTES] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                                       0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};

/* The message's first part, in this order. */
struct about_process {
    uint32_t driver_version;
    uint32_t version;
    uint32_t pid;
    uint32_t thread; /* low half of its pthread_t */
    const void *interface_table;
    const void *integrity_table;
    const void *function;
    uint64_t seconds;
};

/* Then one of these for each device. */
struct about_device {
    CUuuid uuid;
    int32_t pci[3]; /* domain, bus, device */
};

static CUresult add_devices(struct md2 *m) {
    static const CUdevice_attribute pci[] = {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
                                             CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
                                             CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID};
    int count = 0;
    CUresult r = cuDeviceGetCount(&count);

    for (int dev = 0; dev < count && r == CUDA_SUCCESS; dev++) {
        struct about_device d;

        r = cuDeviceGetUuid_v2(&d.uuid, dev);
        for (int i = 0; i < 3 && r == CUDA_SUCCESS; i++)
            r = cuDeviceGetAttribute(&d.pci[i], pci[i], dev);
        md2_add(m, &d, sizeof(d));
    }
    return r;
}

/* Versions that end in 0 or 1 want a constant. */
static CUresult integrity_check(uint32_t version, uint64_t seconds, uint64_t result[2]) {
    struct about_process p = {
        .version = version,
        .pid = (uint32_t)getpid(),
        .thread = (uint32_t)pthread_self(),
        .interface_table = export_cudart_interface,
        .integrity_table = export_integrity_check,
        .function = export_integrity_check[1],
        .seconds = seconds,
    };
    struct md2 m;
    CUresult r;

    if (!result)
        return CUDA_ERROR_INVALID_VALUE;
    if (version % 10 < 2) {
        result[0] = version % 10 ? 0x1841181c03cb675cu : 0x3341181c03cb675cu;
        result[1] = 0x8ed383aa1f4cd1e8u;
        return CUDA_SUCCESS;
    }
    cuDriverGetVersion((int *)&p.driver_version);
    md2_hmac_start(&m, key);
    md2_add(&m, &p, sizeof(p));
    r = add_devices(&m);
    if (r == CUDA_SUCCESS)
        md2_hmac_end(&m, key, (uint8_t *)result);
    return r;
}

const void *const export_integrity_check[3] = {
    [0] = EXPORT_SIZE(3),
    [1] = (const void *)integrity_check,
    [2] = EXPORT_REFUSED,
};
