// SPDX-License-Identifier: Apache-2.0
/* What kernels print: kept until the host waits for them, as the real driver does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

void sim_print_append(void *opaque, const char *text, size_t size, bool complaint) {
    struct sim_context *context = opaque;
    struct sim_output *out = complaint ? &context->complaints : &context->printed;
    size_t room = atomic_load(&context->limits[CU_LIMIT_PRINTF_FIFO_SIZE]);
    char *grown;

    if (size > room)
        return;
    pthread_mutex_lock(&context->lock);
    if (out->bytes + size > room) { /* the oldest output is overwritten */
        size_t lost = out->bytes + size - room;

        out->bytes -= lost;
        memmove(out->text, out->text + lost, out->bytes);
    }
    grown = realloc(out->text, out->bytes + size);
    if (grown) {
        memcpy(grown + out->bytes, text, size);
        out->text = grown;
        out->bytes += size;
    }
    pthread_mutex_unlock(&context->lock);
}

static void show(struct sim_context *context, struct sim_output *from, FILE *to) {
    struct sim_output out;

    pthread_mutex_lock(&context->lock);
    out = *from;
    *from = (struct sim_output){NULL, 0};
    pthread_mutex_unlock(&context->lock);
    if (out.bytes) {
        fwrite(out.text, 1, out.bytes, to);
        fflush(to);
    }
    free(out.text);
}

void sim_print_flush(struct sim_context *context) {
    show(context, &context->printed, stdout);
    show(context, &context->complaints, stderr);
}
