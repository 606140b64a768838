// SPDX-License-Identifier: Apache-2.0
/*
 * Single instructions on chosen values. Each case is one line of PTX on registers that hold the
 * inputs: %r1 to %r3 and %rd1 to %rd3 (the lower halves of the inputs, and the inputs), %f1 to %f3,
 * %fd1 to %fd3, %rs1 to %rs3 (their bits). The result is taken from the register named.
 */
#include <math.h>

#include "support.h"
#include "tests.h"

struct unit {
    const char *text;
    const char *result; /* register */
    uint64_t a, b, c, want;
};

static void run_units(const struct unit *units, size_t count) {
    static const char head[] =
        "ld.global.u64 %rd1, [%in]; ld.global.u64 %rd2, [%in+8]; ld.global.u64 %rd3, [%in+16];\n"
        "cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3;\n"
        "cvt.u16.u64 %rs1, %rd1; cvt.u16.u64 %rs2, %rd2; cvt.u16.u64 %rs3, %rd3;\n"
        "mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;\n"
        "mov.b64 %fd1, %rd1; mov.b64 %fd2, %rd2; mov.b64 %fd3, %rd3;\n";
    static const char *const store[] = {"b16", "b32", "b64", "b32", "b64"};
    static const char *const kind[] = {"%rs", "%r", "%rd", "%f", "%fd"};

    for (size_t k = 0; k < count; k++) {
        const struct unit *u = &units[k];
        char body[2048];
        int which = -1;
        for (int t = 0; t < 5; t++) {
            size_t n = strlen(kind[t]);
            if (!strncmp(u->result, kind[t], n) && u->result[n] >= '0' && u->result[n] <= '9')
                which = t;
        }
        if (*u->result == 'p') /* predicate %p1 as 0 or 1 */
            snprintf(body, sizeof(body),
                     "%s%s\nselp.b32 %%r9, 1, 0, %%p1;\n"
                     "st.global.b32 [%%out], %%r9;",
                     head, u->text);
        else
            snprintf(body, sizeof(body), "%s%s\nst.global.%s [%%out], %s;", head, u->text,
                     store[which], u->result);
        struct ptx_module *m = load_body(body);
        uint64_t *in = dev_alloc(24), *out = dev_alloc(8);
        in[0] = u->a;
        in[1] = u->b;
        in[2] = u->c;
        run_kernel(m, "k", (struct run){.grid = 1, .block = 1 + 31 * (k & 1)}, ARG(out), ARG(in));
        if (*out != u->want)
            fail_msg("%s (%llx, %llx, %llx): %llx, not %llx", u->text, (unsigned long long)u->a,
                     (unsigned long long)u->b, (unsigned long long)u->c, (unsigned long long)*out,
                     (unsigned long long)u->want);
        ptx_module_unload(m);
        dev_reset();
    }
}

#define RUN(units) run_units(units, sizeof(units) / sizeof(*units))

