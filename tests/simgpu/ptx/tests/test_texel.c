// SPDX-License-Identifier: Apache-2.0
/* Textures and surfaces: what lies where, what is between and beyond, and the instructions. */
#include <math.h>

#include "../texel.h"
#include "support.h"
#include "tests.h"

static float plane[3][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}};

static struct ptx_image of_plane(enum ptx_beyond beyond, bool filtered, bool normalized) {
    return (struct ptx_image){.data = (char *)plane,
                              .channel = PTX_F32,
                              .channels = 1,
                              .dims = 2,
                              .size = {4, 3, 1},
                              .pitch = sizeof(plane[0]),
                              .filtered = filtered,
                              .normalized_coordinates = normalized,
                              .beyond = {beyond, beyond, beyond},
                              .border = {-7, 0, 0, 0}};
}

static float as_float(uint32_t bits) {
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static float at(struct ptx_image im, float x, float y) {
    struct place p = {.at = {x, y}};
    uint32_t v[4];

    texel_read(&im, &p, true, v);
    assert_true(as_float(v[1]) == 0 || as_float(v[0]) == im.border[0]);
    return as_float(v[0]);
}

#define IS(value, expected) assert_true((value) == (expected))

void test_texture_points(void **state) {
    struct ptx_image im = of_plane(PTX_CLAMP, false, false);

    (void)state;
    IS(at(im, 1.5f, 2.5f), 21);
    IS(at(im, 1.99f, 0.01f), 1);
    IS(at(im, -5, 1), 10);
    IS(at(im, 99, 99), 23);
    IS(at(im, NAN, INFINITY), 20);
    im = of_plane(PTX_BORDER, false, false);
    IS(at(im, -0.01f, 1), -7);
    IS(at(im, 4, 1), -7);
    IS(at(im, 3.9f, 2.9f), 23);
    im = of_plane(PTX_WRAP, false, false); /* only for normalized ones */
    IS(at(im, 5, 0), 3);
    im = of_plane(PTX_WRAP, false, true);
    IS(at(im, 1.3f, 0), 1);
    IS(at(im, -0.1f, 0), 3);
    im = of_plane(PTX_MIRROR, false, true);
    IS(at(im, 1.1f, 0), 3);
    IS(at(im, -0.3f, 0), 1);
    IS(at(im, 2.3f, 0), 1);
}

void test_texture_filters(void **state) {
    struct ptx_image im = of_plane(PTX_CLAMP, true, false);

    (void)state;
    IS(at(im, 1.5f, 1.5f), 11);
    IS(at(im, 2, 1.5f), 11.5f);
    IS(at(im, 2, 2), 16.5f);
    IS(at(im, 1.5f + 1.0f / 256, 1.5f), 11 + 1.0f / 256);
    IS(at(im, 1.5f + 0.6f / 256, 1.5f), 11 + 1.0f / 256); /* 8 bits of a fraction */
    IS(at(im, 1.5f + 0.4f / 256, 1.5f), 11);
    IS(at(im, 0, 0.5f), 0);
    IS(at(im, 4, 0.5f), 3);
    plane[0][3] = INFINITY; /* what has no part in it leaves no trace */
    IS(at(im, 2.5f, 0.5f), 2);
    plane[0][3] = 3;
    im = of_plane(PTX_BORDER, true, false);
    IS(at(im, 0, 0.5f), -3.5f);
    im = of_plane(PTX_WRAP, true, true);
    IS(at(im, 0, 0.5f / 3), 1.5f);
    im = of_plane(PTX_MIRROR, true, true);
    IS(at(im, 0, 0.5f / 3), 0);
}

/* One element of each format, as floats and as it is. */
/* 8 by 4 elements, and what is half as large again and again: level 1 at byte 128, 2 at 192. */
static struct ptx_image of_levels(bool between) {
    static float all[256];

    for (int i = 0; i < 32; i++)
        all[i] = (float)(i % 8 + 10 * (i / 8));
    for (int i = 0; i < 8; i++)
        all[32 + i] = (float)(100 + i % 4 + 10 * (i / 4));
    all[48] = 200, all[49] = 201;
    all[64] = 300;
    return (struct ptx_image){.data = (char *)all,
                              .channel = PTX_F32,
                              .channels = 1,
                              .dims = 2,
                              .size = {8, 4, 1},
                              .pitch = 32,
                              .slice = 128,
                              .normalized_coordinates = true,
                              .beyond = {PTX_CLAMP, PTX_CLAMP, PTX_CLAMP},
                              .levels = 4,
                              .level_align = 64,
                              .between_levels = between,
                              .greatest_level = 10};
}

static float at_level(struct ptx_image im, float x, float y, float level) {
    struct place p = {.at = {x, y}};
    uint32_t v[4];

    texel_read_level(&im, &p, level, true, v);
    return as_float(v[0]);
}

void test_texture_levels(void **state) {
    struct ptx_image im = of_levels(false);

    (void)state;
    IS(at_level(im, 0.99f, 0.99f, 0), 37);
    IS(at_level(im, 0.99f, 0.99f, 0.49f), 37);
    IS(at_level(im, 0.99f, 0.99f, 0.5f), 113);
    IS(at_level(im, 0.99f, 0.99f, 2), 201);
    IS(at_level(im, 0.01f, 0.99f, 2), 200);
    IS(at_level(im, 0.5f, 0.5f, 3), 300);
    IS(at_level(im, 0.5f, 0.5f, 99), 300);
    IS(at_level(im, 0.99f, 0.99f, -5), 37);
    IS(at_level(im, 0.99f, 0.99f, NAN), 37);
    im.level_bias = 1;
    IS(at_level(im, 0.99f, 0.99f, 0), 113);
    im.level_bias = 0;
    im.least_level = 2;
    IS(at_level(im, 0.99f, 0.99f, 0), 201);
    im = of_levels(true);
    IS(at_level(im, 0.99f, 0.99f, 1), 113);
    IS(at_level(im, 0.99f, 0.99f, 1.25f), 113 * 0.75f + 201 * 0.25f);
    IS(at_level(im, 0.99f, 0.99f, 2.5f), 250.5f);
    im.greatest_level = 0.5f;
    IS(at_level(im, 0.99f, 0.99f, 3), 75);
    im.levels = 0; /* of what is no mipmapped array */
    IS(at_level(im, 0.99f, 0.99f, 3), 37);
}

void test_texture_formats(void **state) {
    static const struct {
        enum ptx_channel channel;
        unsigned char bytes[4];
        float fraction;
        uint32_t whole;
    } cases[] = {{PTX_U8, {255}, 1, 255},
                 {PTX_S8, {0x80}, -1, (uint32_t)-128},
                 {PTX_S8, {127}, 1, 127},
                 {PTX_U16, {0xff, 0xff}, 1, 65535},
                 {PTX_S16, {1, 0x80}, -1, (uint32_t)-32767}};
    struct place p = {.is_whole = true};
    uint32_t v[4];

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct ptx_image im = {.data = (char *)cases[k].bytes,
                               .channel = cases[k].channel,
                               .channels = 1,
                               .dims = 1,
                               .size = {1, 1, 1}};

        texel_read(&im, &p, true, v);
        IS(as_float(v[0]), cases[k].fraction);
        IS(as_float(v[3]), 1);
        im.integers = true;
        texel_read(&im, &p, false, v);
        assert_int_equal(v[0], cases[k].whole);
        assert_int_equal(v[3], 1);
    }
}

