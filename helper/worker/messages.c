// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <stdlib.h>

#include "barrier.h"
#include "worker.h"

struct said {
    struct said *next;
    struct message message;
};

static struct {
    pthread_mutex_t lock;
    struct said *first, **end;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &queue.first};

bool messages_say(enum vcuda_message message, const uint64_t *slots, uint32_t count,
                  const void *bytes, uint32_t len) {
    struct vcuda_rec head = {.call = (uint16_t)message, .flags = (uint16_t)count};
    uint64_t total = VCUDA_PAD_LINE(sizeof(head) + 8ull * count + len);
    struct said *s;

    if (total > VCUDA_REC_MAX)
        return false;
    s = calloc(1, sizeof(*s) + total);
    if (!s)
        return false;
    head.len = s->message.len = (uint32_t)total;
    memcpy(s->message.record, &head, sizeof(head));
    memcpy((uint8_t *)s->message.record + sizeof(head), slots, 8 * count);
    if (len)
        memcpy((uint8_t *)s->message.record + sizeof(head) + 8 * count, bytes, len);
    pthread_mutex_lock(&queue.lock);
    *queue.end = s;
    queue.end = &s->next;
    pthread_mutex_unlock(&queue.lock);
    return true;
}

bool messages_any(void) {
    return vcuda_load_once(&queue.first) != NULL;
}

const struct message *messages_first(void) {
    const struct said *first;

    /* Looked at without the lock: whoever says something sends it too, or is seen the next time. */
    if (!messages_any())
        return NULL;
    pthread_mutex_lock(&queue.lock);
    first = queue.first;
    pthread_mutex_unlock(&queue.lock);
    return &first->message;
}

void messages_sent(void) {
    struct said *s;

    pthread_mutex_lock(&queue.lock);
    s = queue.first;
    queue.first = s->next;
    if (!queue.first)
        queue.end = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    free(s);
}
