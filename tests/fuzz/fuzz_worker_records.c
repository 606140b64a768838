// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer: the worker takes records that a hostile guest wrote. The input is
 * the submission ring's content; it runs through the worker's own executor,
 * decoders and tables, over a driver that reads and writes all that it may.
 */
#include <errno.h>
#include <sys/mman.h>

/* The executor without its endless loop, and what keeps launches, which each input begins without.
 */
#include "../../helper/worker/bundle.c"
#include "../../helper/worker/serve.c"

#include "../../helper/worker/tests/objects_free.h"
#include "require.h"
#include "version.h"

#define MAPPED_MAX (1u << 20)
#define PTX                                                                                        \
    "\n.version 8.0\n.target sm_70\n.address_size 64\n"                                            \
    ".global .attribute(.managed) .u32 x;\n.visible .entry k() { ret; }\n"

/* ---- the driver: touches every byte that a real one would ---- */

static uint64_t next_object = 0x1000;
static volatile uint8_t sink;

static CUresult accept_call(void) {
    return CUDA_SUCCESS;
}

static void read_all(const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        sink = ((const uint8_t *)data)[i];
}

static void *new_object(void) {
    return (void *)(next_object += 16);
}

static CUresult device_get(CUdevice *device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}

static CUresult device_name(char *name, int room, CUdevice device) {
    (void)device;
    memset(name, 'x', (size_t)room);
    name[room - 1] = 0;
    return CUDA_SUCCESS;
}

static CUresult primary_retain(CUcontext *context, CUdevice device) {
    (void)device;
    *context = new_object();
    return CUDA_SUCCESS;
}

static CUresult context_create(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
                               CUdevice device) {
    (void)params;
    (void)flags;
    return primary_retain(context, device);
}

static CUresult copy_in(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream) {
    (void)dst;
    (void)stream;
    read_all(src, bytes);
    return CUDA_SUCCESS;
}

static CUresult copy_out(void *dst, CUdeviceptr src, size_t bytes, CUstream stream) {
    (void)src;
    (void)stream;
    memset(dst, 0, bytes);
    return CUDA_SUCCESS;
}

/* Rows of one side of a copy, if they are the host's. */
static void touch_rows(CUmemorytype type, const void *host, uint64_t at, size_t pitch, size_t width,
                       size_t rows) {
    for (size_t y = 0; type == CU_MEMORYTYPE_HOST && width && y < rows; y++)
        read_all((const char *)host + at + y * pitch, width);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream) {
    (void)stream;
    touch_rows(c->srcMemoryType, c->srcHost, c->srcXInBytes + c->srcY * c->srcPitch, c->srcPitch,
               c->WidthInBytes, c->Height);
    touch_rows(c->dstMemoryType, c->dstHost, c->dstXInBytes + c->dstY * c->dstPitch, c->dstPitch,
               c->WidthInBytes, c->Height);
    return CUDA_SUCCESS;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream) {
    (void)stream;
    /* Of what touches none of ours there may be any number. */
    if (!c->WidthInBytes || !c->Height ||
        (c->srcMemoryType != CU_MEMORYTYPE_HOST && c->dstMemoryType != CU_MEMORYTYPE_HOST))
        return CUDA_SUCCESS;
    for (size_t z = 0; z < c->Depth; z++) {
        touch_rows(c->srcMemoryType, c->srcHost,
                   c->srcXInBytes + c->srcPitch * (c->srcY + c->srcHeight * (c->srcZ + z)),
                   c->srcPitch, c->WidthInBytes, c->Height);
        touch_rows(c->dstMemoryType, c->dstHost,
                   c->dstXInBytes + c->dstPitch * (c->dstY + c->dstHeight * (c->dstZ + z)),
                   c->dstPitch, c->WidthInBytes, c->Height);
    }
    return CUDA_SUCCESS;
}

static CUresult array_create(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc) {
    read_all(desc, sizeof(*desc));
    *array = new_object();
    return CUDA_SUCCESS;
}

static CUresult texture_create(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                               const CUDA_TEXTURE_DESC *texture,
                               const CUDA_RESOURCE_VIEW_DESC *view) {
    read_all(resource, sizeof(*resource));
    read_all(texture, sizeof(*texture));
    if (view)
        read_all(view, sizeof(*view));
    *object = 1;
    return CUDA_SUCCESS;
}

