#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes from protocol/calls.tbl everything that follows from it:

  calls.h       numbers and names of the calls
  wire.h/.c     the library's side: one function a call that writes the record
                and, for a waited call, reads the completion
  stubs.c       exported functions that do nothing but that
  dispatch.h/.c the worker's side: checks and decodes a record's copy, resolves
                names, makes the driver's call, encodes the answer
  driver.h/.c   the driver's functions that the worker needs, found by name
  coverage.md   docs/api-coverage.md

usage: gencalls.py CALLS CUDA_CALLS_H OUT_DIR
"""
import re
import sys
from pathlib import Path

CTYPE = {'u32': 'uint32_t', 'i32': 'int32_t', 'u64': 'uint64_t', 'f32': 'float'}
NATIVE = {'context': 'CUcontext', 'stream': 'CUstream', 'event': 'CUevent',
          'module': 'CUmodule', 'function': 'CUfunction', 'library': 'CUlibrary',
          'kernel': 'CUkernel'}
BANNER = '/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by protocol/gencalls.py from protocol/calls.tbl. */\n'


class Arg:
    def __init__(self, text, where):
        words = text.split()
        self.how, _, self.kind = words[0].partition(':')
        self.optional = self.how.endswith('?')
        self.how = self.how.rstrip('?')
        if self.how in ('in', 'out'):
            self.type, self.name = words[1], words[2]
            if self.type not in CTYPE:
                sys.exit(f'{where}: unknown type {self.type}')
        elif self.how in ('h', 's', 'new', 'del'):
            self.kind = self.kind or 'stream'
            if self.how == 's':
                self.kind = 'stream'
            if self.kind not in NATIVE:
                sys.exit(f'{where}: unknown kind {self.kind}')
            self.name = words[1]
        elif self.how in ('str', 'blob', 'oblob'):
            self.name = words[1]
        else:
            sys.exit(f'{where}: unknown argument "{text}"')

    is_out = property(lambda s: s.how == 'out')
    # every argument but an out takes a slot of the submission
    has_slot = property(lambda s: s.how != 'out')


class Call:
    def __init__(self, line, where):
        line, _, self.remark = (p.strip() for p in line.partition('#'))
        head, _, args = line.partition(':')
        number, self.name, how = head.split()
        self.number = None if number == '-' else int(number)
        self.how = set(how.split('+'))
        self.args = [Arg(a.strip(), where) for a in args.split(',') if a.strip()]
        self.exported = self.name.startswith('cu')
        if len(self.oblobs) > 1:
            sys.exit(f'{where}: an answer carries at most one blob')
        if (self.number is None) != ('local' in self.how):
            sys.exit(f'{where}: "-" and local go together')

    slots = property(lambda s: [a for a in s.args if a.has_slot])
    outs = property(lambda s: [a for a in s.args if a.is_out])
    oblobs = property(lambda s: [a for a in s.args if a.how == 'oblob'])
    blobs = property(lambda s: [a for a in s.args if a.how in ('str', 'blob')])
    posted = property(lambda s: 'post' in s.how)
    may_post = property(lambda s: 'post' in s.how or 'mixed' in s.how)
    waited = property(lambda s: not s.posted)


def read_calls(path):
    calls, seen = [], {}
    for n, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        call = Call(line, f'{path}:{n}')
        for key in (call.name, call.number):
            if key is not None and key in seen:
                sys.exit(f'{path}:{n}: {key} is there already, line {seen[key]}')
            seen[key] = n
        calls.append(call)
    return calls


def wire_params(c):
    """The parameters of a call's wire function."""
    p = []
    if 'mixed' in c.how:
        p.append('bool post')
    for a in c.args:
        if a.how == 'in':
            p.append(f'{CTYPE[a.type]} {a.name}')
        elif a.how == 'out':
            p.append(f'{CTYPE[a.type]} *{a.name}')
        elif a.how in ('h', 's', 'new', 'del'):
            p.append(f'uint64_t {a.name}')
        elif a.how == 'str':
            p.append(f'const char *{a.name}')
        elif a.how == 'blob':
            p += [f'const void *{a.name}', f'uint32_t {a.name}_len']
        elif a.how == 'oblob':
            p += [f'void *{a.name}', f'uint32_t {a.name}_cap', f'uint32_t *{a.name}_len']
    return ', '.join(['struct thread *t'] + p)


