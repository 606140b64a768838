// SPDX-License-Identifier: Apache-2.0
/* Faults of kernels, and texts that must be refused. */
#include "support.h"
#include "tests.h"

static void expect_fault(const char *body, enum ptx_status status) {
    struct ptx_module *m = load_body(body);
    char *out = dev_alloc(256); /* the only memory: nothing may adjoin it */
    run_kernel(m, "k", (struct run){.grid = 2, .block = 64, .expect = status}, ARG(out), ARG(out));
    dev_reset();
    assert_non_null(strstr(message, "line "));
    ptx_module_unload(m);
}

void test_faults(void **state) {
    (void)state;
    expect_fault("ld.global.u32 %r1, [%out+256];", PTX_ERR_ILLEGAL_ADDRESS);
    expect_fault("ld.global.u32 %r1, [%out+-4];", PTX_ERR_ILLEGAL_ADDRESS);
    expect_fault("st.u64 [0], %rd1;", PTX_ERR_ILLEGAL_ADDRESS);
    expect_fault("ld.global.u32 %r1, [%out+2];", PTX_ERR_MISALIGNED);
    expect_fault("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%out+8];", PTX_ERR_MISALIGNED);
    expect_fault("ld.shared.u32 %r1, [0];", PTX_ERR_ILLEGAL_ADDRESS);
    expect_fault("ld.local.u32 %r1, [1024];", PTX_ERR_ILLEGAL_ADDRESS);
    expect_fault("mov.u64 %rd1, 8; ld.param.u32 %r1, [%rd1+8];", PTX_ERR_ILLEGAL_ADDRESS);
    expect_fault("atom.global.add.u32 %r1, [%out+1], 1;", PTX_ERR_MISALIGNED);
    expect_fault("trap;", PTX_ERR_TRAP);
    expect_fault("brkpt;", PTX_ERR_ILLEGAL_INSTRUCTION);
    expect_fault("mov.u32 %r1, 99; bar.sync %r1;", PTX_ERR_ILLEGAL_INSTRUCTION);
    expect_fault("P: .callprototype () _ ();\nmov.u64 %rd1, 16; call %rd1, (), P;",
                 PTX_ERR_INVALID_PC);
    expect_fault("mov.u32 %r1, 2; T: .branchtargets A, B;\nbrx.idx %r1, T;\nA:B:",
                 PTX_ERR_INVALID_PC);
}

void test_launch_checks(void **state) {
    struct ptx_module *m = load_text(".version 7.0\n.target sm_75\n.address_size 64\n"
                                     ".entry a() .reqntid 32,2,1 { ret; }\n"
                                     ".entry b() .maxntid 64 { ret; }\n");
    struct ptx_func_info info;

    (void)state;
    run_kernel(m, "a", (struct run){.grid = 1, .block = 32, .block_y = 2});
    run_kernel(m, "a", (struct run){.grid = 1, .block = 64, .expect = PTX_ERR_INVALID_VALUE});
    run_kernel(m, "b", (struct run){.grid = 1, .block = 64});
    run_kernel(m, "b", (struct run){.grid = 1, .block = 65, .expect = PTX_ERR_INVALID_VALUE});
    run_kernel(m, "b", (struct run){.grid = 0, .block = 64, .expect = PTX_ERR_INVALID_VALUE});
    run_kernel(
        m, "b",
        (struct run){.grid = 1, .block = 64, .shared = 300 << 10, .expect = PTX_ERR_INVALID_VALUE});
    assert_int_equal(ptx_module_function_count(m), 2);
    ptx_func_info(ptx_module_function_at(m, 0), &info);
    assert_int_equal(info.reqntid[1], 2);
    assert_int_equal(info.max_threads_per_block, 64);
    assert_int_equal(info.ptx_version, 70);
    assert_int_equal(info.binary_version, 75);
    assert_null(ptx_module_function(m, "c"));
    ptx_module_unload(m);
}

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
#define BODY(text)                                                                                 \
    HEAD ".entry k(.param .u64 a)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"                       \
         ".reg .pred %p<3>;\n.reg .f32 %f<4>;\n" text "\nret;\n}\n"

static void expect_refusal(const char *text, enum ptx_status status, const char *word) {
    struct ptx_module *m = (void *)1;
    char log[256] = "";
    size_t live = dev_live();
    enum ptx_status s = ptx_module_load(text, strlen(text), &device, &m, log, sizeof(log));

    if (s != status || !strstr(log, word) || strncmp(log, "line ", 5))
        fail_msg("%s\n-> %s, '%s'", text, ptx_status_name(s), log);
    assert_null(m);
    assert_int_equal(dev_live(), live);
}