static CUresult map_arrays(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
    (void)stream;
    read_all(list, count * sizeof(*list));
    return CUDA_SUCCESS;
}

static CUresult module_load(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values) {
    read_all(image, 16);
    for (unsigned int i = 0; i < count; i++) {
        bool info = options[i] == CU_JIT_INFO_LOG_BUFFER;
        bool error = options[i] == CU_JIT_ERROR_LOG_BUFFER;

        /* The size of a buffer is the next option: the worker makes both. */
        if (info || error)
            memset(values[i], 'l', (size_t)(uintptr_t)values[i + 1]);
    }
    *module = new_object();
    return CUDA_SUCCESS;
}

static CUresult link_add(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                         const char *name, unsigned int count, CUjit_option *options,
                         void **values) {
    (void)state, (void)type, (void)name, (void)count, (void)options, (void)values;
    read_all(data, bytes);
    return CUDA_SUCCESS;
}

static CUresult module_function(CUfunction *function, CUmodule module, const char *name) {
    (void)module;
    read_all(name, strlen(name));
    *function = new_object();
    return CUDA_SUCCESS;
}

#define PARAMS 3u

static CUresult param_info(CUfunction function, size_t index, size_t *offset, size_t *size) {
    (void)function;
    if (index >= PARAMS)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = 8 * index;
    *size = 8;
    return CUDA_SUCCESS;
}

static CUresult launch(const CUlaunchConfig *config, CUfunction function, void **params,
                       void **extra) {
    (void)function;
    require(!params && extra);
    read_all(config->attrs, config->numAttrs * sizeof(config->attrs[0]));
    read_all(extra[1], *(size_t *)extra[3]);
    require(*(size_t *)extra[3] >= 8 * PARAMS);
    return CUDA_SUCCESS;
}

static CUresult node_set(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    (void)exec;
    (void)node;
    require(!p->kernelParams && p->extra);
    read_all(p->extra[1], *(size_t *)p->extra[3]);
    require(*(size_t *)p->extra[3] >= 8 * PARAMS);
    return CUDA_SUCCESS;
}

static CUresult node_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                         const CUDA_KERNEL_NODE_PARAMS *p) {
    (void)graph;
    read_all(before, count * sizeof(*before));
    *node = new_object();
    return node_set(NULL, *node, p);
}

static CUresult stream_create(CUstream *stream, unsigned int flags, int priority) {
    (void)flags;
    (void)priority;
    *stream = new_object();
    return CUDA_SUCCESS;
}

static CUresult event_create(CUevent *event, unsigned int flags) {
    (void)flags;
    *event = new_object();
    return CUDA_SUCCESS;
}

static void make_driver(struct driver *d) {
    /* All others take their arguments, whatever they are, and succeed. */
    CUresult (**entry)(void) = (CUresult(**)(void))d;

    for (size_t i = 0; i < sizeof(*d) / sizeof(*entry); i++)
        entry[i] = accept_call;
    d->cuDeviceGet = device_get;
    d->cuDeviceGetName = d->cuDeviceGetPCIBusId = device_name;
    d->cuDevicePrimaryCtxRetain = primary_retain;
    d->cuCtxCreate_v4 = context_create;
    d->cuMemcpyHtoDAsync_v2 = copy_in;
    d->cuMemcpyDtoHAsync_v2 = copy_out;
    d->cuMemcpy2DAsync_v2 = copy_2d;
    d->cuMemcpy3DAsync_v2 = copy_3d;
    d->cuArrayCreate_v2 = array_create;
    d->cuTexObjectCreate = texture_create;
    d->cuMemMapArrayAsync = map_arrays;
    d->cuModuleLoadDataEx = module_load;
    d->cuLinkAddData_v2 = link_add;
    d->cuModuleGetFunction = module_function;
    d->cuFuncGetParamInfo = param_info;
    d->cuLaunchKernelEx = launch;
    d->cuGraphAddKernelNode_v2 = node_add;
    d->cuGraphExecKernelNodeSetParams_v2 = node_set;
    d->cuStreamCreateWithPriority = stream_create;
    d->cuEventCreate = event_create;
}