void test_surface_bytes(void **state) {
    struct ptx_image im = of_plane(PTX_CLAMP, false, false);
    struct place p = {.whole = {12, 2}};
    char *start = (char *)plane;

    (void)state;
    assert_ptr_equal(texel_bytes(&im, &p, 4, false), &plane[2][3]);
    p.whole[0] = 13;
    assert_null(texel_bytes(&im, &p, 4, false));
    assert_ptr_equal(texel_bytes(&im, &p, 4, true), &plane[2][3]);
    p.whole[0] = p.whole[1] = -3;
    assert_null(texel_bytes(&im, &p, 4, false));
    assert_ptr_equal(texel_bytes(&im, &p, 4, true), start);
    assert_null(texel_bytes(&im, &p, 32, true));
    im = (struct ptx_image){.data = start,
                            .channel = PTX_F32,
                            .channels = 1,
                            .dims = 1,
                            .size = {4, 1, 1},
                            .layers = 3,
                            .slice = sizeof(plane[0])};
    p = (struct place){.whole = {4}, .layer = 2};
    assert_ptr_equal(texel_bytes(&im, &p, 4, false), &plane[2][1]);
    p.layer = 3;
    assert_null(texel_bytes(&im, &p, 4, false));
}

#define TEXTURE 0x1234
#define SURFACE 0x5678

