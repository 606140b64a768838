// SPDX-License-Identifier: Apache-2.0
/* Exchange between lanes, one instruction at a time; and accesses to memory of all kinds. */
#include "support.h"
#include "tests.h"

/* Runs the body with 32 lanes; %r1 is out[lane]'s value afterwards. */
static const uint32_t *lanes(const char *text) {
    char body[2048];
    uint32_t *out = dev_alloc(128), *in = dev_alloc(128);

    snprintf(body, sizeof(body),
             "%s\nmul.wide.u32 %%rd9, %%r0, 4;\nadd.u64 %%rd9, %%out, %%rd9;\n"
             "st.global.u32 [%%rd9], %%r1;",
             text);
    struct ptx_module *m = load_body(body);
    for (uint32_t i = 0; i < 32; i++)
        in[i] = i * i;
    run_kernel(m, "k", (struct run){.grid = 1, .block = 32}, ARG(out), ARG(in));
    ptx_module_unload(m);
    return out;
}

#define EXPECT(text, expr)                                                                         \
    do {                                                                                           \
        const uint32_t *out = lanes(text);                                                         \
        for (int l = 0; l < 32; l++)                                                               \
            if (out[l] != (uint32_t)(expr))                                                        \
                fail_msg("%s: lane %d: %x, not %x", text, l, out[l], (uint32_t)(expr));            \
        dev_reset();                                                                               \
    } while (0)

void test_lanes(void **state) {
    (void)state;
    EXPECT("shfl.sync.up.b32 %r1, %r0, 3, 0, -1;", l < 3 ? l : l - 3);
    EXPECT("shfl.sync.down.b32 %r1, %r0, 3, 31, -1;", l > 28 ? l : l + 3);
    EXPECT("shfl.sync.bfly.b32 %r1, %r0, 5, 31, -1;", l ^ 5);
    EXPECT("shfl.sync.idx.b32 %r1, %r0, 5, 31, -1;", 5);
    /* segments of 8: the mask in bits 8 to 12 of c */
    EXPECT("shfl.sync.down.b32 %r1, %r0, 3, 0x1807, -1;", (l & 7) > 4 ? l : l + 3);
    EXPECT("shfl.sync.up.b32 %r1, %r0, 3, 0x1800, -1;", (l & 7) < 3 ? l : l - 3);
    EXPECT("shfl.sync.idx.b32 %r1, %r0, 10, 0x1807, -1;", (l & ~7) + 2);
    EXPECT("shfl.sync.bfly.b32 %r1, %r0, 9, 0x1807, -1;", (l ^ 9) <= (l | 7) ? l ^ 9 : l);
    EXPECT("shfl.sync.down.b32 %r1|%p1, %r0, 3, 31, -1; selp.u32 %r1, 1, 0, %p1;", l < 29);
    EXPECT("shfl.down.b32 %r1|%p1, %r0, 3, 31; selp.u32 %r1, 1, 0, %p1;", l < 29);
    EXPECT("setp.lt.u32 %p1, %r0, 20; vote.sync.ballot.b32 %r1, %p1, -1;", 0xfffff);
    EXPECT("setp.lt.u32 %p1, %r0, 20; vote.ballot.b32 %r1, !%p1;", 0xfff00000);
    EXPECT("setp.lt.u32 %p1, %r0, 20; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;",
           0);
    EXPECT("setp.lt.u32 %p1, %r0, 20; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;",
           1);
    EXPECT("setp.lt.u32 %p1, %r0, 99; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;",
           1);
    /* two halves of the warp, each with its own members */
    EXPECT("setp.lt.u32 %p1, %r0, 16; mov.u32 %r2, 0xffff; @!%p1 shl.b32 %r2, %r2, 16;\n"
           "setp.lt.u32 %p2, %r0, 24; vote.sync.ballot.b32 %r1, %p2, %r2;",
           l < 16 ? 0xffff : 0xff0000);
    EXPECT("shr.u32 %r2, %r0, 2; match.any.sync.b32 %r1, %r2, -1;", 15u << (l & ~3));
    EXPECT("match.all.sync.b32 %r1|%p1, %r0, -1; @%p1 mov.u32 %r1, 7;", 0);
    EXPECT("cvt.u64.u32 %rd1, 5; match.all.sync.b64 %r1|%p1, %rd1, -1;", 0xffffffff);
    EXPECT("redux.sync.add.u32 %r1, %r0, -1;", 496);
    EXPECT("sub.s32 %r2, %r0, 9; redux.sync.min.s32 %r1, %r2, -1;", -9);
    EXPECT("sub.s32 %r2, %r0, 9; redux.sync.max.u32 %r1, %r2, -1;", -1);
    EXPECT("mov.u32 %r1, 9; setp.lt.u32 %p1, %r0, 3; @%p1 redux.sync.xor.b32 %r1, %r0, 7;",
           l < 3 ? 3 : 9);
    EXPECT("mov.u32 %r1, 0; setp.lt.u32 %p1, %r0, 4; @%p1 activemask.b32 %r1;", l < 4 ? 15 : 0);
    EXPECT("mov.u32 %r1, %lanemask_gt;", l == 31 ? 0 : ~0u << (l + 1));
    EXPECT("mov.u32 %r1, %lanemask_le;", (2u << l) - 1);
    EXPECT("add.u32 %r1, %laneid, %ntid.x;", l + 32);
    EXPECT("mov.u32 %r1, WARP_SZ;", 32);
    EXPECT("mov.u64 %rd1, %clock64; mov.u64 %rd2, %clock64; setp.le.u64 %p1, %rd1, %rd2;\n"
           "selp.u32 %r1, 1, 0, %p1;",
           1);
    EXPECT("bar.red.popc.u32 %r1, 0, 1;", 32);
    EXPECT("barrier.cta.sync.aligned 3, 32; mov.u32 %r1, 4;", 4);
}