def gen_calls_h(calls):
    o = [BANNER, '#ifndef VCUDA_GEN_CALLS_H\n#define VCUDA_GEN_CALLS_H\n\nenum vcuda_call {\n']
    for c in calls:
        if c.number is not None:
            o.append(f'    VCUDA_CALL_{c.name} = {c.number},\n')
    top = max(c.number for c in calls if c.number is not None) + 1
    o.append(f'    VCUDA_CALLS = {top}\n}};\n\n')
    o.append('/* Name of a call for messages; NULL if there is no such call. */\n')
    o.append('static inline const char *vcuda_call_name(unsigned int call)\n{\n')
    o.append('    static const char *const names[VCUDA_CALLS] = {\n')
    for c in calls:
        if c.number is not None:
            o.append(f'        [{c.number}] = "{c.name}",\n')
    o.append('    };\n    return call < VCUDA_CALLS ? names[call] : 0;\n}\n\n#endif\n')
    return ''.join(o)


def gen_wire(calls):
    h = [BANNER, '#ifndef VCUDA_GEN_WIRE_H\n#define VCUDA_GEN_WIRE_H\n\n'
         '#include <stdbool.h>\n#include <stdint.h>\n#include "cuda_types.h"\n\nstruct thread;\n\n']
    c_ = [BANNER, '#include "wire.h"\n#include "calls.h"\n#include "rpc.h"\n#include <string.h>\n\n']
    for c in calls:
        if c.number is None:
            continue
        sig = f'CUresult wire_{c.name}({wire_params(c)})'
        h.append(sig + ';\n')
        b = [sig + '\n{\n']
        b.append(f'    struct rpc rpc;\n    CUresult r;\n\n')
        post = 'true' if c.posted else ('post' if 'mixed' in c.how else 'false')
        b.append(f'    r = rpc_begin(&rpc, t, VCUDA_CALL_{c.name}, {post});\n'
                 '    if (r != CUDA_SUCCESS)\n        return r;\n')
        for a in c.slots:
            if a.how == 'in':
                b.append(f'    rpc_slot(&rpc, (uint64_t){a.name});\n')
            elif a.how in ('h', 's', 'new', 'del'):
                b.append(f'    rpc_slot(&rpc, {a.name});\n')
            elif a.how == 'str':
                b.append(f'    rpc_slot(&rpc, strlen({a.name}) + 1);\n')
            elif a.how == 'blob':
                b.append(f'    rpc_slot(&rpc, {a.name}_len);\n')
            elif a.how == 'oblob':
                b.append(f'    rpc_slot(&rpc, {a.name}_cap);\n    rpc_want(&rpc, {a.name}, {a.name}_cap);\n')
        for a in c.blobs:
            n = f'strlen({a.name}) + 1' if a.how == 'str' else f'{a.name}_len'
            b.append(f'    rpc_blob(&rpc, {a.name}, {n});\n')
        if c.posted:
            b.append('    return rpc_post(&rpc);\n}\n\n')
        else:
            if 'mixed' in c.how:
                b.append('    if (post)\n        return rpc_post(&rpc);\n')
            b.append(f'    r = rpc_wait(&rpc, {len(c.outs) + len(c.oblobs)});\n')
            if c.outs or c.oblobs:
                b.append('    if (r == CUDA_SUCCESS) {\n')
                n = 0
                for a in c.outs:
                    if a.type == 'f32':
                        get = f'rpc_float(&rpc, {n})'
                    else:
                        get = f'({CTYPE[a.type]})rpc_out(&rpc, {n})'
                    b.append(f'        if ({a.name})\n            *{a.name} = {get};\n')
                    n += 1
                for a in c.oblobs:
                    b.append(f'        *{a.name}_len = rpc.want_len;\n')
                    n += 1
                b.append('    }\n')
            b.append('    return r;\n}\n\n')
        c_ += b
    h.append('\n#endif\n')
    return ''.join(h), ''.join(c_)


def prototypes(path):
    """name -> list of (type, name), from our own declarations."""
    text = re.sub(r'/\*.*?\*/', '', Path(path).read_text(), flags=re.S)
    text = re.sub(r'^\s*#.*?(?<!\\)$', '', re.sub(r'\\\n', ' ', text), flags=re.M)
    protos = {}
    for kind, body in re.findall(r'CUDA_CALL(_PTSZ|_PTDS)?\(([^;]*?)\);', text, flags=re.S):
        parts = [' '.join(p.split()) for p in body.split(',')]
        name, params = parts[0], []
        for p in parts[1:]:
            if p == 'void':
                continue
            m = re.match(r'(.*?)(\w+)$', p)
            params.append((m[1].strip(), m[2]))
        protos[name] = (kind, params)
    return protos


