// SPDX-License-Identifier: Apache-2.0
/* Multiprocessors as resources: told, split and joined. */
#include <stdlib.h>
#include <string.h>

#include "green.h"

/* As on Hopper: those that clusters need side by side. */
#define GROUP 8
#define GROUP_ALONE 2 /* for whom they need not be */

struct desc {
    struct sim_object object;
    struct sim_share share;
};

_Static_assert(sizeof(struct sim_share) <= sizeof(((CUdevResource *)0)->_internal_padding), "room");

static bool has(const struct sim_share *s, unsigned i) {
    return s->bits[i / 64] >> (i % 64) & 1;
}

static void add(struct sim_share *s, unsigned i) {
    s->bits[i / 64] |= (uint64_t)1 << (i % 64);
}

struct sim_share sim_share_all(const struct sim_device *device) {
    struct sim_share all = {.device = device->ordinal};

    for (unsigned i = 0; i < SIM_SM_COUNT; i++)
        add(&all, i);
    return all;
}

unsigned sim_share_count(const struct sim_share *s) {
    unsigned count = 0;

    for (unsigned i = 0; i < SIM_SM_COUNT; i++)
        count += has(s, i);
    return count;
}

CUresult sim_share_tell(const struct sim_share *s, CUdevResourceType type, CUdevResource *out) {
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    memset(out, 0, sizeof(*out));
    out->type = type;
    out->sm.smCount = sim_share_count(s);
    out->sm.minSmPartitionSize = GROUP;
    out->sm.smCoscheduledAlignment = GROUP;
    memcpy(out->_internal_padding, s, sizeof(*s));
    return CUDA_SUCCESS;
}

/* What a program passes back, which may have been changed. */
static bool read_share(const CUdevResource *r, struct sim_share *s) {
    memcpy(s, r->_internal_padding, sizeof(*s));
    return r->type == CU_DEV_RESOURCE_TYPE_SM && sim_device(s->device) && sim_share_count(s);
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type) {
    struct sim_share all;
    SIM_READY();

    if (!sim_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!resource)
        return CUDA_ERROR_INVALID_VALUE;
    all = sim_share_all(sim_device(device));
    return sim_share_tell(&all, type, resource);
}

/* Takes so many out of `from`. */
static struct sim_share take(struct sim_share *from, unsigned count) {
    struct sim_share part = {.device = from->device};

    for (unsigned i = 0; i < SIM_SM_COUNT && count; i++) {
        if (!has(from, i))
            continue;
        add(&part, i);
        from->bits[i / 64] &= ~((uint64_t)1 << (i % 64));
        count--;
    }
    return part;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int useFlags, unsigned int minCount) {
    unsigned unit =
        useFlags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING ? GROUP_ALONE : GROUP;
    struct sim_share rest, part;
    unsigned each, most;
    SIM_READY();

    if (!nbGroups || !input || !read_share(input, &rest))
        return CUDA_ERROR_INVALID_VALUE;
    if (minCount > sim_share_count(&rest))
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    each = minCount ? (minCount + unit - 1) / unit * unit : unit;
    most = sim_share_count(&rest) / each;
    if (!most)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (!result || *nbGroups > most)
        *nbGroups = most;
    for (unsigned i = 0; result && i < *nbGroups; i++) {
        part = take(&rest, each);
        sim_share_tell(&part, CU_DEV_RESOURCE_TYPE_SM, &result[i]);
    }
    if (result && remaining)
        sim_share_tell(&rest, CU_DEV_RESOURCE_TYPE_SM, remaining);
    return CUDA_SUCCESS;
}

static void destroy_desc(struct sim_object *object) {
    free(object);
}

/* Nothing ends one: it is as long as the process. */
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                                   unsigned int nbResources) {
    struct sim_share all = {0}, part;
    struct desc *desc;
    SIM_READY();

    if (!phDesc || !resources || !nbResources)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < nbResources; i++) {
        if (!read_share(&resources[i], &part))
            return CUDA_ERROR_INVALID_RESOURCE_TYPE;
        if (i && part.device != all.device)
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        for (unsigned b = 0; b < sizeof(all.bits) / sizeof(all.bits[0]); b++) {
            if (all.bits[b] & part.bits[b])
                return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
            all.bits[b] |= part.bits[b];
        }
        all.device = part.device;
    }
    desc = calloc(1, sizeof(*desc));
    if (!desc)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&desc->object, SIM_DESC, destroy_desc);
    desc->share = all;
    if (!sim_handle_open(&desc->object)) {
        sim_put(desc);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phDesc = SIM_HANDLE(desc);
    sim_put(desc); /* its handle holds it */
    return CUDA_SUCCESS;
}

CUresult sim_share_of_desc(CUdevResourceDesc handle, struct sim_share *share) {
    SIM_AUTO struct desc *desc = sim_handle_get(handle, SIM_DESC);

    if (!desc)
        return CUDA_ERROR_INVALID_VALUE;
    *share = desc->share;
    return CUDA_SUCCESS;
}