void test_memory(void **state) {
    (void)state;
    EXPECT("ld.global.v4.u32 {%r2, %r3, %r4, %r1}, [%in+16];", 49);
    EXPECT("ld.global.nc.v2.u32 {%r1, _}, [%in+16];", 16);
    EXPECT("ld.global.s8 %r1, [%in+44];", 121);
    EXPECT("mov.u64 %rd1, 0xff80; st.global.u64 [%in], %rd1; ld.global.s8 %r1, [%in];", 0xffffff80);
    EXPECT("mov.u64 %rd1, 0xff80; st.global.u16 [%in], %rd1; ld.global.u16 %r1, [%in];", 0xff80);
    EXPECT("ld.volatile.u32 %r1, [%in+12]; fence.acq_rel.gpu; membar.sys;", 9);
    EXPECT("ld.acquire.gpu.global.L1::no_allocate.u32 %r1, [%in+12];", 9);
    EXPECT(".shared .align 8 .b8 s[256]; mov.u32 %r2, s; mad.lo.u32 %r2, %r0, 8, %r2;\n"
           "st.shared.v2.u32 [%r2], {%r0, %r0}; bar.sync 0; ld.shared.u32 %r1, [s+12];",
           1);
    EXPECT(".shared .u32 s[32]; mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1;\n"
           "mad.wide.u32 %rd1, %r0, 4, %rd1; st.u32 [%rd1], %r0; ld.u32 %r1, [%rd1];\n"
           "isspacep.shared %p1, %rd1; @!%p1 trap; cvta.to.shared.u64 %rd2, %rd1;\n"
           "ld.shared.u32 %r2, [%rd2]; setp.ne.u32 %p1, %r1, %r2; @%p1 trap;",
           l);
    EXPECT(".local .u32 t[4]; mov.u64 %rd1, t; cvta.local.u64 %rd1, %rd1; st.u32 [%rd1+8], %r0;\n"
           "ld.local.u32 %r1, [t+8]; isspacep.local %p1, %rd1; @!%p1 trap;",
           l);
    EXPECT("mov.b64 %rd1, p_in; ld.param.u64 %rd2, [%rd1]; ld.u32 %r1, [%rd2+8];", 4);
    EXPECT("mov.b64 %rd1, p_in; cvta.param.u64 %rd1, %rd1; ld.u64 %rd2, [%rd1];\n"
           "ld.u32 %r1, [%rd2+8];",
           4);
    EXPECT("atom.global.add.u32 %r2, [%in], 2; ld.global.u32 %r1, [%in];", 64);
    EXPECT("red.global.add.f32 [%in], 0f3f800000; ld.global.f32 %f1, [%in];\n"
           "cvt.rni.u32.f32 %r1, %f1;",
           32);
    EXPECT("atom.global.inc.u32 %r2, [%in], 9; ld.global.u32 %r1, [%in];", 2);
    EXPECT("atom.global.dec.u32 %r2, [%in], 9; ld.global.u32 %r1, [%in];", 8);
    EXPECT("atom.max.s32 %r2, [%in], %r0; ld.global.u32 %r1, [%in];", 31);
    EXPECT("atom.global.cas.b32 %r1, [%in+4], 1, 5; ld.global.u32 %r1, [%in+4];", 5);
    EXPECT("atom.global.exch.b64 %rd1, [%in+8], 3; ld.global.u32 %r1, [%in+8];", 3);
    EXPECT("mov.f64 %fd1, 0d3ff0000000000000; red.global.add.f64 [%in], %fd1;\n"
           "ld.global.f64 %fd1, [%in]; cvt.rzi.u32.f64 %r1, %fd1;",
           32);
    EXPECT("red.global.or.b32 [%in], %r0; ld.global.u32 %r1, [%in];", 31);
    EXPECT(".shared .u32 s; st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r2, [s], %r0;\n"
           "bar.sync 0; ld.shared.u32 %r1, [s];",
           496);
    EXPECT("mov.u32 %r1, 3; prefetch.global.L2 [%in]; prefetchu.L1 [%in];", 3);
}