def gen_stubs(calls, protos):
    o = [BANNER, '#include "cuda_calls.h"\n#include "wire.h"\n#include "guest.h"\n\n']
    for c in calls:
        if c.number is None or not c.exported or 'hand' in c.how:
            continue
        if c.name not in protos:
            sys.exit(f'{c.name}: no prototype in cuda_calls.h')
        params = protos[c.name][1]
        sig = ', '.join(f'{t} {n}' if not t.endswith('*') else f'{t}{n}' for t, n in params) or 'void'
        o.append(f'VCUDA_EXPORT CUresult {c.name}({sig})\n{{\n')
        o.append('    struct thread *t;\n    CUresult r = guest_enter(&t);\n\n'
                 '    if (r != CUDA_SUCCESS)\n        return r;\n')
        passed, checks = ['t'], []
        for a, (ptype, pname) in zip(c.args, params):
            if a.how == 'out':
                if not a.optional:
                    checks.append(f'    if (!{pname})\n        return CUDA_ERROR_INVALID_VALUE;\n')
                passed.append(f'({CTYPE[a.type]} *){pname}')
            elif a.how == 'h':
                checks.append(f'    r = guest_check(VCUDA_KIND_{a.kind.upper()}, {pname});\n'
                              '    if (r != CUDA_SUCCESS)\n        return r;\n')
                passed.append(f'(uint64_t){pname}')
            else:
                passed.append(f'({CTYPE[a.type]}){pname}')
        # a handle or pointer that is wrong is told before anything travels
        o += checks
        o.append(f'    return wire_{c.name}({", ".join(passed)});\n}}\n\n')
    for name, (kind, params) in protos.items():
        if kind != '_PTSZ' or name not in {c.name for c in calls} or name.startswith('cuLaunchKernelEx'):
            continue
        sig = ', '.join(f'{t} {n}' if not t.endswith('*') else f'{t}{n}' for t, n in params)
        args = ', '.join(f'guest_per_thread({n})' if t == 'CUstream' else n for t, n in params)
        o.append(f'VCUDA_EXPORT CUresult {name}_ptsz({sig})\n{{\n    return {name}({args});\n}}\n\n')
    return ''.join(o)


