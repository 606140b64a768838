// SPDX-License-Identifier: Apache-2.0
/* What is set for streams: kept and told again, as hints are that mean nothing on the CPU. */
#include "sim.h"

#define SYNC_POLICY_UNSET (-1) /* as NVIDIA's tells */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define LOOK(name, handle, per_thread)                                                             \
    SIM_AUTO struct sim_stream *name = NULL;                                                       \
    CUresult name##_error = sim_stream_look(handle, per_thread, &name);                            \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

void sim_stream_settings_start(struct sim_stream_settings *s) {
    s->sync_policy = SYNC_POLICY_UNSET;
    s->domain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    s->domain_map = (CUlaunchMemSyncDomainMap){.default_ = 0, .remote = 1};
}

bool sim_good_window(const CUaccessPolicyWindow *w) {
    return w->hitRatio >= 0 && w->hitRatio <= 1 &&
           (unsigned)w->hitProp <= CU_ACCESS_PROPERTY_PERSISTING &&
           (unsigned)w->missProp <= CU_ACCESS_PROPERTY_STREAMING;
}

static CUresult set(struct sim_stream *stream, CUstreamAttrID attr, const CUstreamAttrValue *v) {
    struct sim_stream_settings *s = &stream->settings;

    switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        if (!sim_good_window(&v->accessPolicyWindow))
            return CUDA_ERROR_INVALID_VALUE;
        s->window = v->accessPolicyWindow;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (v->syncPolicy < CU_SYNC_POLICY_AUTO || v->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            return CUDA_ERROR_INVALID_VALUE;
        s->sync_policy = (int)v->syncPolicy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = sim_clamp_priority(v->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        if (v->memSyncDomainMap.default_ >= SIM_SYNC_DOMAINS ||
            v->memSyncDomainMap.remote >= SIM_SYNC_DOMAINS)
            return CUDA_ERROR_INVALID_VALUE;
        s->domain_map = v->memSyncDomainMap;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if ((unsigned)v->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return CUDA_ERROR_INVALID_VALUE;
        s->domain = v->memSyncDomain;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get(const struct sim_stream *stream, CUstreamAttrID attr, CUstreamAttrValue *v) {
    const struct sim_stream_settings *s = &stream->settings;

    switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        v->accessPolicyWindow = s->window;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        v->syncPolicy = (CUsynchronizationPolicy)s->sync_policy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        v->priority = stream->priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        v->memSyncDomainMap = s->domain_map;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        v->memSyncDomain = s->domain;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get_attribute(CUstream handle, bool per_thread, CUstreamAttrID attr,
                              CUstreamAttrValue *value) {
    CUresult result;
    LOOK(stream, handle, per_thread);

    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    result = get(stream, attr, value);
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult set_attribute(CUstream handle, bool per_thread, CUstreamAttrID attr,
                              const CUstreamAttrValue *value) {
    CUresult result;
    LOOK(stream, handle, per_thread);

    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    result = set(stream, attr, value);
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult copy_attributes(CUstream to, CUstream from, bool per_thread) {
    LOOK(target, to, per_thread);
    LOOK(source, from, per_thread);

    pthread_mutex_lock(&lock);
    target->settings = source->settings;
    target->priority = source->priority;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value) {
    return get_attribute(hStream, false, attr, value);
}

CUresult cuStreamGetAttribute_ptsz(CUstream hStream, CUstreamAttrID attr,
                                   CUstreamAttrValue *value) {
    return get_attribute(hStream, true, attr, value);
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                              const CUstreamAttrValue *param) {
    return set_attribute(hStream, false, attr, param);
}

CUresult cuStreamSetAttribute_ptsz(CUstream hStream, CUstreamAttrID attr,
                                   const CUstreamAttrValue *param) {
    return set_attribute(hStream, true, attr, param);
}

CUresult cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream) {
    return copy_attributes(dstStream, srcStream, false);
}

CUresult cuStreamCopyAttributes_ptsz(CUstream dstStream, CUstream srcStream) {
    return copy_attributes(dstStream, srcStream, true);
}
