// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer: a party of a pair of rings whose peer writes anything anywhere it
 * can. The input is a list of steps; the memory under test is a heap block of
 * exactly one page, so that the address sanitizer sees every step beside it.
 */
#include <stdint.h>
#include <string.h>

#include "require.h"
#include "ring.h"

/* What G may write: its side and the submission ring. */
#define SIDE_BYTES VCUDA_CTL_SIDE_H_OFFSET
#define PEER_BYTES (SIDE_BYTES + VCUDA_CTL_RING_BYTES)

struct input {
    const uint8_t *at;
    size_t left;
};

static uint32_t next(struct input *in, size_t bytes) {
    uint32_t value = 0;

    if (bytes > in->left)
        bytes = in->left;
    memcpy(&value, in->at, bytes);
    in->at += bytes;
    in->left -= bytes;
    return value;
}

struct stage {
    struct vcuda_duplex h;
    uint8_t *page;
    uint8_t peers[PEER_BYTES]; /* what the peer last wrote: nobody else may */
};

static uint8_t *peer_byte(struct stage *s, uint32_t offset) {
    return offset < SIDE_BYTES ? s->page + offset
                               : s->page + VCUDA_CTL_SUB_OFFSET + (offset - SIDE_BYTES);
}

static void peer_writes(struct stage *s, struct input *in) {
    uint32_t offset = next(in, 2) % (PEER_BYTES - 3);
    uint32_t value = next(in, 4);

    for (uint32_t i = 0; i < 4; i++) {
        s->peers[offset + i] = (uint8_t)(value >> 8 * i);
        *peer_byte(s, offset + i) = s->peers[offset + i];
    }
}

/* The two words that matter, so that the fuzzer need not find their places. */
static void peer_moves(struct stage *s, struct input *in) {
    static const size_t words[] = {offsetof(struct vcuda_side, prod),
                                   offsetof(struct vcuda_side, cons)};
    size_t offset = words[next(in, 1) & 1];
    uint32_t by = next(in, 4), value;

    memcpy(&value, s->peers + offset, sizeof(value));
    value += by;
    memcpy(s->peers + offset, &value, sizeof(value));
    memcpy(s->page + offset, &value, sizeof(value));
}

static void take(struct stage *s, struct input *in) {
    uint32_t cap = next(in, 2) % 2048, min = 8 + 8 * (next(in, 1) & 7), before = s->h.cons;
    uint8_t *buf = malloc(cap ? cap : 1);
    int got = vcuda_rx_take(&s->h, buf, cap, min);

    require(got == 0 || got == -EPROTO || (got >= (int)min && got <= (int)cap && got % 8 == 0));
    require(s->h.cons == before + (got > 0 ? (uint32_t)got : 0));
    if (got > 0) {
        uint32_t len;

        memcpy(&len, buf, sizeof(len));
        require(len == (uint32_t)got);
    }
    free(buf);
}

static void send(struct stage *s, struct input *in) {
    uint32_t len = next(in, 2) & ~7u;
    int fits = vcuda_tx_fits(&s->h, len);
    uint8_t *record;

    require(fits == 1 || fits == 0 || fits == -EPROTO || fits == -EMSGSIZE);
    require((fits == -EMSGSIZE) == (len > VCUDA_CTL_RING_BYTES));
    if (fits != 1 || len < 8)
        return;
    record = calloc(1, len);
    memcpy(record, &len, sizeof(len));
    vcuda_tx_put(&s->h, 0, record, len);
    vcuda_tx_publish(&s->h, len);
    free(record);
}

static void wake_and_sleep(struct stage *s, struct input *in) {
    uint32_t what = next(in, 1) & 3;

    if (vcuda_must_wake(&s->h, what))
        require(vcuda_must_wake(&s->h, what) == 0);
    vcuda_wait_begin(&s->h, what);
    require(s->h.own->wait >> 2 && (s->h.own->wait & 3) == what);
    vcuda_wait_end(&s->h);
}

static void step(struct stage *s, struct input *in) {
    switch (next(in, 1) % 6) {
    case 0:
        peer_writes(s, in);
        break;
    case 1:
        peer_moves(s, in);
        break;
    case 2:
        take(s, in);
        break;
    case 3:
        send(s, in);
        break;
    case 4:
        wake_and_sleep(s, in);
        break;
    default: {
        int ready = vcuda_rx_ready(&s->h);

        require(ready == 0 || ready == 1 || ready == -EPROTO);
    }
    }
    require(s->h.own->prod == s->h.prod && s->h.own->cons == s->h.cons);
    require(!memcmp(s->page, s->peers, SIDE_BYTES));
    require(!memcmp(s->page + VCUDA_CTL_SUB_OFFSET, s->peers + SIDE_BYTES, VCUDA_CTL_RING_BYTES));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    struct stage s = {.page = aligned_alloc(64, VCUDA_PAGE)};
    uint32_t start = next(&in, 4) & ~7u;

    memset(s.page, 0, VCUDA_PAGE);
    vcuda_duplex_control(&s.h, s.page, VCUDA_PARTY_H);
    /* Indices may stand anywhere: as after a long life of the session. */
    s.h.prod = s.h.cons = s.h.tx_seen = s.h.rx_seen = start;
    s.h.own->prod = s.h.own->cons = start;
    memcpy(s.peers + offsetof(struct vcuda_side, prod), &start, sizeof(start));
    memcpy(s.peers + offsetof(struct vcuda_side, cons), &start, sizeof(start));
    memcpy(s.page, s.peers, SIDE_BYTES);
    while (in.left)
        step(&s, &in);
    free(s.page);
    return 0;
}