/* ---- waiter threads: what they would do, at once, so that a run repeats ---- */

bool waiters_run(struct worker *w, const void *data, uint32_t len) {
    struct frame f;

    require(
        frame_open(&f, data, len, dispatch_table[((const struct vcuda_rec *)data)->call].slots));
    f.status = worker_run_call(w, &f);
    answers_put(w, &f);
    frame_close(&f);
    return true;
}

void waiters_start(struct worker *w) {
    (void)w;
}

bool waiters_working(void) {
    return false;
}

void waiters_collect(struct worker *w) {
    (void)w;
}

bool waiters_any_left(void) {
    return false;
}

/* Whatever would sleep finds the session over. */
static bool no_sleep(struct link *l, int64_t ns) {
    (void)l;
    (void)ns;
    return false;
}

/* ---- the guest ---- */

static int map(struct link *l, uint32_t region, void *address, uint64_t bytes) {
    (void)l;
    (void)region;
    if (bytes > MAPPED_MAX)
        return -ENOMEM;
    if (mmap(address, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != address)
        return -EEXIST;
    /* A program's module lies there, so that loading one is not always refused. */
    memcpy(address, PTX, sizeof(PTX));
    return 0;
}

static void drop(struct link *l) {
    (void)l;
}

/* Reads all completions and checks what a guest's library would rely on. */
static void read_completions(struct vcuda_duplex *g) {
    static uint8_t buf[VCUDA_REC_MAX];
    struct vcuda_rec head;
    int len;

    while ((len = vcuda_rx_take(g, buf, sizeof(buf), sizeof(head))) > 0) {
        memcpy(&head, buf, sizeof(head));
        require(head.tag != 0 && head.call < VCUDA_CALLS);
        require(sizeof(head) + 8u * head.flags <= (uint32_t)len);
        require(head.status == CUDA_SUCCESS || head.flags == 0);
    }
    require(len == 0);
}

static void clean_up(struct worker *w) {
    require(!bundle_held);
    chains_forget(w);
    free(bundle); /* with what it knows of functions */
    bundle = NULL;
    given_up = false;
    for (uint32_t i = 1; i < VCUDA_REGIONS_MAX; i++)
        if (w->regions[i].bytes)
            munmap((void *)w->regions[i].address, w->regions[i].bytes);
    objects_free(&w->objects);
    free(w->link.rings);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    require(!setenv("VCUDA_CHAINS_AFTER", "0", 1));
    chains_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct vcuda_worker_page page;
    static struct worker w;
    struct vcuda_duplex g;
    uint8_t *rings = calloc(1, vcuda_rings_bytes(VCUDA_RING_MIN, VCUDA_RING_MIN));

    vcuda_log_open("fuzz", (enum vcuda_log_level)0);
    if (!record)
        record = malloc(VCUDA_REC_MAX);
    memset(&w, 0, sizeof(w));
    make_driver(&w.driver);
    objects_init(&w.objects);
    pthread_mutex_init(&w.regions_lock, NULL);
    w.stats = &page.stats;
    w.gpu_count = 2;
    w.gpus[1] = 1;
    w.link = (struct link){.kick_fd = -1,
                           .sleep = no_sleep,
                           .life_fd = -1,
                           .rings = rings,
                           .sub_bytes = VCUDA_RING_MIN,
                           .cmp_bytes = VCUDA_RING_MIN,
                           .version = VCUDA_VERSION_MAX,
                           .map = map,
                           .drop = drop};
    vcuda_duplex_session(&w.duplex, rings, VCUDA_RING_MIN, VCUDA_RING_MIN, VCUDA_PARTY_H);
    vcuda_duplex_session(&g, rings, VCUDA_RING_MIN, VCUDA_RING_MIN, VCUDA_PARTY_G);
    worker_forget_context();

    if (size > VCUDA_RING_MIN)
        size = VCUDA_RING_MIN;
    size &= ~(size_t)7;
    vcuda_tx_put(&g, 0, data, (uint32_t)size);
    vcuda_tx_publish(&g, (uint32_t)size);
    while (!w.over && execute_some(&w)) {
        pending_poll(&w);
        read_completions(&g);
    }
    require(!pending_any());
    clean_up(&w);
    return 0;
}
