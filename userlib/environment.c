// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool environment_launch_blocking;

void environment_read(void) {
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");

    environment_launch_blocking = blocking && atoi(blocking) != 0;
}

/* All devices: as the driver has them, or as they stand on the bus. False: no such order. */
static bool all_devices(const struct vcuda_device_info *devices, int count, uint32_t *order) {
    const char *wish = getenv("CUDA_DEVICE_ORDER");
    bool by_bus = wish && !strcmp(wish, "PCI_BUS_ID");

    for (int i = 0; i < count; i++) {
        int at = i;

        for (; by_bus && at &&
               strcasecmp(devices[order[at - 1]].pci_bus_id, devices[i].pci_bus_id) > 0;
             at--)
            order[at] = order[at - 1];
        order[at] = (uint32_t)i;
    }
    return !wish || by_bus || !strcmp(wish, "FASTEST_FIRST");
}

/* "GPU-" and the UUID as nvidia-smi prints it. */
static void print_uuid(const uint8_t *uuid, char text[48]) {
    char *at = text + sprintf(text, "GPU-");

    for (int i = 0; i < 16; i++)
        at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

/* The device whose UUID begins so, if it is the only one; -1 else. */
static int by_uuid(const char *entry, size_t length, const struct vcuda_device_info *devices,
                   const uint32_t *all, int count) {
    int found = -1;

    for (int i = 0; i < count; i++) {
        char text[48];

        print_uuid(devices[all[i]].uuid, text);
        if (strncasecmp(text, entry, length))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* What one entry of the list means, as a place in `all`; -1: nothing. */
static int read_entry(const char *entry, const char *end, const struct vcuda_device_info *devices,
                      const uint32_t *all, int count) {
    char *after;
    long index;

    while (entry < end && *entry == ' ')
        entry++;
    while (end > entry && end[-1] == ' ')
        end--;
    if (end - entry > 4 && !strncasecmp(entry, "GPU-", 4))
        return by_uuid(entry, (size_t)(end - entry), devices, all, count);
    index = strtol(entry, &after, 10); /* what follows the number is not looked at */
    return after != entry && index >= 0 && index < count ? (int)index : -1;
}

CUresult environment_devices(const struct vcuda_device_info *devices, int count,
                             uint32_t order[VCUDA_DEVICES_MAX], int *visible) {
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    uint32_t all[VCUDA_DEVICES_MAX], seen = 0;

    if (!all_devices(devices, count, all))
        return CUDA_ERROR_INVALID_DEVICE;
    *visible = 0;
    if (!list) {
        memcpy(order, all, (size_t)count * sizeof(all[0]));
        *visible = count;
        return CUDA_SUCCESS;
    }
    for (const char *end; *list; list = *end ? end + 1 : end) {
        int place;

        end = strchrnul(list, ',');
        place = read_entry(list, end, devices, all, count);
        if (place < 0) /* it ends the list */
            break;
        if (seen & 1u << place)
            return CUDA_ERROR_INVALID_DEVICE;
        seen |= 1u << place;
        order[(*visible)++] = all[place];
    }
    return *visible ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
