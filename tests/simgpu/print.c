// SPDX-License-Identifier: Apache-2.0
/* What kernels print: kept until the host waits for them, as the real driver does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

void sim_print_append(void *opaque, const char *text, size_t size) {
    struct sim_context *context = opaque;
    size_t room = atomic_load(&context->limits[CU_LIMIT_PRINTF_FIFO_SIZE]);
    char *grown;

    if (size > room)
        return;
    pthread_mutex_lock(&context->lock);
    if (context->printed_bytes + size > room) { /* the oldest output is overwritten */
        size_t lost = context->printed_bytes + size - room;

        context->printed_bytes -= lost;
        memmove(context->printed, context->printed + lost, context->printed_bytes);
    }
    grown = realloc(context->printed, context->printed_bytes + size);
    if (grown) {
        memcpy(grown + context->printed_bytes, text, size);
        context->printed = grown;
        context->printed_bytes += size;
    }
    pthread_mutex_unlock(&context->lock);
}

void sim_print_flush(struct sim_context *context) {
    char *text;
    size_t size;

    pthread_mutex_lock(&context->lock);
    text = context->printed;
    size = context->printed_bytes;
    context->printed = NULL;
    context->printed_bytes = 0;
    pthread_mutex_unlock(&context->lock);
    if (size) {
        fwrite(text, 1, size, stdout);
        fflush(stdout);
    }
    free(text);
}
