// SPDX-License-Identifier: Apache-2.0
#include "handoff.h"

#include <string.h>
#include <sys/random.h>

static void free_entry(struct vcuda_handoff *e) {
    __atomic_store_n(&e->ready, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&e->place, 0, __ATOMIC_SEQ_CST);
}

static bool is_of(const struct vcuda_handoff *e, uint32_t place) {
    return __atomic_load_n(&e->place, __ATOMIC_ACQUIRE) == place + 1;
}

/* A free entry that is this place's now, or NULL. */
static struct vcuda_handoff *claim(struct vcuda_handoffs *h, uint32_t place) {
    for (uint32_t i = 0; i < VCUDA_HANDOFFS; i++) {
        uint32_t nobody = 0;

        if (__atomic_compare_exchange_n(&h->entry[i].place, &nobody, place + 1, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return &h->entry[i];
    }
    return NULL;
}

bool vcuda_handoff_again(const struct vcuda_handoffs *h, uint32_t place, uint64_t key,
                         const uint8_t handle[VCUDA_HANDOFF_BYTES],
                         uint8_t name[VCUDA_HANDOFF_BYTES]) {
    for (uint32_t i = 0; i < VCUDA_HANDOFFS; i++) {
        const struct vcuda_handoff *e = &h->entry[i];

        if (is_of(e, place) && e->key == key &&
            !memcmp(e->what.handle, handle, VCUDA_HANDOFF_BYTES)) {
            memcpy(name, e->name, sizeof(e->name));
            return true;
        }
    }
    return false;
}

bool vcuda_handoff_give(struct vcuda_handoffs *h, uint32_t place, uint64_t key,
                        const struct vcuda_handed *what, uint8_t name[VCUDA_HANDOFF_BYTES]) {
    struct vcuda_handoff *e = claim(h, place);
    uint32_t fill;

    if (!e)
        return false;
    if (getrandom(e->name, sizeof(e->name), 0) != sizeof(e->name)) {
        free_entry(e);
        return false;
    }
    e->key = key;
    e->what = *what;
    memcpy(name, e->name, sizeof(e->name));
    fill = __atomic_add_fetch(&h->fills, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&e->ready, fill ? fill : 1, __ATOMIC_SEQ_CST);
    return true;
}

bool vcuda_handoff_find(const struct vcuda_handoffs *h, const uint8_t name[VCUDA_HANDOFF_BYTES],
                        struct vcuda_handed *what) {
    for (uint32_t i = 0; i < VCUDA_HANDOFFS; i++) {
        const struct vcuda_handoff *e = &h->entry[i];
        uint32_t ready = __atomic_load_n(&e->ready, __ATOMIC_SEQ_CST);
        bool same = ready && !memcmp(e->name, name, VCUDA_HANDOFF_BYTES);

        if (!same)
            continue;
        *what = e->what;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        return __atomic_load_n(&e->ready, __ATOMIC_SEQ_CST) == ready;
    }
    return false;
}

void vcuda_handoff_end(struct vcuda_handoffs *h, uint32_t place, uint64_t key) {
    for (uint32_t i = 0; i < VCUDA_HANDOFFS; i++) {
        if (is_of(&h->entry[i], place) && h->entry[i].key == key)
            free_entry(&h->entry[i]);
    }
}

void vcuda_handoff_clear(struct vcuda_handoffs *h, uint32_t place) {
    for (uint32_t i = 0; i < VCUDA_HANDOFFS; i++) {
        if (is_of(&h->entry[i], place))
            free_entry(&h->entry[i]);
    }
}
