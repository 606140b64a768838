// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <string.h>

#define HOST_SLOTS 5
#define PRINT_SLOTS 2
#define ASYNC_SLOTS 3

static bool parse_host(const uint64_t *slots, struct message *m) {
    if (slots[1] > VCUDA_HOST_PLACES || slots[2] > UINT32_MAX || slots[3] > INT32_MAX ||
        slots[4] > 1)
        return false;
    m->host.id = slots[0];
    m->host.place = (uint32_t)slots[1];
    m->host.serial = (uint32_t)slots[2];
    m->host.status = (CUresult)slots[3];
    m->host.last = slots[4];
    return true;
}

static bool parse_print(const uint64_t *slots, const uint8_t *bytes, uint32_t room,
                        struct message *m) {
    if (slots[0] < 1 || slots[0] > 2 || slots[1] > room)
        return false;
    m->print.fd = (int)slots[0];
    m->print.text = (const char *)bytes;
    m->print.len = (uint32_t)slots[1];
    return true;
}

static bool parse_async(const uint64_t *slots, struct message *m) {
    if (slots[1] != CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET)
        return false;
    m->async.id = slots[0];
    m->async.info.type = (CUasyncNotificationType)slots[1];
    m->async.info.info.overBudget.bytesOverBudget = slots[2];
    return true;
}

bool message_parse(const struct vcuda_rec *head, uint32_t len, struct message *m) {
    static const uint8_t counts[VCUDA_MESSAGE_MAX] = {
        [VCUDA_MESSAGE_HOST] = HOST_SLOTS,
        [VCUDA_MESSAGE_PRINT] = PRINT_SLOTS,
        [VCUDA_MESSAGE_ASYNC] = ASYNC_SLOTS,
    };
    const uint8_t *body = (const uint8_t *)(head + 1);
    uint32_t room = len - (uint32_t)sizeof(*head);
    uint64_t slots[HOST_SLOTS];
    uint32_t count;

    if (!head->call || head->call >= VCUDA_MESSAGE_MAX)
        return false;
    count = counts[head->call];
    if (head->flags != count || 8 * count > room)
        return false;
    memcpy(slots, body, 8 * count);
    m->what = (enum vcuda_message)head->call;
    if (m->what == VCUDA_MESSAGE_HOST)
        return parse_host(slots, m);
    if (m->what == VCUDA_MESSAGE_ASYNC)
        return parse_async(slots, m);
    return parse_print(slots, body + 8 * count, room - 8 * count, m);
}
