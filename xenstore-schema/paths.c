// SPDX-License-Identifier: Apache-2.0
/* Where each node of a vcuda device lives. A domain has one device: number 0. */
#include "schema.h"

#include <stdio.h>

/* VCUDA_PATH_MAX holds the longest folder and any node name of the schema. */
static struct vcuda_path join(const char *format, uint32_t domid, const char *node) {
    struct vcuda_path path;
    int len = snprintf(path.s, sizeof(path.s), format, domid);

    if (node)
        snprintf(path.s + len, sizeof(path.s) - (size_t)len, "/%s", node);
    return path;
}

struct vcuda_path vcuda_path_back(uint32_t domid, const char *node) {
    return join("/local/domain/0/backend/vcuda/%u/0", domid, node);
}

struct vcuda_path vcuda_path_front(uint32_t domid, const char *node) {
    return join("/local/domain/%u/device/vcuda/0", domid, node);
}

struct vcuda_path vcuda_path_dom0(uint32_t domid, const char *node) {
    return join("/local/domain/0/vcuda/domain/%u", domid, node);
}

struct vcuda_path vcuda_path_name(uint32_t domid) {
    return join("/local/domain/%u", domid, "name");
}