void test_refusals(void **state) {
    static const struct {
        const char *text;
        enum ptx_status status;
        const char *word;
    } cases[] = {
        {"", PTX_ERR_SYNTAX, "version"},
        {"hello", PTX_ERR_SYNTAX, "version"},
        {".version 5.0\n.target sm_75\n", PTX_ERR_VERSION, "5.0"},
        {".version 10.0\n.target sm_75\n", PTX_ERR_VERSION, "10.0"},
        {".version 7.0\n.target gfx900\n", PTX_ERR_VERSION, "gfx900"},
        {".version 7.0\n.target sm_75\n.address_size 32\n", PTX_ERR_UNSUPPORTED, "64"},
        {HEAD ".entry k() {", PTX_ERR_SYNTAX, "ends"},
        {HEAD ".entry k( { }", PTX_ERR_SYNTAX, ".param"},
        {HEAD ".tex .u64 t;", PTX_ERR_UNSUPPORTED, "tex"},
        {HEAD ".global .u32 x[2] = {1, 2, 3};", PTX_ERR_SYNTAX, "initial"},
        {HEAD ".global .u32 x;\n.global .u32 x;", PTX_ERR_SYNTAX, "twice"},
        {HEAD ".global .b8 x[99999999999999999999];", PTX_ERR_SYNTAX, "number"},
        {HEAD ".global .b8 x[1099511627776];", PTX_ERR_NOMEM, "memory"},
        {HEAD ".entry k() { .shared .b8 x[50000]; }", PTX_ERR_SYNTAX, "memory"},
        {BODY("add.u32 %r1, %r2;"), PTX_ERR_SYNTAX, "operands"},
        {BODY("add.u32 %r1, %r2, %r9;"), PTX_ERR_SYNTAX, "%r9"},
        {BODY("add.u32 %r1, %r2, %rd1;"), PTX_ERR_SYNTAX, "size"},
        {BODY("add.u64 %r1, %rd2, %rd1;"), PTX_ERR_SYNTAX, "size"},
        {BODY("add.frob.u32 %r1, %r2, %r3;"), PTX_ERR_UNSUPPORTED, "add.frob.u32"},
        {BODY("frob.u32 %r1, %r2, %r3;"), PTX_ERR_SYNTAX, "frob"},
        {BODY("tex.level.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [%rd1, {%f2,%f3}];"), PTX_ERR_SYNTAX,
         "operands"},
        {BODY("tex.level.2d.v4.f32.s32 {%f1,%f1,%f1,%f1}, [%rd1, {%r2,%r3}], %r1;"),
         PTX_ERR_UNSUPPORTED, "type"},
        {BODY("tex.cube.v4.f32.f32 {%f1,%f1,%f1,%f1}, [%rd1, {%f1,%f2,%f3,%f3}];"),
         PTX_ERR_UNSUPPORTED, "tex.cube.v4.f32.f32"},
        {BODY("tex.grad.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [%rd1, {%f2,%f3}], {%f1,%f1}, {%f1,%f1};"),
         PTX_ERR_UNSUPPORTED, "gradients"},
        {BODY("tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [%rd1, {%f2}];"), PTX_ERR_SYNTAX, "texture"},
        {BODY("tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [%rd1];"), PTX_ERR_SYNTAX, "texture"},
        {BODY("tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [%rd1, {%rd1,%f2}];"), PTX_ERR_SYNTAX, "size"},
        {BODY("sust.p.2d.v4.b32.trap [%rd1, {%r1,%r2}], {%r1,%r1,%r1,%r1};"), PTX_ERR_UNSUPPORTED,
         "sust.p"},
        {BODY("sust.b.2d.v4.b64.trap [%rd1, {%r1,%r2}], {%rd1,%rd1,%rd1,%rd1};"), PTX_ERR_SYNTAX,
         "type"},
        {BODY("ld.global.u32 %r1, [%rd1, %r2];"), PTX_ERR_SYNTAX, "address"},
        {BODY("wgmma.fence.sync.aligned;"), PTX_ERR_UNSUPPORTED, "line 10: wgmma.fence"},
        {BODY("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};"),
         PTX_ERR_UNSUPPORTED, "mma.sync"},
        {BODY("cp.async.bulk.commit_group;"), PTX_ERR_UNSUPPORTED, "cp.async.bulk"},
        {BODY("cp.async.ca.shared.global [%r1], [%rd1], 5;"), PTX_ERR_SYNTAX, "size"},
        {BODY("cp.async.ca.shared.global [%rd1], [%rd1];"), PTX_ERR_SYNTAX, "operands"},
        {BODY("barrier.cluster.sync;"), PTX_ERR_SYNTAX, "arrive"},
        {BODY("mapa.shared.u32 %r1, %r2, %r3;"), PTX_ERR_UNSUPPORTED, "mapa"},
        {BODY("bra NOWHERE;"), PTX_ERR_SYNTAX, "NOWHERE"},
        {BODY("L: L: bra L;"), PTX_ERR_SYNTAX, "twice"},
        {BODY("@%r1 bra L; L:"), PTX_ERR_SYNTAX, "predicate"},
        {BODY("mov.u32 %r1, {%r2};"), PTX_ERR_SYNTAX, "vector"},
        {BODY("mov.u32 5, %r2;"), PTX_ERR_SYNTAX, "destination"},
        {BODY("ld.param.u64 %rd1, [a+8];"), PTX_ERR_SYNTAX, "parameters"},
        {BODY("ld.global.u32 %r1, [a];"), PTX_ERR_SYNTAX, "space"},
        {BODY("st.param.u64 [a], %rd1;"), PTX_ERR_SYNTAX, "read only"},
        {BODY("setp.lo.s32 %p1, %r1, %r2;"), PTX_ERR_SYNTAX, "unsigned"},
        {BODY("cvt.s32.f32 %r1, %f1;"), PTX_ERR_SYNTAX, ".rni"},
        {BODY("call nothing, ();"), PTX_ERR_SYNTAX, "unknown function"},
        {HEAD ".extern .func f();\n.entry k() { call f, (); ret; }", PTX_ERR_UNSUPPORTED,
         "no module"},
        {HEAD ".extern .global .u32 x;\n.entry k() { .reg .u32 r; ld.global.u32 r, [x]; }",
         PTX_ERR_UNSUPPORTED, "x is defined in no module"},
        {BODY("mov.u32 %r1, %pm0;"), PTX_ERR_UNSUPPORTED, "special register"},
        {BODY("lop3.b32 %r1, %r1, %r2, %r3, 256;"), PTX_ERR_SYNTAX, "table"},
        {BODY("\"text\";"), PTX_ERR_SYNTAX, "instruction"},
        {BODY("/* open"), PTX_ERR_SYNTAX, "unreadable"},
        {BODY(".reg .b32 %big<99999999>;"), PTX_ERR_SYNTAX, "registers"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
        expect_refusal(cases[k].text, cases[k].status, cases[k].word);
}

/* Every prefix of a real module, and every module with one byte changed, is handled. */
void test_damaged(void **state) {
    static const char text[] =
        BODY("ld.param.u64 %rd1, [a];\nL: mov.u32 %r1, %tid.x;\n@%p1 bra L;\n"
             "{ .reg .b32 t; .param .b32 p; st.param.b32 [p+0], %r1; }\n"
             "shfl.sync.idx.b32 %r1|%p1, %r1, 0, 31, -1;\nmov.b64 %rd2, {%r1, %r2};\n"
             "atom.global.cas.b32 %r2, [%rd1+4], %r1, 7;\nmad.wide.s32 %rd1, %r1, 4, %rd2;");
    struct ptx_module *m;
    char copy[sizeof(text)];
    size_t len = sizeof(text) - 1;

    (void)state;
    for (size_t n = 0; n <= len; n++) {
        char *exact = malloc(n ? n : 1); /* so that reading on is an error */
        memcpy(exact, text, n);
        ptx_module_load(exact, n, &device, &m, NULL, 0);
        ptx_module_unload(m);
        free(exact);
    }
    for (size_t k = 0; k < len; k++) {
        static const char bytes[] = "\0\xff{}[];,.%-0a";
        for (size_t b = 0; b < sizeof(bytes) - 1; b++) {
            memcpy(copy, text, sizeof(copy));
            copy[k] = bytes[b];
            ptx_module_load(copy, len, &device, &m, NULL, 0);
            ptx_module_unload(m);
        }
    }
    assert_int_equal(dev_live(), 0);
}
