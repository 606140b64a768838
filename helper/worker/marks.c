// SPDX-License-Identifier: Apache-2.0
#include "marks.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "barrier.h"
#include "worker.h"

/* Marks kept for reuse, and words. */
#define KEPT_MAX 256u
/* How often an event is asked for what its word does not tell. */
#define ASK_NS 20000u

/* Each in a line of its own: the GPU writes into one while another is looked at. */
struct word {
    uint32_t value; /* as the GPU wrote it */
    uint32_t last;  /* that it was told to write */
    uint32_t padding[VCUDA_CACHE_LINE / 4 - 2];
};

struct mark {
    struct mark *next;
    uint64_t context; /* name; the event is of it */
    CUevent event;
    struct word *word; /* NULL: the event alone */
    uint32_t value;    /* that the GPU writes */
    bool written;      /* it is on its way */
    uint64_t asked;    /* for the event, last */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mark *kept;
static uint32_t kept_count;
static struct word *free_words[KEPT_MAX];
static uint32_t free_count;

void marks_start(struct worker *w) {
    size_t bytes = KEPT_MAX * sizeof(struct word);
    struct word *words =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (words == MAP_FAILED)
        return;
    w->regions[0] = (struct region){(uint64_t)words, bytes, false};
    while (free_count < KEPT_MAX) {
        free_words[free_count] = &words[free_count];
        free_count++;
    }
}

/* Under the lock: one kept for the context; NULL: none. */
static struct mark *take_kept(uint64_t context) {
    for (struct mark **at = &kept; *at; at = &(*at)->next) {
        struct mark *m = *at;

        if (m->context != context)
            continue;
        *at = m->next;
        kept_count--;
        return m;
    }
    return NULL;
}

static struct mark *new_mark(struct worker *w, uint64_t context, CUresult *r) {
    struct mark *m = calloc(1, sizeof(*m));

    *r = m ? w->driver.cuEventCreate(&m->event, CU_EVENT_DISABLE_TIMING) : CUDA_ERROR_OUT_OF_MEMORY;
    if (*r != CUDA_SUCCESS) {
        free(m);
        return NULL;
    }
    m->context = context;
    pthread_mutex_lock(&lock);
    if (free_count)
        m->word = free_words[--free_count];
    pthread_mutex_unlock(&lock);
    return m;
}

/* Under the lock: the word goes back, the mark is no more. */
static void end_mark(struct mark *m) {
    if (m->word)
        free_words[free_count++] = m->word;
    free(m);
}

void marks_give(struct worker *w, struct mark *m) {
    CUevent event = NULL;

    pthread_mutex_lock(&lock);
    if (kept_count < KEPT_MAX) {
        m->next = kept;
        kept = m;
        kept_count++;
    } else {
        event = m->event;
        end_mark(m);
    }
    pthread_mutex_unlock(&lock);
    if (event)
        w->driver.cuEventDestroy_v2(event);
}

/* Always another value: a write that comes late, for a wait that failed, is not taken for it. */
static void write_word(struct worker *w, struct mark *m, CUstream stream) {
    m->written = false;
    if (!m->word || !vcuda_load_once(&w->regions[0].registered))
        return;
    m->value = ++m->word->last;
    m->written = w->driver.cuStreamWriteValue32_v2(stream, (CUdeviceptr)&m->word->value, m->value,
                                                   CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS;
}

CUresult marks_set(struct worker *w, uint64_t context, CUstream stream, struct mark **mark) {
    CUresult r = CUDA_SUCCESS;
    struct mark *m;

    pthread_mutex_lock(&lock);
    m = take_kept(context);
    pthread_mutex_unlock(&lock);
    if (!m)
        m = new_mark(w, context, &r);
    if (!m)
        return r;
    write_word(w, m, stream);
    r = w->driver.cuEventRecord(m->event, stream);
    m->asked = 0;
    if (r == CUDA_SUCCESS)
        *mark = m;
    else
        marks_give(w, m);
    return r;
}

CUresult marks_look(struct worker *w, struct mark *m, uint64_t now) {
    if (m->written) {
        if (vcuda_load_acquire(&m->word->value) == m->value)
            return CUDA_SUCCESS;
        if (!m->asked)
            m->asked = now;
        if (now - m->asked < ASK_NS)
            return CUDA_ERROR_NOT_READY;
        m->asked = now;
    }
    return w->driver.cuEventQuery(m->event);
}

CUresult marks_wait(struct worker *w, const struct mark *m) {
    return w->driver.cuEventSynchronize(m->event);
}

void marks_forget_context(uint64_t context) {
    struct mark *m;

    pthread_mutex_lock(&lock);
    while ((m = take_kept(context)))
        end_mark(m);
    pthread_mutex_unlock(&lock);
}
