/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a message of the worker's: with completion.c all that parses what a worker wrote. */
#ifndef VCUDA_USERLIB_MESSAGE_H
#define VCUDA_USERLIB_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"
#include "record.h"

struct message {
    enum vcuda_message what;
    union {
        struct {
            uint64_t id;
            uint32_t place; /* VCUDA_HOST_PLACES: nobody waits */
            uint32_t serial;
            CUresult status;
            bool last;
        } host;
        struct {
            uint64_t id;
            CUasyncNotificationInfo info;
        } async;
        struct {
            int fd;           /* 1 or 2 */
            const char *text; /* in the record */
            uint32_t len;
        } print;
    };
};

/*
 * Takes apart a private copy of a record with tag 0, `len` bytes with its header. False if it makes
 * no sense: an unknown message, a wrong number of slots, a value out of bounds, ragged bytes.
 */
bool message_parse(const struct vcuda_rec *head, uint32_t len, struct message *m);

#endif