static uint64_t F(double v) {
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static uint64_t D(double v) {
    uint64_t u;
    memcpy(&u, &v, 8);
    return u;
}

#define NAN32 0x7fffffffull
#define QNAN 0x7fc00123ull
#define MAX32 0x7f7fffffull

void test_integers(void **state) {
    static const struct unit units[] = {
        {"add.u32 %r4, %r1, %r2;", "%r4", 0xffffffff, 2, 0, 1},
        {"add.sat.s32 %r4, %r1, %r2;", "%r4", 0x7fffffff, 2, 0, 0x7fffffff},
        {"sub.sat.s32 %r4, %r1, %r2;", "%r4", 0x80000000, 1, 0, 0x80000000},
        {"sub.u16 %rs4, %rs1, %rs2;", "%rs4", 1, 2, 0, 0xffff},
        {"add.cc.u32 %r4, %r1, %r2; addc.u32 %r4, %r3, 0;", "%r4", 0xffffffff, 1, 5, 6},
        {"sub.cc.u32 %r4, %r1, %r2; subc.u32 %r4, %r3, 0;", "%r4", 1, 2, 5, 4},
        {"add.cc.u64 %rd4, %rd1, %rd2; addc.cc.u64 %rd4, %rd3, 0; addc.u64 %rd4, 7, 0;", "%rd4",
         ~0ull, 1, ~0ull, 8},
        {"mad.lo.cc.u32 %r4, %r1, %r2, %r3; madc.hi.u32 %r4, %r1, %r2, 0;", "%r4", 0xffffffff,
         0xffffffff, 0xffffffff, 0xffffffff},
        {"mad.lo.cc.u64 %rd4, %rd1, %rd2, %rd3; madc.hi.u64 %rd4, %rd1, %rd2, 10;", "%rd4", ~0ull,
         2, 5, 12},
        {"mad.hi.cc.s32 %r4, %r1, %r2, %r3; addc.u32 %r4, 0, 0;", "%r4", -1, 3, 1, 1},
        {"mul.hi.s32 %r4, %r1, %r2;", "%r4", -5, 7, 0, 0xffffffff},
        {"mul.hi.u32 %r4, %r1, %r2;", "%r4", 0xfffffffb, 7, 0, 6},
        {"mul.wide.s16 %r4, %rs1, %rs2;", "%r4", 0xffff, 5, 0, 0xfffffffb},
        {"mul.wide.u32 %rd4, %r1, %r2;", "%rd4", 0xffffffff, 0xffffffff, 0, 0xfffffffe00000001},
        {"mad.wide.s32 %rd4, %r1, %r2, %rd3;", "%rd4", -2, 3, 10, 4},
        {"mul.hi.u64 %rd4, %rd1, %rd2;", "%rd4", ~0ull, ~0ull, 0, ~0ull - 1},
        {"mul.hi.s64 %rd4, %rd1, %rd2;", "%rd4", ~0ull, 2, 0, ~0ull},
        {"mad.hi.sat.s32 %r4, %r1, %r2, %r3;", "%r4", 0x7fffffff, 0x7fffffff, 0x7fffffff,
         0x7fffffff},
        {"mul24.lo.s32 %r4, %r1, %r2;", "%r4", 0xffffff, 5, 0, 0xfffffffb},
        {"mul24.hi.u32 %r4, %r1, %r2;", "%r4", 0xffffff, 0xffffff, 0, 0xfffffe00},
        {"mad24.lo.u32 %r4, %r1, %r2, %r3;", "%r4", 0x1000003, 5, 1, 16},
        {"div.s32 %r4, %r1, %r2;", "%r4", -7, 2, 0, 0xfffffffd},
        {"div.s32 %r4, %r1, %r2;", "%r4", 0x80000000, 0xffffffff, 0, 0x80000000},
        {"div.u32 %r4, %r1, %r2;", "%r4", 7, 0, 0, 0xffffffff},
        {"rem.s32 %r4, %r1, %r2;", "%r4", -7, 2, 0, 0xffffffff},
        {"rem.s64 %rd4, %rd1, %rd2;", "%rd4", 1ull << 63, ~0ull, 0, 0},
        {"rem.u16 %rs4, %rs1, %rs2;", "%rs4", 1000, 7, 0, 6},
        {"abs.s32 %r4, %r1;", "%r4", 0x80000000, 0, 0, 0x80000000},
        {"neg.s64 %rd4, %rd1;", "%rd4", 5, 0, 0, -5},
        {"min.s32 %r4, %r1, %r2;", "%r4", -1, 1, 0, 0xffffffff},
        {"min.u32 %r4, %r1, %r2;", "%r4", -1, 1, 0, 1},
        {"max.s64 %rd4, %rd1, %rd2;", "%rd4", -1, 1, 0, 1},
        {"max.u16 %rs4, %rs1, %rs2;", "%rs4", 0xffff, 1, 0, 0xffff},
        {"sad.s32 %r4, %r1, %r2, %r3;", "%r4", -5, 7, 100, 112},
        {"sad.u16 %rs4, %rs1, %rs2, %rs3;", "%rs4", 5, 7, 100, 102},
        {"popc.b64 %r4, %rd1;", "%r4", ~0ull, 0, 0, 64},
        {"clz.b32 %r4, %r1;", "%r4", 0, 0, 0, 32},
        {"clz.b64 %r4, %rd1;", "%r4", 1, 0, 0, 63},
        {"brev.b32 %r4, %r1;", "%r4", 0x12345678, 0, 0, 0x1e6a2c48},
        {"brev.b64 %rd4, %rd1;", "%rd4", 1, 0, 0, 1ull << 63},
        {"bfind.u32 %r4, %r1;", "%r4", 0, 0, 0, 0xffffffff},
        {"bfind.s32 %r4, %r1;", "%r4", -9, 0, 0, 3},
        {"bfind.shiftamt.u64 %r4, %rd1;", "%r4", 1, 0, 0, 63},
        {"bfe.u32 %r4, %r1, 8, 12;", "%r4", 0x12345678, 0, 0, 0x456},
        {"bfe.s32 %r4, %r1, 28, 8;", "%r4", 0x82345678, 0, 0, 0xfffffff8},
        {"bfe.s64 %rd4, %rd1, 60, 4;", "%rd4", 0x9000000000000000, 0, 0, 0xfffffffffffffff9},
        {"bfe.s32 %r4, %r1, 40, 4;", "%r4", 0x80000000, 0, 0, 0xffffffff},
        {"bfe.u32 %r4, %r1, 0, 0;", "%r4", 0xffffffff, 0, 0, 0},
        {"bfi.b32 %r4, %r1, %r2, 8, 8;", "%r4", 0xab, 0xffffffff, 0, 0xffffabff},
        {"bfi.b64 %rd4, %rd1, %rd2, 32, 32;", "%rd4", 0xabcdef01, 0x12345678, 0,
         0xabcdef0112345678},
        {"prmt.b32 %r4, %r1, %r2, 0x7531;", "%r4", 0x44332211, 0x88776655, 0, 0x88664422},
        {"prmt.b32 %r4, %r1, %r2, 0x8888;", "%r4", 0x80, 0, 0, 0xffffffff},
        {"prmt.b32.f4e %r4, %r1, %r2, %r3;", "%r4", 0x44332211, 0x88776655, 1, 0x55443322},
        {"prmt.b32.b4e %r4, %r1, %r2, %r3;", "%r4", 0x44332211, 0x88776655, 0, 0x66778811},
        {"prmt.b32.rc16 %r4, %r1, %r2, %r3;", "%r4", 0x44332211, 0, 1, 0x44334433},
        {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", "%r4", 0x80000000, 1, 33, 3},
        {"shf.l.clamp.b32 %r4, %r1, %r2, %r3;", "%r4", 0x80000000, 1, 33, 0x80000000},
        {"shf.r.wrap.b32 %r4, %r1, %r2, %r3;", "%r4", 0x80000000, 1, 4, 0x18000000},
        {"shf.r.clamp.b32 %r4, %r1, %r2, %r3;", "%r4", 0x80000000, 7, 99, 7},
        {"shl.b32 %r4, %r1, 32;", "%r4", 1, 0, 0, 0},
        {"shl.b64 %rd4, %rd1, 63;", "%rd4", 1, 0, 0, 1ull << 63},
        {"shr.s32 %r4, %r1, 99;", "%r4", 0x80000000, 0, 0, 0xffffffff},
        {"shr.u32 %r4, %r1, 31;", "%r4", 0x80000000, 0, 0, 1},
        {"shr.s16 %rs4, %rs1, 4;", "%rs4", 0x8000, 0, 0, 0xf800},
        {"lop3.b32 %r4, %r1, %r2, %r3, 0x96;", "%r4", 0xf0, 0xcc, 0xaa, 0x96},
        {"lop3.b32 %r4, %r1, %r2, %r3, 0xe8;", "%r4", 0xf0, 0xcc, 0xaa, 0xe8},
        {"cnot.b32 %r4, %r1;", "%r4", 0, 0, 0, 1},
        {"not.b64 %rd4, %rd1;", "%rd4", 0, 0, 0, ~0ull},
        {"dp4a.s32.s32 %r4, %r1, %r2, %r3;", "%r4", 0xff020304, 0x05fe0708, 10, 10 - 5 - 4 + 53},
        {"dp4a.u32.s32 %r4, %r1, %r2, %r3;", "%r4", 0xff, 0xff, 0, (uint32_t)-255},
        {"dp2a.lo.u32.u32 %r4, %r1, %r2, %r3;", "%r4", 0x00020003, 0x0000050a, 1, 1 + 30 + 10},
        {"dp2a.hi.s32.u32 %r4, %r1, %r2, %r3;", "%r4", 0xffff0003, 0x050a0000, 1, 1 + 30 - 5},
        {"vabsdiff4.u32.u32.u32 %r4, %r1, %r2, %r3;", "%r4", 0x01ff0305, 0x02000500, 9, 0x01ff0205},
        {"vabsdiff4.u32.s32.s32.add %r4, %r1, %r2, %r3;", "%r4", 0x01ff0305, 0x02000500, 9, 18},
        {"mov.b64 {%r4, %r5}, %rd1; mov.b64 %rd4, {%r5, %r4};", "%rd4", 0x1111111122222222, 0, 0,
         0x2222222211111111},
        {"mov.b32 {%rs4, %rs5}, %r1; mov.b32 %r4, {%rs5, %rs4};", "%r4", 0x11112222, 0, 0,
         0x22221111},
        {"add.u16x2 %r4, %r1, %r2;", "%r4", 0x0001ffff, 0x00010001, 0, 0x00020000},
        {"max.s16x2 %r4, %r1, %r2;", "%r4", 0x0001ffff, 0xffff0001, 0, 0x00010001},
        {"bmsk.clamp.b32 %r4, %r1, %r2;", "%r4", 4, 8, 0, 0xff0},
    };
    (void)state;
    RUN(units);
}

void test_compare(void **state) {
    const uint64_t one = F(1), two = F(2);
    const struct unit units[] = {
        {"setp.lt.s32 %p1, %r1, %r2;", "p", -1, 1, 0, 1},
        {"setp.lo.u32 %p1, %r1, %r2;", "p", -1, 1, 0, 0},
        {"setp.hs.u64 %p1, %rd1, %rd2;", "p", -1, 1, 0, 1},
        {"setp.ge.s16 %p1, %rs1, %rs2;", "p", 0x8000, 1, 0, 0},
        {"setp.eq.f32 %p1, %f1, %f2;", "p", one, one, 0, 1},
        {"setp.eq.f32 %p1, %f1, %f2;", "p", 0x80000000, 0, 0, 1},
        {"setp.ne.f32 %p1, %f1, %f2;", "p", one, QNAN, 0, 0},
        {"setp.neu.f32 %p1, %f1, %f2;", "p", one, QNAN, 0, 1},
        {"setp.equ.f32 %p1, %f1, %f2;", "p", one, QNAN, 0, 1},
        {"setp.ltu.f32 %p1, %f1, %f2;", "p", two, one, 0, 0},
        {"setp.geu.f32 %p1, %f1, %f2;", "p", QNAN, one, 0, 1},
        {"setp.num.f32 %p1, %f1, %f2;", "p", QNAN, one, 0, 0},
        {"setp.nan.f64 %p1, %fd1, %fd2;", "p", 0x7ff8000000000000, 0, 0, 1},
        {"setp.gt.ftz.f32 %p1, %f1, %f2;", "p", 1, 0, 0, 0},
        {"setp.gt.f32 %p1, %f1, %f2;", "p", 1, 0, 0, 1},
        {"setp.ne.s32 %p2, 0, 0; setp.lt.or.s32 %p1, %r1, %r2, !%p2;", "p", 2, 1, 0, 1},
        {"setp.lt.s32 %p2|%p1, %r1, %r2;", "p", 2, 1, 0, 1},
        {"setp.eq.s32 %p3, 0, 0; setp.lt.and.s32 %p2|%p1, %r1, %r2, %p3;", "p", 2, 1, 0, 1},
        {"setp.eq.f16 %p1, %rs1, %rs2;", "p", 0x3c00, 0x3c00, 0, 1},
        {"setp.lt.f16x2 %p2|%p1, %r1, %r2;", "p", 0x3c004000, 0x40003c00, 0, 1},
        {"set.lt.u32.s32 %r4, %r1, %r2;", "%r4", -1, 1, 0, 0xffffffff},
        {"set.lt.f32.s32 %f4, %r1, %r2;", "%f4", -1, 1, 0, 0x3f800000},
        {"set.gt.f16x2.f16x2 %r4, %r1, %r2;", "%r4", 0x3c004000, 0x40003c00, 0, 0x00003c00},
        {"setp.eq.s32 %p1, %r1, 3; selp.b64 %rd4, %rd1, %rd2, %p1;", "%rd4", 3, 9, 0, 3},
        {"setp.eq.s32 %p1, %r1, 3; selp.f32 %f4, %f1, %f2, !%p1;", "%f4", 3, 9, 0, 9},
        {"slct.s32.s32 %r4, %r1, %r2, %r3;", "%r4", 3, 9, -1, 9},
        {"slct.b64.f32 %rd4, %rd1, %rd2, %f3;", "%rd4", 3, 9, 0x80000000, 3},
        {"setp.eq.s32 %p2, 0, 0; not.pred %p3, %p2; xor.pred %p1, %p2, %p3;", "p", 0, 0, 0, 1},
        {"testp.subnormal.f32 %p1, %f1;", "p", 1, 0, 0, 1},
        {"testp.normal.f64 %p1, %fd1;", "p", 0, 0, 0, 0},
        {"testp.notanumber.f32 %p1, %f1;", "p", QNAN, 0, 0, 1},
        {"isspacep.global %p1, %out;", "p", 0, 0, 0, 1},
        {"isspacep.shared %p1, %out;", "p", 0, 0, 0, 0},
    };
    (void)state;
    RUN(units);
}

void test_floats(void **state) {
    const uint64_t one = F(1), three = F(3), tiny = 1, eps = F(0x1p-24), big = MAX32;
    const struct unit units[] = {
        {"add.rn.f32 %f4, %f1, %f2;", "%f4", one, eps, 0, one},
        {"add.rp.f32 %f4, %f1, %f2;", "%f4", one, eps, 0, one + 1},
        {"add.rz.f32 %f4, %f1, %f2;", "%f4", one, F(-0x1p-30), 0, one - 1},
        {"add.rm.f32 %f4, %f1, %f2;", "%f4", one, F(-1), 0, 0x80000000},
        {"add.f32 %f4, %f1, %f2;", "%f4", one, F(-1), 0, 0},
        {"add.f32 %f4, %f1, %f2;", "%f4", F(INFINITY), F(-INFINITY), 0, NAN32},
        {"add.f32 %f4, %f1, %f2;", "%f4", QNAN, one, 0, NAN32},
        {"add.f32 %f4, %f1, %f2;", "%f4", tiny, tiny, 0, 2},
        {"add.ftz.f32 %f4, %f1, %f2;", "%f4", tiny, 0x80000001, 0, 0},
        {"add.sat.f32 %f4, %f1, %f2;", "%f4", one, three, 0, one},
        {"add.sat.f32 %f4, %f1, %f2;", "%f4", QNAN, three, 0, 0},
        {"mul.rz.f32 %f4, %f1, %f2;", "%f4", big, three, 0, big},
        {"mul.rn.f32 %f4, %f1, %f2;", "%f4", big, three, 0, F(INFINITY)},
        {"mul.rp.f32 %f4, %f1, %f2;", "%f4", tiny, tiny, 0, 1},
        {"mul.ftz.f32 %f4, %f1, %f2;", "%f4", 0x00800000, F(-0.5), 0, 0x80000000},
        {"div.rn.f32 %f4, %f1, %f2;", "%f4", one, three, 0, 0x3eaaaaab},
        {"div.rz.f32 %f4, %f1, %f2;", "%f4", one, three, 0, 0x3eaaaaaa},
        {"rcp.rn.f32 %f4, %f1;", "%f4", three, 0, 0, 0x3eaaaaab},
        {"rcp.rm.f32 %f4, %f1;", "%f4", three, 0, 0, 0x3eaaaaaa},
        {"rcp.rz.f64 %fd4, %fd1;", "%fd4", D(3), 0, 0, 0x3fd5555555555555},
        {"sqrt.rn.f32 %f4, %f1;", "%f4", F(2), 0, 0, 0x3fb504f3},
        {"sqrt.rp.f32 %f4, %f1;", "%f4", F(2), 0, 0, 0x3fb504f4},
        {"sqrt.rn.f32 %f4, %f1;", "%f4", F(-2), 0, 0, NAN32},
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", F(1 + 0x1p-12), F(1 + 0x1p-12), F(-1),
         F(0x1p-11 + 0x1p-24)},
        /* the sum is half way but for a bit that a double loses */
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", F(0x1p-75), F(0x1p-75), one + 1, one + 1},
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", F(1 + 0x1p-23), F(0x1p-24), one, one + 1},
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", F(1 - 0x1p-24), F(0x1p-24), one, one},
        {"fma.rp.f32 %f4, %f1, %f2, %f3;", "%f4", F(0x1p-75), F(0x1p-75), one, one + 1},
        {"fma.rm.f32 %f4, %f1, %f2, %f3;", "%f4", F(0x1p-75), F(-0x1p-75), one, one - 1},
        {"fma.rz.f32 %f4, %f1, %f2, %f3;", "%f4", F(0x1p-75), F(-0x1p-75), one, one - 1},
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", F(0x1p-75), F(0x1p-75), 2, 2},
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", F(0x1p-75), F(0x1.000002p-75), 2, 3},
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", F(0x1.000002p-75), F(0x1.fffffcp-76), 0x00400001,
         0x00400001},
        {"fma.rn.ftz.f32 %f4, %f1, %f2, %f3;", "%f4", one, 1, 1, 0},
        {"fma.rn.f64 %fd4, %fd1, %fd2, %fd3;", "%fd4", D(1 + 0x1p-30), D(1 + 0x1p-30), D(-1),
         D(0x1p-29 + 0x1p-60)},
        {"add.rm.f64 %fd4, %fd1, %fd2;", "%fd4", D(1), D(-0x1p-80), 0, D(1 - 0x1p-53)},
        {"mul.rp.f64 %fd4, %fd1, %fd2;", "%fd4", D(0x1p-1000), D(0x1p-1000), 0, 1},
        {"div.rm.f64 %fd4, %fd1, %fd2;", "%fd4", D(2), D(3), 0, 0x3fe5555555555555},
        {"min.f32 %f4, %f1, %f2;", "%f4", QNAN, one, 0, one},
        {"min.NaN.f32 %f4, %f1, %f2;", "%f4", QNAN, one, 0, NAN32},
        {"min.f32 %f4, %f1, %f2;", "%f4", 0, 0x80000000, 0, 0x80000000},
        {"max.f32 %f4, %f1, %f2;", "%f4", 0x80000000, 0, 0, 0},
        {"max.f32 %f4, %f1, %f2;", "%f4", QNAN, QNAN, 0, NAN32},
        {"max.xorsign.abs.f32 %f4, %f1, %f2;", "%f4", F(-3), one, 0, F(-3)},
        {"abs.f32 %f4, %f1;", "%f4", F(-3), 0, 0, three},
        {"neg.ftz.f32 %f4, %f1;", "%f4", 1, 0, 0, 0x80000000},
        {"copysign.f32 %f4, %f1, %f2;", "%f4", F(-1), three, 0, F(-3)},
        {"ex2.approx.f32 %f4, %f1;", "%f4", three, 0, 0, F(8)},
        {"ex2.approx.ftz.f32 %f4, %f1;", "%f4", F(-140), 0, 0, 0},
        {"lg2.approx.f32 %f4, %f1;", "%f4", F(8), 0, 0, three},
        {"lg2.approx.f32 %f4, %f1;", "%f4", 0, 0, 0, F(-INFINITY)},
        {"rsqrt.approx.f32 %f4, %f1;", "%f4", F(4), 0, 0, F(0.5)},
        {"div.approx.f32 %f4, %f1, %f2;", "%f4", one, F(0x1p127), 0, 0},
        {"div.full.f32 %f4, %f1, %f2;", "%f4", one, F(4), 0, F(0.25)},
        {"rcp.approx.ftz.f64 %fd4, %fd1;", "%fd4", D(4) + 12345, 0, 0, D(0.25)},
        {"sin.approx.f32 %f4, %f1;", "%f4", F(INFINITY), 0, 0, NAN32},
        {"cos.approx.f32 %f4, %f1;", "%f4", 0, 0, 0, one},
        {"tanh.approx.f32 %f4, %f1;", "%f4", F(50), 0, 0, one},
        {"add.f16 %rs4, %rs1, %rs2;", "%rs4", 0x3c00, 0x1400, 0, 0x3c01},
        {"fma.rn.f16 %rs4, %rs1, %rs2, %rs3;", "%rs4", 0x3c01, 0x3c01, 0xbc00, 0x1800},
        {"mul.f16x2 %r4, %r1, %r2;", "%r4", 0x40003c00, 0x42003800, 0, 0x46003800},
        {"add.sat.f16 %rs4, %rs1, %rs2;", "%rs4", 0x3c00, 0x3c00, 0, 0x3c00},
        {"fma.rn.relu.f16 %rs4, %rs1, %rs2, %rs3;", "%rs4", 0xbc00, 0x3c00, 0, 0},
        {"fma.rn.bf16 %rs4, %rs1, %rs2, %rs3;", "%rs4", 0x3f80, 0x4000, 0x3f80, 0x4040},
        {"min.f16 %rs4, %rs1, %rs2;", "%rs4", 0x7e00, 0x3c00, 0, 0x3c00},
        {"max.NaN.f16x2 %r4, %r1, %r2;", "%r4", 0x7e003c00, 0x3c004000, 0, 0x7fff4000},
        {"neg.f16x2 %r4, %r1;", "%r4", 0x3c00bc00, 0, 0, 0xbc003c00},
    };
    (void)state;
    RUN(units);
}