def gen_dispatch(calls):
    h = [BANNER, '#ifndef VCUDA_GEN_DISPATCH_H\n#define VCUDA_GEN_DISPATCH_H\n\n'
         '#include <stdbool.h>\n#include <stdint.h>\n#include "cuda_types.h"\n#include "calls.h"\n\n'
         'struct worker;\nstruct frame;\n\n']
    c_ = [BANNER, '#include "dispatch.h"\n#include "driver.h"\n#include "frame.h"\n#include "worker.h"\n\n']
    for c in calls:
        if c.number is None:
            continue
        fields = []
        n = 0
        for a in c.args:
            if a.how == 'in':
                fields.append(f'    {CTYPE[a.type]} {a.name};\n')
            elif a.how in ('h', 's'):
                fields.append(f'    {NATIVE[a.kind]} {a.name};\n    uint64_t {a.name}_name;\n')
            elif a.how == 'del':
                fields.append(f'    {NATIVE[a.kind]} {a.name};\n    uint64_t {a.name}_name;\n')
            elif a.how == 'new':
                fields.append(f'    {NATIVE[a.kind]} {a.name}; /* to be filled in */\n    uint64_t {a.name}_name;\n')
            elif a.how == 'str':
                fields.append(f'    const char *{a.name};\n')
            elif a.how == 'blob':
                fields.append(f'    const void *{a.name};\n    uint32_t {a.name}_len;\n')
            elif a.how == 'oblob':
                fields.append(f'    void *{a.name};\n    uint32_t {a.name}_cap;\n    uint32_t {a.name}_len; /* to be filled in */\n')
            elif a.how == 'out':
                fields.append(f'    {CTYPE[a.type]} {a.name}; /* to be filled in */\n')
        if 'own' in c.how:
            h.append(f'struct args_{c.name} {{\n{"".join(fields)}}};\n')
            h.append(f'CUresult own_{c.name}(struct worker *w, struct frame *f, struct args_{c.name} *a);\n\n')
        b = []
        if 'own' not in c.how and fields:
            b.append(f'struct args_{c.name} {{\n{"".join(fields)}}};\n\n')
        b.append(f'static CUresult do_{c.name}(struct worker *w, struct frame *f)\n{{\n')
        b.append((f'    struct args_{c.name} a = {{0}};\n' if fields else '') + '    CUresult r;\n\n')
        if not c.slots and not c.outs and 'own' not in c.how:
            b.append('    (void)f;\n')
        for a in c.slots:
            g = f'frame_slot(f, {n})'
            if a.how == 'in':
                b.append(f'    a.{a.name} = ({CTYPE[a.type]}){g};\n')
            elif a.how in ('h', 's', 'del'):
                opt = 'frame_stream' if a.how == 's' else ('frame_object_or_null' if a.optional else 'frame_object')
                kind = '' if a.how == 's' else f'VCUDA_KIND_{a.kind.upper()}, '
                b.append(f'    a.{a.name}_name = {g};\n'
                         f'    r = {opt}(w, {kind}a.{a.name}_name, (void **)&a.{a.name});\n'
                         '    if (r != CUDA_SUCCESS)\n        return r;\n')
            elif a.how == 'new':
                b.append(f'    a.{a.name}_name = {g};\n'
                         f'    r = frame_new(w, f, VCUDA_KIND_{a.kind.upper()}, a.{a.name}_name);\n'
                         '    if (r != CUDA_SUCCESS)\n        return r;\n')
            elif a.how == 'str':
                b.append(f'    a.{a.name} = frame_string(f, {g});\n'
                         f'    if (!a.{a.name})\n        return CUDA_ERROR_INVALID_VALUE;\n')
            elif a.how == 'blob':
                b.append(f'    a.{a.name}_len = (uint32_t){g};\n    a.{a.name} = frame_blob(f, {g});\n'
                         f'    if (!a.{a.name})\n        return CUDA_ERROR_INVALID_VALUE;\n')
            elif a.how == 'oblob':
                b.append(f'    a.{a.name} = frame_reserve(f, {len(c.outs) + len(c.oblobs)}, {g}, &a.{a.name}_cap);\n'
                         f'    if (!a.{a.name})\n        return CUDA_ERROR_INVALID_VALUE;\n')
            n += 1
        if 'own' in c.how:
            b.append(f'    r = own_{c.name}(w, f, &a);\n')
        else:
            passed = []
            for a in c.args:
                if a.how in ('out', 'new'):
                    passed.append(f'(void *)&a.{a.name}')
                else:
                    passed.append(f'a.{a.name}')
            b.append(f'    r = w->driver.{c.name}({", ".join(passed)});\n')
        if any(a.how == 'new' for a in c.args) or c.outs or c.oblobs or any(a.how == 'del' for a in c.args):
            b.append('    if (r != CUDA_SUCCESS)\n        return r;\n')
        for a in c.args:
            if a.how == 'new':
                b.append(f'    r = frame_bind(w, f, a.{a.name}_name, a.{a.name});\n')
            elif a.how == 'del' :
                b.append(f'    frame_unbind(w, a.{a.name}_name);\n')
        for i, a in enumerate(c.outs):
            conv = f'frame_bits(a.{a.name})' if a.type == 'f32' else f'(uint64_t)a.{a.name}'
            b.append(f'    frame_out(f, {i}, {conv});\n')
        for i, a in enumerate(c.oblobs):
            b.append(f'    frame_out(f, {len(c.outs) + i}, a.{a.name}_len);\n')
        b.append('    return r;\n}\n\n')
        c_ += b
    h.append('struct dispatch {\n    CUresult (*run)(struct worker *w, struct frame *f); /* NULL: no such call */\n'
             '    uint8_t slots; /* of the submission */\n    uint8_t outs;\n'
             '    bool blocks;   /* belongs on a waiter thread */\n    bool may_post;\n};\n\n'
             'extern const struct dispatch dispatch_table[VCUDA_CALLS];\n\n#endif\n')
    c_.append('const struct dispatch dispatch_table[VCUDA_CALLS] = {\n')
    for c in calls:
        if c.number is not None:
            c_.append(f'    [VCUDA_CALL_{c.name}] = {{do_{c.name}, {len(c.slots)}, {len(c.outs) + len(c.oblobs)}, '
                      f'{str("block" in c.how).lower()}, {str(c.may_post).lower()}}},\n')
    c_.append('};\n')
    return ''.join(h), ''.join(c_)