static bool find_image(void *opaque, uint64_t number, bool surface, struct ptx_image *out) {
    (void)opaque;
    *out = of_plane(PTX_CLAMP, false, false);
    return number == (surface ? SURFACE : TEXTURE);
}

static const char text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".global .texref t;\n.global .surfref s;\n.global .u32 t2;\n"
    ".visible .entry copy(.param .u64 tex, .param .u64 surf, .param .u32 x)\n{\n"
    ".reg .f32 %f<6>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [tex];\nld.param.u64 %rd2, [surf];\nld.param.u32 %r1, [x];\n"
    "mov.u32 %r2, %tid.x;\ncvt.rn.f32.u32 %f1, %r2;\n"
    "tex.2d.v4.f32.f32 {%f2, %f3, %f4, _}, [%rd1, {%f1, 0f3F800000}];\n"
    "shl.b32 %r3, %r2, 2;\nadd.u32 %r3, %r3, %r1;\nmov.b32 %r4, %f2;\n"
    "sust.b.2d.b32.trap [%rd2, {%r3, 2}], {%r4};\nret;\n}\n"
    ".visible .entry by_name(.param .u32 x)\n{\n"
    ".reg .f32 %f<6>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u32 %r1, [x];\n"
    "tex.2d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [t, {%r1, 1}];\n"
    "suld.b.2d.v2.b32.zero {%r3, %r4}, [s, {%r1, 0}];\n"
    "sust.b.2d.v2.b32.clamp [s, {0, 2}], {%r2, %r4};\nret;\n}\n";

void test_textures_run(void **state) {
    uint64_t texture = TEXTURE, surface = SURFACE, wrong = 99;
    struct ptx_memory memory = device;
    struct ptx_module *m;
    int x = 0, beyond = 4, odd = 2;
    size_t size;
    char log[128];

    (void)state;
    memory.image = find_image;
    assert_int_equal(ptx_module_load(text, sizeof(text), &memory, &m, log, sizeof(log)), PTX_OK);
    run_kernel(m, "copy", (struct run){.grid = 1, .block = 4}, ARG(texture), ARG(surface), ARG(x),
               NULL);
    for (int i = 0; i < 4; i++)
        IS(plane[2][i], plane[1][i]);
    run_kernel(m, "copy", (struct run){.grid = 1, .block = 4, .expect = PTX_ERR_ILLEGAL_ADDRESS},
               ARG(texture), ARG(surface), ARG(beyond), NULL);
    run_kernel(m, "copy", (struct run){.grid = 1, .block = 1, .expect = PTX_ERR_MISALIGNED},
               ARG(texture), ARG(surface), ARG(odd), NULL);
    run_kernel(m, "copy", (struct run){.grid = 1, .block = 1, .expect = PTX_ERR_ILLEGAL_ADDRESS},
               ARG(wrong), ARG(surface), ARG(x), NULL);
    assert_false(ptx_module_global(m, "t", &wrong, &size));
    assert_int_equal(ptx_module_reference(m, "s", false), 0);
    *(uint64_t *)(uintptr_t)ptx_module_reference(m, "t", false) = TEXTURE;
    *(uint64_t *)(uintptr_t)ptx_module_reference(m, "s", true) = SURFACE;
    run_kernel(m, "by_name", (struct run){.grid = 1, .block = 1}, ARG(x), NULL);
    IS(plane[2][0], 10);
    IS(plane[2][1], 1);
    ptx_module_unload(m);
}