void test_conversions(void **state) {
    const struct unit units[] = {
        {"cvt.rzi.s32.f32 %r4, %f1;", "%r4", F(-1.9), 0, 0, 0xffffffff},
        {"cvt.rni.s32.f32 %r4, %f1;", "%r4", F(2.5), 0, 0, 2},
        {"cvt.rmi.s32.f32 %r4, %f1;", "%r4", F(-1.1), 0, 0, 0xfffffffe},
        {"cvt.rpi.u32.f32 %r4, %f1;", "%r4", F(1.1), 0, 0, 2},
        {"cvt.rzi.s32.f32 %r4, %f1;", "%r4", F(3e9), 0, 0, 0x7fffffff},
        {"cvt.rzi.s32.f32 %r4, %f1;", "%r4", F(-3e9), 0, 0, 0x80000000},
        {"cvt.rzi.u32.f32 %r4, %f1;", "%r4", F(-3e9), 0, 0, 0},
        {"cvt.rzi.u32.f32 %r4, %f1;", "%r4", F(5e9), 0, 0, 0xffffffff},
        {"cvt.rzi.s32.f32 %r4, %f1;", "%r4", QNAN, 0, 0, 0},
        {"cvt.rzi.s64.f32 %rd4, %f1;", "%rd4", QNAN, 0, 0, 1ull << 63},
        {"cvt.rzi.s32.f64 %r4, %fd1;", "%r4", D(NAN), 0, 0, 0x80000000},
        {"cvt.rzi.u64.f64 %rd4, %fd1;", "%rd4", D(1e30), 0, 0, ~0ull},
        {"cvt.rzi.s64.f64 %rd4, %fd1;", "%rd4", D(-1e30), 0, 0, 1ull << 63},
        {"cvt.rni.s8.f32 %r4, %f1;", "%r4", F(-300), 0, 0, 0xffffff80},
        {"cvt.rzi.u16.f32 %rs4, %f1;", "%rs4", F(70000), 0, 0, 0xffff},
        {"cvt.rni.f32.f32 %f4, %f1;", "%f4", F(-0.4), 0, 0, 0x80000000},
        {"cvt.rpi.f64.f64 %fd4, %fd1;", "%fd4", D(1.25), 0, 0, D(2)},
        {"cvt.sat.f32.f32 %f4, %f1;", "%f4", F(7), 0, 0, F(1)},
        {"cvt.ftz.f32.f32 %f4, %f1;", "%f4", 1, 0, 0, 0},
        {"cvt.rn.f32.s32 %f4, %r1;", "%f4", 16777217, 0, 0, F(16777216)},
        {"cvt.rp.f32.s32 %f4, %r1;", "%f4", 16777217, 0, 0, F(16777218)},
        {"cvt.rz.f32.u64 %f4, %rd1;", "%f4", ~0ull, 0, 0, 0x5f7fffff},
        {"cvt.rn.f32.u64 %f4, %rd1;", "%f4", ~0ull, 0, 0, 0x5f800000},
        {"cvt.rn.f32.u64 %f4, %rd1;", "%f4", 0x8000008000000001, 0, 0, 0x5f000001},
        {"cvt.rm.f64.s64 %fd4, %rd1;", "%fd4", 0x7fffffffffffffff, 0, 0, 0x43dfffffffffffff},
        {"cvt.rp.f64.u64 %fd4, %rd1;", "%fd4", ~0ull, 0, 0, 0x43f0000000000000},
        {"cvt.rn.f32.f64 %f4, %fd1;", "%f4", D(1 + 0x1p-24), 0, 0, F(1)},
        {"cvt.rp.f32.f64 %f4, %fd1;", "%f4", D(1 + 0x1p-24), 0, 0, F(1) + 1},
        {"cvt.rz.f32.f64 %f4, %fd1;", "%f4", D(1e300), 0, 0, MAX32},
        {"cvt.rm.f32.f64 %f4, %fd1;", "%f4", D(-1e-300), 0, 0, 0x80000001},
        {"cvt.f64.f32 %fd4, %f1;", "%fd4", F(1.5), 0, 0, D(1.5)},
        {"cvt.rn.f16.f32 %rs4, %f1;", "%rs4", F(65520), 0, 0, 0x7c00},
        {"cvt.rz.f16.f32 %rs4, %f1;", "%rs4", F(65520), 0, 0, 0x7bff},
        {"cvt.rn.f16.f32 %rs4, %f1;", "%rs4", F(0x1p-25), 0, 0, 0},
        {"cvt.rn.f16.f32 %rs4, %f1;", "%rs4", F(0x1.8p-25), 0, 0, 1},
        {"cvt.rn.f16.f64 %rs4, %fd1;", "%rs4", D(1 + 0x1p-11 + 0x1p-40), 0, 0, 0x3c01},
        {"cvt.f32.f16 %f4, %rs1;", "%f4", 0x0001, 0, 0, F(0x1p-24)},
        {"cvt.f32.f16 %f4, %rs1;", "%f4", 0xfc00, 0, 0, F(-INFINITY)},
        {"cvt.rn.bf16.f32 %rs4, %f1;", "%rs4", 0x3f808000, 0, 0, 0x3f80},
        {"cvt.rn.bf16.f32 %rs4, %f1;", "%rs4", 0x3f818000, 0, 0, 0x3f82},
        {"cvt.f32.bf16 %f4, %rs1;", "%f4", 0x3f82, 0, 0, 0x3f820000},
        {"cvt.rn.f16x2.f32 %r4, %f1, %f2;", "%r4", F(1), F(2), 0, 0x3c004000},
        {"cvt.rn.relu.bf16x2.f32 %r4, %f1, %f2;", "%r4", F(-1), F(2), 0, 0x00004000},
        {"cvt.rn.f16.s32 %rs4, %r1;", "%rs4", 3, 0, 0, 0x4200},
        {"cvt.rzi.s32.f16 %r4, %rs1;", "%r4", 0xc200, 0, 0, (uint32_t)-3},
        {"cvt.s32.s8 %r4, %r1;", "%r4", 0x80, 0, 0, 0xffffff80},
        {"cvt.u32.u8 %r4, %rs1;", "%r4", 0x1ff, 0, 0, 0xff},
        {"cvt.s64.s32 %rd4, %r1;", "%rd4", 0x80000000, 0, 0, 0xffffffff80000000},
        {"cvt.u64.u32 %rd4, %r1;", "%rd4", 0x80000000, 0, 0, 0x80000000},
        {"cvt.u64.u16 %rd4, %rs1;", "%rd4", 0xffff, 0, 0, 0xffff},
        {"cvt.s8.s32 %rs4, %r1;", "%rs4", 0x180, 0, 0, 0xff80},
        {"cvt.sat.u8.s32 %rs4, %r1;", "%rs4", -5, 0, 0, 0},
        {"cvt.sat.s8.s32 %r4, %r1;", "%r4", 300, 0, 0, 127},
        {"cvt.sat.s32.u32 %r4, %r1;", "%r4", 0xffffffff, 0, 0, 0x7fffffff},
        {"cvt.sat.u32.s64 %r4, %rd1;", "%r4", ~0ull, 0, 0, 0},
        {"cvt.sat.s64.u64 %rd4, %rd1;", "%rd4", ~0ull, 0, 0, 0x7fffffffffffffff},
        {"cvt.pack.sat.u8.s32.b32 %r4, %r1, %r2, %r3;", "%r4", 300, -1, 0x1234, 0x1234ff00},
        {"cvt.pack.sat.s16.s32 %r4, %r1, %r2;", "%r4", 40000, 7, 0, 0x7fff0007},
        {"cvt.rna.tf32.f32 %r4, %f1;", "%r4", 0x3f801000, 0, 0, 0x3f802000},
    };
    (void)state;
    RUN(units);
}