# Driver functions that the hand-written parts of the worker use.
EXTRA = '''cuInit cuDriverGetVersion cuDeviceGet cuDeviceGetCount cuDeviceGetName cuDeviceGetUuid_v2
cuDeviceTotalMem_v2 cuDeviceGetAttribute cuDeviceGetPCIBusId cuDeviceCanAccessPeer
cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2
cuDevicePrimaryCtxSetFlags_v2 cuCtxCreate_v4 cuCtxDestroy_v2 cuCtxSetCurrent cuCtxPopCurrent_v2
cuMemHostRegister_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2
cuMemcpyDtoDAsync_v2 cuMemsetD8Async cuMemsetD16Async cuMemsetD32Async
cuModuleLoadDataEx cuModuleGetFunction cuFuncGetParamInfo cuFuncGetAttribute cuLaunchKernelEx
cuStreamCreateWithPriority cuEventCreate cuEventRecord cuEventQuery cuEventSynchronize
cuEventDestroy_v2'''.split()


def gen_driver(calls, protos):
    names = []
    for c in calls:
        if c.number is not None and c.exported and 'own' not in c.how:
            names.append(c.name)
    names = list(dict.fromkeys(names + EXTRA))
    h = [BANNER, '#ifndef VCUDA_GEN_DRIVER_H\n#define VCUDA_GEN_DRIVER_H\n\n#include "cuda_abi.h"\n\n'
         '/* The real driver, by the names that it exports. */\nstruct driver {\n']
    for n in names:
        params = protos[n][1]
        sig = ', '.join(t for t, _ in params) or 'void'
        h.append(f'    CUresult (*{n})({sig});\n')
    h.append('};\n\n/*\n * Fills in every function from a library handle of dlopen(). Returns NULL, or the name of\n'
             ' * the first function that it lacks.\n */\n'
             'const char *driver_bind(struct driver *d, void *library);\n\n#endif\n')
    c_ = [BANNER, '#include "driver.h"\n#include <dlfcn.h>\n#include <stddef.h>\n\n'
          'const char *driver_bind(struct driver *d, void *library)\n{\n'
          '    static const struct {\n        const char *name;\n        size_t offset;\n    } wanted[] = {\n']
    for n in names:
        c_.append(f'        {{"{n}", offsetof(struct driver, {n})}},\n')
    c_.append('    };\n\n    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {\n'
              '        void *found = dlsym(library, wanted[i].name);\n\n'
              '        if (!found)\n            return wanted[i].name;\n'
              '        *(void **)((char *)d + wanted[i].offset) = found;\n    }\n    return NULL;\n}\n')
    return ''.join(h), ''.join(c_)


def gen_coverage(calls, protos):
    o = ['<!-- Made by protocol/gencalls.py from protocol/calls.tbl: do not edit. -->\n'
         '# Coverage of the CUDA driver API\n\n'
         'How each function that `libcuda.so.1` exports is served:\n'
         '*local* in the guest; *waited*: one record, one completion; *posted*: one record, no completion, '
         'errors come with the next waited call; *blocking*: waited, and made by a waiter thread of the worker. '
         'A function that is not listed is not there: `cuGetProcAddress` says so.\n\n| function | served | remark |\n| --- | --- | --- |\n']
    for c in calls:
        if not c.exported:
            continue
        how = [k for k in ('local', 'wait', 'block', 'post', 'mixed') if k in c.how]
        word = {'local': 'local', 'wait': 'waited', 'block': 'blocking', 'post': 'posted', 'mixed': 'posted or waited'}[how[0]]
        kind = protos[c.name][0]
        name = f'`{c.name}`' + (f', `{kind.lower()}`' if kind else '')
        o.append(f'| {name} | {word} | {c.remark} |\n')
    return ''.join(o)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    calls = read_calls(sys.argv[1])
    protos = prototypes(sys.argv[2])
    for c in calls:
        if c.exported and c.name not in protos:
            sys.exit(f'{c.name}: no prototype in {sys.argv[2]}')
    out = Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    files = {'calls.h': gen_calls_h(calls)}
    files['wire.h'], files['wire.c'] = gen_wire(calls)
    files['stubs.c'] = gen_stubs(calls, protos)
    files['dispatch.h'], files['dispatch.c'] = gen_dispatch(calls)
    files['driver.h'], files['driver.c'] = gen_driver(calls, protos)
    files['coverage.md'] = gen_coverage(calls, protos)
    for name, text in files.items():
        (out / name).write_text(text)


if __name__ == '__main__':
    main()
