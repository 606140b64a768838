// SPDX-License-Identifier: Apache-2.0
#include "texel.h"

#include <math.h>
#include <string.h>

#include "scalar.h"

/* Beyond it neighbours cannot be told apart anyway. */
#define FAR 1073741824.0f

static unsigned channel_bytes(enum ptx_channel c) {
    switch (c) {
    case PTX_U8:
    case PTX_S8:
        return 1;
    case PTX_U16:
    case PTX_S16:
    case PTX_F16:
        return 2;
    default:
        return 4;
    }
}

static uint32_t bits_of(float f) {
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

/* One channel, widened: an integer, or the bits of a float. */
static uint32_t widen(enum ptx_channel c, const char *at) {
    uint32_t v = 0;

    memcpy(&v, at, channel_bytes(c));
    switch (c) {
    case PTX_S8:
        return (uint32_t)(int8_t)v;
    case PTX_S16:
        return (uint32_t)(int16_t)v;
    case PTX_F16:
        return bits_of(half_value((uint16_t)v, false));
    default:
        return v;
    }
}

/* A border's color where elements are integers. */
static uint32_t whole(float f) {
    return f >= -FAR && f <= FAR ? (uint32_t)(int32_t)f : 0;
}

/* As a float: those of 8 and 16 bits are parts of 1. */
static float fraction(const struct ptx_image *im, uint32_t v) {
    float f;

    switch (im->channel) {
    case PTX_U8:
        return (float)v / 255.0f;
    case PTX_U16:
        return (float)v / 65535.0f;
    case PTX_S8:
        return fmaxf((float)(int32_t)v / 127.0f, -1.0f);
    case PTX_S16:
        return fmaxf((float)(int32_t)v / 32767.0f, -1.0f);
    default:
        memcpy(&f, &v, sizeof(f));
        return f;
    }
}

/* Whether texels come out as floats. */
static bool gives_floats(const struct ptx_image *im) {
    return im->channel >= PTX_F16 || (im->channel <= PTX_S16 && !im->integers);
}

/* Element i along a dimension, brought inside; false: what is there is the border. */
static bool inside(const struct ptx_image *im, unsigned dim, int64_t *i) {
    enum ptx_beyond how = im->beyond[dim];
    int64_t n = (int64_t)im->size[dim], round;

    if (!im->normalized_coordinates && (how == PTX_WRAP || how == PTX_MIRROR))
        how = PTX_CLAMP;
    switch (how) {
    case PTX_BORDER:
        return *i >= 0 && *i < n;
    case PTX_WRAP:
        *i = (*i % n + n) % n;
        return true;
    case PTX_MIRROR:
        round = (*i % (2 * n) + 2 * n) % (2 * n);
        *i = round < n ? round : 2 * n - 1 - round;
        return true;
    default:
        *i = *i < 0 ? 0 : *i >= n ? n - 1 : *i;
        return true;
    }
}

static const char *element(const struct ptx_image *im, const int64_t *i, uint32_t layer) {
    size_t z = im->layers ? (layer < im->layers ? layer : im->layers - 1) : (size_t)i[2];

    return im->data + z * im->slice + (size_t)i[1] * im->pitch +
           (size_t)i[0] * im->channels * channel_bytes(im->channel);
}

static void fetch(const struct ptx_image *im, const int64_t *where, uint32_t layer,
                  uint32_t out[4]) {
    int64_t i[3] = {where[0], where[1], where[2]};
    bool floats = gives_floats(im), there = true;
    const char *at;

    for (unsigned d = 0; d < im->dims; d++)
        there &= inside(im, d, &i[d]);
    for (unsigned c = 0; c < 4 && !there; c++)
        out[c] = floats ? bits_of(im->border[c]) : whole(im->border[c]);
    if (!there)
        return;
    at = element(im, i, layer);
    for (unsigned c = 0; c < 4; c++) {
        if (c >= im->channels)
            out[c] = c < 3 ? 0 : floats ? bits_of(1) : 1;
        else
            out[c] = widen(im->channel, at + c * channel_bytes(im->channel));
        if (c < im->channels && floats)
            out[c] = bits_of(fraction(im, out[c]));
    }
}

/* A coordinate in elements. */
static float in_elements(const struct ptx_image *im, unsigned dim, float x) {
    if (im->normalized_coordinates) {
        if (im->beyond[dim] == PTX_WRAP)
            x -= floorf(x);
        x *= (float)im->size[dim];
    }
    return x >= FAR ? FAR : x >= -FAR ? x : x < -FAR ? -FAR : 0; /* 0: not a number */
}

/* The nearest elements' mean by distance, which has 8 bits of a fraction. */
static void filter(const struct ptx_image *im, const float *x, uint32_t layer, uint32_t out[4]) {
    double sum[4] = {0}, part[3] = {0};
    int64_t low[3] = {0};

    for (unsigned d = 0; d < im->dims; d++) {
        double from = (double)x[d] - 0.5;

        low[d] = (int64_t)floor(from);
        part[d] = nearbyint((from - floor(from)) * 256) / 256;
    }
    for (unsigned corner = 0; corner < 1u << im->dims; corner++) {
        int64_t i[3] = {0};
        double weight = 1;
        uint32_t v[4];

        for (unsigned d = 0; d < im->dims; d++) {
            unsigned high = corner >> d & 1;

            i[d] = low[d] + high;
            weight *= high ? part[d] : 1 - part[d];
        }
        if (weight == 0) /* what is there may be no number */
            continue;
        fetch(im, i, layer, v);
        for (unsigned c = 0; c < 4; c++) {
            float f;

            memcpy(&f, &v[c], sizeof(f));
            sum[c] += weight * (double)f;
        }
    }
    for (unsigned c = 0; c < 4; c++)
        out[c] = bits_of((float)sum[c]);
}

void texel_read(const struct ptx_image *im, const struct place *p, bool as_floats,
                uint32_t out[4]) {
    int64_t i[3] = {0};
    float x[3] = {0};

    for (unsigned d = 0; d < im->dims; d++) {
        x[d] = p->is_whole ? 0 : in_elements(im, d, p->at[d]);
        i[d] = p->is_whole ? p->whole[d] : (int64_t)floorf(x[d]);
    }
    if (im->filtered && !p->is_whole && as_floats && gives_floats(im))
        filter(im, x, p->layer, out);
    else
        fetch(im, i, p->layer, out);
}

/* One level alone. */
static struct ptx_image level_of(const struct ptx_image *im, unsigned level) {
    struct ptx_image l = *im;

    while (level--) {
        size_t bytes = l.slice * (l.layers ? l.layers : l.size[2]);

        l.data += (bytes + im->level_align - 1) / im->level_align * im->level_align;
        for (unsigned d = 0; d < 3; d++)
            l.size[d] = l.size[d] > 1 ? l.size[d] / 2 : 1;
        l.pitch = l.size[0] * l.channels * channel_bytes(l.channel);
        l.slice = l.pitch * l.size[1];
    }
    return l;
}

static float clamped(float v, float least, float greatest) {
    return v > greatest ? greatest : v > least ? v : least; /* the least for what is no number */
}

void texel_read_level(const struct ptx_image *im, const struct place *p, float level,
                      bool as_floats, uint32_t out[4]) {
    bool mixed = im->between_levels && as_floats && gives_floats(im);
    struct ptx_image one;
    uint32_t next[4];
    float at, part;

    if (!im->levels) {
        texel_read(im, p, as_floats, out);
        return;
    }
    at = clamped(level + im->level_bias, im->least_level, im->greatest_level);
    at = clamped(at, 0, (float)(im->levels - 1));
    part = mixed ? nearbyintf((at - floorf(at)) * 256) / 256 : 0;
    one = level_of(im, (unsigned)floorf(mixed ? at : at + 0.5f));
    texel_read(&one, p, as_floats, out);
    if (part == 0)
        return;
    one = level_of(im, (unsigned)floorf(at) + 1);
    texel_read(&one, p, as_floats, next);
    for (unsigned c = 0; c < 4; c++) {
        float a, b;

        memcpy(&a, &out[c], sizeof(a));
        memcpy(&b, &next[c], sizeof(b));
        out[c] = bits_of((1 - part) * a + part * b);
    }
}

char *texel_bytes(const struct ptx_image *im, const struct place *p, size_t bytes, bool clamp) {
    size_t row = im->size[0] * im->channels * channel_bytes(im->channel);
    int64_t i[3] = {p->whole[0], p->whole[1], p->whole[2]}, end[3];
    uint32_t layer = p->layer;

    if (bytes > row)
        return NULL;
    end[0] = (int64_t)(row - bytes);
    end[1] = (int64_t)im->size[1] - 1;
    end[2] = (int64_t)im->size[2] - 1;
    for (unsigned d = 0; d < im->dims; d++) {
        if ((i[d] < 0 || i[d] > end[d]) && !clamp)
            return NULL;
        i[d] = i[d] < 0 ? 0 : i[d] > end[d] ? end[d] : i[d];
    }
    if (im->layers && layer >= im->layers) {
        if (!clamp)
            return NULL;
        layer = (uint32_t)im->layers - 1;
    }
    for (unsigned d = im->dims; d < 3; d++)
        i[d] = 0;
    return im->data + (im->layers ? layer : (size_t)i[2]) * im->slice + (size_t)i[1] * im->pitch +
           (size_t)(i[0] - i[0] % (int64_t)bytes);
}
