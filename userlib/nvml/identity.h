/* SPDX-License-Identifier: Apache-2.0 */
/* How devices are written. */
#ifndef VCUDA_NVML_IDENTITY_H
#define VCUDA_NVML_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "nvml_types.h"

struct pci_place {
    unsigned int domain, bus, device, function;
};

/*
 * Reads domain:bus:device.function, domain:bus:device or bus:device.function, hexadecimal: false
 * for anything else.
 */
bool identity_place(const char *text, struct pci_place *place);

/* "GPU-" and the UUID's digits. */
void identity_uuid(nvmlDevice_t device, char *text, size_t size);

#endif
