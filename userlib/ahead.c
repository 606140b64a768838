// SPDX-License-Identifier: Apache-2.0
#include "ahead.h"

#include <string.h>
#include <time.h>

#include "barrier.h"
#include "capture.h"
#include "counters.h"
#include "cuda_errors.h"
#include "layout.h"
#include "wire.h"

/*
 * A thread's calls are counted so many at a time, all as the last one's stream's. A prime, lest a
 * thread that serves its streams in turn has the same one counted each time.
 */
#define STEP 61
/* From mark to mark, and how many marks may be ahead: a stream of an H200 takes 1021 calls. */
#define EVERY (3 * STEP)
#define MARKS_MAX 4
/* From question to question: who does nothing but post shall hear of errors, too. */
#define MARKS_ASK 32
/* Between two looks, in nanoseconds: a small part of what the GPU has left to do then. */
#define NAP_NS 100000
/* Looks before the worker is asked whether something has happened. */
#define LOOKS 100
/* Words of default streams, one for each context by its name; the others are streams'. */
#define OF_CONTEXTS 32u

static struct {
    uint32_t posted; /* since its last mark; a hint, written by any thread */
    uint32_t number; /* of that */
} streams[VCUDA_AHEAD_WORDS];
static const uint32_t *words; /* NULL: there are no marks */

/* The stream's word; VCUDA_AHEAD_WORDS and more: it has none. */
static uint32_t word_of(uint64_t context, uint64_t stream) {
    if (vcuda_name_kind(stream) != VCUDA_KIND_STREAM)
        return vcuda_name_index(context) % OF_CONTEXTS;
    return OF_CONTEXTS + vcuda_name_index(stream);
}

void ahead_begin(uint64_t context, uint64_t stream) {
    uint32_t word = word_of(context, stream);

    if (words && word < VCUDA_AHEAD_WORDS)
        vcuda_store_once(&streams[word].number, vcuda_load_once(&words[word]));
}

void ahead_attach(const void *rings, bool known) {
    memset(streams, 0, sizeof(streams));
    words = known ? (const uint32_t *)((const uint8_t *)rings + VCUDA_AHEAD_OFFSET) : NULL;
}

static bool far_ahead(uint32_t word, uint32_t number) {
    return (int32_t)(number - vcuda_load_once(&words[word])) > MARKS_MAX;
}

/* What has become of the stream, and of what the thread posted: CUDA_ERROR_NOT_READY, it goes on.
 */
static CUresult ask(struct thread *t, uint64_t stream) {
    CUresult r = wire_cuStreamQuery(t, stream);

    return cuda_error_of_capture(r) ? CUDA_ERROR_NOT_READY : r;
}

/* After a fault the GPU tells nothing any more. */
static CUresult await(struct thread *t, uint64_t stream, uint32_t word, uint32_t number) {
    const struct timespec nap = {.tv_nsec = NAP_NS};
    CUresult r = CUDA_ERROR_NOT_READY;

    for (int i = 1; far_ahead(word, number) && !rpc_lost() && r == CUDA_ERROR_NOT_READY; i++) {
        COUNT(slept, 1);
        nanosleep(&nap, NULL);
        if (i % LOOKS == 0)
            r = ask(t, stream);
    }
    return r;
}

SELDOM CUresult ahead_count(struct thread *t, uint64_t stream) {
    uint32_t word = word_of(t->context, stream), number;
    CUresult r;

    t->until_counted = STEP;
    if (!words || word >= VCUDA_AHEAD_WORDS || capture_any())
        return CUDA_SUCCESS;
    if (__atomic_add_fetch(&streams[word].posted, STEP, __ATOMIC_RELAXED) < EVERY)
        return CUDA_SUCCESS;
    vcuda_store_once(&streams[word].posted, 0);
    number = __atomic_add_fetch(&streams[word].number, 1, __ATOMIC_RELAXED);
    r = wire_stream_mark(t, stream, word, number);
    if (r == CUDA_SUCCESS)
        r = await(t, stream, word, number);
    if (r == CUDA_ERROR_NOT_READY && number % MARKS_ASK == 0)
        r = ask(t, stream);
    return r == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : r;
}
