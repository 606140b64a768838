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
          'kernel': 'CUkernel', 'array': 'CUarray', 'mipmap': 'CUmipmappedArray',
          'texref': 'CUtexref', 'surfref': 'CUsurfref', 'graph': 'CUgraph',
          'node': 'CUgraphNode', 'exec': 'CUgraphExec', 'pool': 'CUmemoryPool',
          'memory': 'CUmemGenericAllocationHandle', 'link': 'CUlinkState',
          'userobject': 'CUuserObject', 'green': 'CUgreenCtx',
          'async': 'CUasyncCallbackHandle', 'desc': 'CUdevResourceDesc'}
# Kinds whose live names the library keeps too: a wrong handle is told before anything travels.
# A wrong one of the others is found by its form, or by the worker.
KNOWN = {'context', 'stream', 'event', 'module', 'function', 'library', 'kernel'}
# Kinds that belong to a context: a call about one needs none that is current.
OF_CONTEXT = {'stream', 'event', 'module', 'function', 'array'}
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
        elif self.how in ('h', 's', 'new', 'del', 'oh', 'hs'):
            if self.how == 's':
                self.kind = 'stream'
            if self.kind not in NATIVE:
                sys.exit(f'{where}: unknown kind {self.kind}')
            self.name = words[1]
        elif self.how in ('sin', 'sout'):
            self.type, self.name = self.kind, words[1]
        elif self.how in ('str', 'blob', 'oblob', 'dev'):
            self.name = words[1]
        else:
            sys.exit(f'{where}: unknown argument "{text}"')

    is_out = property(lambda s: s.how in ('out', 'oh'))
    # every argument but an out takes a slot of the submission
    has_slot = property(lambda s: s.how not in ('out', 'oh'))


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
        if (self.number is None) != bool(self.how & {'local', 'refused'}):
            sys.exit(f'{where}: "-" goes with local and refused')

    slots = property(lambda s: [a for a in s.args if a.has_slot])
    outs = property(lambda s: [a for a in s.args if a.is_out])
    oblobs = property(lambda s: [a for a in s.args if a.how in ('oblob', 'sout')])
    blobs = property(lambda s: [a for a in s.args if a.how in ('str', 'blob', 'sin', 'hs')])
    posted = property(lambda s: 'post' in s.how)
    may_post = property(lambda s: 'post' in s.how or 'mixed' in s.how)
    waited = property(lambda s: not s.posted)
    ends = property(lambda s: any(a.how == 'del' for a in s.args))
    # Nobody waits to hear that it failed: the library gives the name's place to another at once.
    ends_anyway = property(lambda s: s.posted and s.ends)

    @property
    def telling(self):
        if 'quiet' in self.how or self.ends:
            return 'TELL_NOTHING'
        return 'TELL_AFTER' if 'after' in self.how or self.may_post else 'TELL_INSTEAD'


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
        elif a.how == 'oh':
            p.append(f'uint64_t *{a.name}')
        elif a.how == 'dev':
            p.append(f'int32_t {a.name}')
        elif a.how == 'sin':
            p.append(f'const {a.type} *{a.name}')
        elif a.how == 'sout':
            p.append(f'{a.type} *{a.name}')
        elif a.how == 'hs':
            p += [f'const void *{a.name}', f'size_t {a.name}_count']
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
    c_ = [BANNER, '#include "wire.h"\n#include "ahead.h"\n#include "calls.h"\n#include "capture.h"\n#include "rpc.h"\n#include <string.h>\n\n']
    for c in calls:
        if c.number is None or 'record' in c.how:
            continue
        sig = f'CUresult wire_{c.name}({wire_params(c)})'
        h.append(sig + ';\n')
        b = [sig + '\n{\n']
        b.append(f'    struct rpc rpc;\n    CUresult r;\n\n')
        if 'unsafe' in c.how:
            on = next((f'capture_forbids_on(t, {a.name})' for a in c.args if a.how == 's'),
                      'capture_forbids(t)')
            b.append(f'    r = {on};\n    if (r != CUDA_SUCCESS)\n        return r;\n')
        # After a fault an end is sent all the same.
        post = ('post' if 'mixed' in c.how else
                'true' if c.posted and not c.ends_anyway else 'false')
        begin = (f'rpc_begin(&rpc, t, VCUDA_CALL_{c.name}, false)' if not c.may_post else
                 'rpc_begin_in(&rpc, t, guest_context(t), '
                 f'VCUDA_CALL_{c.name}, {post})')
        b.append(f'    r = {begin};\n'
                 '    if (r != CUDA_SUCCESS)\n        return r;\n')
        for a in c.slots:
            if a.how == 'in' and a.type == 'f32':
                b.append(f'    rpc_slot(&rpc, rpc_bits({a.name}));\n')
            elif a.how == 'in':
                b.append(f'    rpc_slot(&rpc, (uint64_t){a.name});\n')
            elif a.how in ('h', 's', 'new', 'del'):
                b.append(f'    rpc_slot(&rpc, {a.name});\n')
            elif a.how == 'str':
                b.append(f'    rpc_slot(&rpc, strlen({a.name}) + 1);\n')
            elif a.how == 'dev':
                b.append(f'    rpc_slot(&rpc, (uint64_t){a.name});\n')
            elif a.how == 'sin':
                b.append(f'    rpc_slot(&rpc, {a.name} ? sizeof(*{a.name}) : 0);\n')
            elif a.how == 'sout':
                b.append(f'    rpc_slot(&rpc, sizeof(*{a.name}));\n'
                         f'    rpc_want(&rpc, {a.name}, sizeof(*{a.name}));\n')
            elif a.how == 'hs':
                b.append(f'    rpc_slot(&rpc, 8 * {a.name}_count);\n')
            elif a.how == 'blob':
                b.append(f'    rpc_slot(&rpc, {a.name}_len);\n')
            elif a.how == 'oblob':
                b.append(f'    rpc_slot(&rpc, {a.name}_cap);\n    rpc_want(&rpc, {a.name}, {a.name}_cap);\n')
        for a in c.blobs:
            n = {'str': f'strlen({a.name}) + 1', 'blob': f'{a.name}_len',
                 'sin': f'{a.name} ? sizeof(*{a.name}) : 0',
                 'hs': f'8 * (uint64_t){a.name}_count'}[a.how]
            b.append(f'    rpc_blob(&rpc, {a.name}, {n});\n')
        # The driver keeps event records apart from what a stream takes.
        on = next((a.name for a in c.args if a.how == 's' and 'still' not in c.how), None)
        send = f'ahead_send(t, {on}, &rpc)' if on else 'rpc_post(&rpc)'
        if c.posted:
            b.append(f'    return {send};\n}}\n\n')
        else:
            if 'mixed' in c.how:
                b.append(f'    if (post)\n        return {send};\n')
            b.append(f'    r = rpc_wait(&rpc, {len(c.outs) + len(c.oblobs)});\n')
            if c.outs or any(a.how == 'oblob' for a in c.oblobs):
                b.append('    if (r == CUDA_SUCCESS) {\n')
                n = 0
                for a in c.outs:
                    if a.how == 'oh':
                        get = f'rpc_out(&rpc, {n})'
                    elif a.type == 'f32':
                        get = f'rpc_float(&rpc, {n})'
                    else:
                        get = f'({CTYPE[a.type]})rpc_out(&rpc, {n})'
                    b.append(f'        if ({a.name})\n            *{a.name} = {get};\n')
                    n += 1
                for a in c.oblobs:
                    if a.how == 'oblob':
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


def signature(params):
    return ', '.join(f'{t}{n}' if t.endswith('*') else f'{t} {n}' for t, n in params) or 'void'


def gen_refusal(name, proto):
    """Exported functions that only say that the call is not supported."""
    kind, params = proto
    unused = ', '.join(f'{t if t.endswith("*") else t + " "}{n} __attribute__((unused))'
                       for t, n in params) or 'void'
    names = [name] + ([name + kind.lower()] if kind else [])
    return [f'VCUDA_EXPORT CUresult {n}({unused})\n{{\n    return CUDA_ERROR_NOT_SUPPORTED;\n}}\n\n'
            for n in names]


def enter(call, params):
    """What a call starts with: whether it needs a context, or can have that of its object."""
    if 'free' in call.how:
        return 'guest_enter_any(&t)'
    for a, (_, name) in zip(call.args, params):
        if a.how in ('h', 'del', 's') and a.kind in OF_CONTEXT and not a.optional:
            return f'guest_enter_about(&t, VCUDA_KIND_{a.kind.upper()}, {name})'
        if a.how in ('h', 'del'):
            break
    return 'guest_enter(&t)'


def gen_stubs(calls, protos):
    o = [BANNER, '#include "cuda_calls.h"\n#include "wire.h"\n#include "guest.h"\n\n']
    # NVIDIA's libraries give up when a name is not there, whether they would call it or not.
    for name in sorted(protos.keys() - {c.name for c in calls}):
        o += gen_refusal(name, protos[name])
    for c in calls:
        if 'refused' in c.how:
            o += gen_refusal(c.name, protos[c.name])
        if c.number is None or not c.exported or 'hand' in c.how:
            continue
        params = protos[c.name][1]
        o.append(f'VCUDA_EXPORT CUresult {c.name}({signature(params)})\n{{\n')
        o.append(f'    struct thread *t;\n    CUresult r = {enter(c, params)};\n\n'
                 '    if (r != CUDA_SUCCESS)\n        return r;\n')
        passed, checks, left = ['t'], [], list(params)
        check = '    if (r != CUDA_SUCCESS)\n        return r;\n'
        needed = '    if (!{})\n        return CUDA_ERROR_INVALID_VALUE;\n'
        for a in c.args:
            ptype, pname = left.pop(0)
            kind = f'VCUDA_KIND_{a.kind.upper()}'
            if a.how in ('out', 'oh', 'sout', 'sin', 'str') and not a.optional:
                checks.append(needed.format(pname))
            if a.how == 'out':
                passed.append(f'({CTYPE[a.type]} *){pname}')
            elif a.how == 'oh':
                passed.append(f'(uint64_t *){pname}')
            elif a.how in ('sin', 'sout', 'str'):
                passed.append(pname)
            elif a.how == 'dev':
                checks.append(f'    if ({pname} < 0 || {pname} >= guest_device_count())\n'
                              '        return CUDA_ERROR_INVALID_DEVICE;\n')
                passed.append(pname)
            elif a.how in ('h', 'del'):
                test = f'{pname} ? guest_check({kind}, {pname}) : CUDA_SUCCESS' if a.optional \
                    else f'guest_check({kind}, {pname})'
                test = test.replace(f'{kind}, {pname}', f'{kind}, (const void *){pname}')
                checks.append(f'    r = {test};\n' + check)
                passed.append(f'(uint64_t){pname}')
            elif a.how == 's':
                o.append('    uint64_t stream_name, stream_context;\n\n')
                checks.append(f'    r = stream_resolve(t, {pname}, &stream_name, &stream_context);\n' + check)
                passed.append('stream_name')
            elif a.how == 'hs':
                _, count = left.pop(0)
                checks.append(f'    if ({count} && !{pname})\n        return CUDA_ERROR_INVALID_VALUE;\n')
                passed += [pname, count]
            elif a.how == 'in':
                passed.append(f'({CTYPE[a.type]}){pname}')
            else:
                sys.exit(f'{c.name}: {a.how} needs a function written by hand')
        # a handle or pointer that is wrong is told before anything travels
        o += checks
        o.append(f'    return wire_{c.name}({", ".join(passed)});\n}}\n\n')
    for name, (kind, params) in protos.items():
        served = {c.name for c in calls if 'refused' not in c.how and 'ptsz' not in c.how}
        if kind != '_PTSZ' or name not in served:
            continue
        sig = signature(params)
        args = ', '.join(f'guest_per_thread({n})' if t == 'CUstream' else n for t, n in params)
        o.append(f'VCUDA_EXPORT CUresult {name}_ptsz({sig})\n{{\n    return {name}({args});\n}}\n\n')
    return ''.join(o)


def blocking(call):
    if 'block' not in call.how:
        return 'BLOCKS_NEVER'
    return 'BLOCKS_WHILE_BUSY' if 'busy' in call.how else 'BLOCKS_ALWAYS'


def word(call, name):
    return str(name in call.how).lower()


def stream(call):
    hows = [a.how for a in call.slots]
    return 1 + hows.index('s') if 's' in hows else 0


TO_FILL = ('out', 'oh', 'new', 'sout', 'oblob')


def gen_dispatch(calls, protos):
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
            if a.how == 'oh':
                fields.append(f'    {NATIVE[a.kind]} {a.name}; /* to be filled in */\n')
            elif a.how == 'dev':
                fields.append(f'    CUdevice {a.name};\n')
            elif a.how == 'sin':
                fields.append(f'    const {a.type} *{a.name};\n')
            elif a.how == 'sout':
                fields.append(f'    {a.type} *{a.name}; /* to be filled in */\n')
            elif a.how == 'hs':
                fields.append(f'    {NATIVE[a.kind]} *{a.name};\n    size_t {a.name}_count;\n')
            elif a.how == 'in':
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
        # Zeroes for what the driver fills in; all else is set, and clearing a launch takes 30 ns.
        zero = ' = {0}' if any(a.how in TO_FILL for a in c.args) else ''
        b.append((f'    struct args_{c.name} a{zero};\n' if fields else '') + '    CUresult r;\n\n')
        if not c.slots and not c.outs and 'own' not in c.how:
            b.append('    (void)f;\n')
        for a in c.slots:
            g = f'frame_slot(f, {n})'
            if a.how == 'in' and a.type == 'f32':
                b.append(f'    a.{a.name} = frame_float({g});\n')
            elif a.how == 'in':
                b.append(f'    a.{a.name} = ({CTYPE[a.type]}){g};\n')
            elif a.how in ('h', 's', 'del'):
                opt = 'frame_stream' if a.how == 's' else ('frame_object_or_null' if a.optional else 'frame_object')
                kind = '' if a.how == 's' else f'VCUDA_KIND_{a.kind.upper()}, '
                b.append(f'    a.{a.name}_name = {g};\n'
                         f'    r = {opt}(w, {kind}a.{a.name}_name, (void **)&a.{a.name});\n'
                         '    if (r != CUDA_SUCCESS)\n        return r;\n')
            elif a.how == 'dev':
                b.append(f'    r = worker_device(w, (int32_t){g}, &a.{a.name});\n'
                         '    if (r != CUDA_SUCCESS)\n        return r;\n')
            elif a.how == 'sin':
                b.append(f'    r = frame_struct(f, {g}, sizeof(*a.{a.name}), {int(not a.optional)}, (const void **)&a.{a.name});\n'
                         '    if (r != CUDA_SUCCESS)\n        return r;\n')
            elif a.how == 'sout':
                b.append(f'    a.{a.name} = frame_result(f, {len(c.outs) + len(c.oblobs)}, {g}, sizeof(*a.{a.name}));\n'
                         f'    if (!a.{a.name})\n        return CUDA_ERROR_INVALID_VALUE;\n')
            elif a.how == 'hs':
                b.append(f'    r = frame_objects(w, f, VCUDA_KIND_{a.kind.upper()}, {g}, (void ***)&a.{a.name}, &a.{a.name}_count);\n'
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
            pointers = {i: t for i, (t, _) in enumerate(protos[c.name][1]) if t.endswith('*')}
            for a in c.args:
                if a.how in ('out', 'new', 'oh'):
                    passed.append(f'(void *)&a.{a.name}')
                elif a.how == 'hs':
                    passed += [f'a.{a.name}', f'a.{a.name}_count']
                elif a.how == 'in' and pointers.get(len(passed)):
                    passed.append(f'({pointers[len(passed)]})a.{a.name}')
                else:
                    passed.append(f'a.{a.name}')
            b.append(f'    r = w->driver.{c.name}({", ".join(passed)});\n')
        if (any(a.how == 'new' for a in c.args) or c.outs or c.oblobs or c.ends) and not c.ends_anyway:
            b.append('    if (r != CUDA_SUCCESS)\n        return r;\n')
        for a in c.args:
            if a.how == 'new':
                b.append(f'    r = frame_bind(w, f, a.{a.name}_name, a.{a.name});\n')
            elif a.how == 'del' :
                b.append(f'    frame_unbind(w, a.{a.name}_name);\n')
        for i, a in enumerate(c.outs):
            if a.how == 'oh':
                b.append(f'    r = frame_name(w, f, {i}, VCUDA_KIND_{a.kind.upper()}, (void *)a.{a.name});\n'
                         '    if (r != CUDA_SUCCESS)\n        return r;\n')
                continue
            conv = f'frame_bits(a.{a.name})' if a.type == 'f32' else f'(uint64_t)a.{a.name}'
            b.append(f'    frame_out(f, {i}, {conv});\n')
        for i, a in enumerate(c.oblobs):
            n = f'sizeof(*a.{a.name})' if a.how == 'sout' else f'a.{a.name}_len'
            b.append(f'    frame_out(f, {len(c.outs) + i}, {n});\n')
        b.append('    return r;\n}\n\n')
        c_ += b
    h.append('/* Whether a call may sleep in the driver, so that it belongs on a waiter thread. */\n'
             'enum blocking { BLOCKS_NEVER, BLOCKS_ALWAYS, BLOCKS_WHILE_BUSY };\n\n'
             '/* What a waited call does with the error of a posted one. */\n'
             'enum telling { TELL_INSTEAD, TELL_AFTER, TELL_NOTHING };\n\n'
             'struct dispatch {\n    CUresult (*run)(struct worker *w, struct frame *f); /* NULL: no such call */\n'
             '    uint8_t slots; /* of the submission */\n    uint8_t outs;\n'
             '    enum blocking blocks;\n    bool may_post;\n'
             '    uint8_t stream; /* the slot of its stream, and 1; 0: it has none */\n'
             '    bool still; /* gives the GPU nothing to do, helper/worker/idle.h */\n'
             '    bool asks;  /* gives its stream nothing, helper/worker/told.h */\n'
             '    enum telling telling;\n};\n\n'
             'extern const struct dispatch dispatch_table[VCUDA_CALLS];\n\n#endif\n')
    c_.append('const struct dispatch dispatch_table[VCUDA_CALLS] = {\n')
    for c in calls:
        if c.number is not None:
            c_.append(f'    [VCUDA_CALL_{c.name}] = {{do_{c.name}, {len(c.slots)}, {len(c.outs) + len(c.oblobs)}, '
                      f'{blocking(c)}, {str(c.may_post).lower()}, '
                      f'{stream(c)}, {word(c, "still")}, {word(c, "asks")}, {c.telling}}},\n')
    c_.append('};\n')
    return ''.join(h), ''.join(c_)


# Without these a library is no CUDA driver. Others that it lacks answer "not supported".
REQUIRED = '''cuInit cuDriverGetVersion cuDeviceGet cuDeviceGetCount cuDeviceGetName cuDeviceGetUuid_v2
cuDeviceTotalMem_v2 cuDeviceGetAttribute cuDeviceGetPCIBusId cuDevicePrimaryCtxRetain
cuDevicePrimaryCtxRelease_v2 cuCtxSetCurrent cuMemAlloc_v2 cuMemFree_v2 cuMemcpyHtoDAsync_v2
cuMemcpyDtoHAsync_v2 cuModuleLoadDataEx cuModuleGetFunction cuFuncGetParamInfo cuLaunchKernelEx
cuStreamCreateWithPriority cuEventCreate cuEventRecord cuEventQuery cuEventSynchronize'''.split()


def gen_driver(protos):
    names = list(protos)
    h = [BANNER, '#ifndef VCUDA_GEN_DRIVER_H\n#define VCUDA_GEN_DRIVER_H\n\n#include "cuda_calls.h"\n\n'
         '/* The real driver, by the names that it exports. A function that it lacks is not supported. */\nstruct driver {\n']
    for n in names:
        params = protos[n][1]
        sig = ', '.join(t for t, _ in params) or 'void'
        h.append(f'    CUresult (*{n})({sig});\n')
    h.append('};\n\n/*\n * Fills in every function from a library handle of dlopen(). Returns NULL, or the name of\n'
             ' * the first function that it lacks.\n */\n'
             'const char *driver_bind(struct driver *d, void *library);\n\n#endif\n')
    c_ = [BANNER, '#include "driver.h"\n#include <dlfcn.h>\n#include <stddef.h>\n\n'
          '/* Takes whatever it is given: the caller cleans up in this ABI. */\n'
          'static CUresult lacking(void)\n{\n    return CUDA_ERROR_NOT_SUPPORTED;\n}\n\n'
          'const char *driver_bind(struct driver *d, void *library)\n{\n'
          '    static const struct {\n        const char *name;\n        size_t offset;\n'
          '        int required;\n    } wanted[] = {\n']
    for n in names:
        c_.append(f'        {{"{n}", offsetof(struct driver, {n}), {int(n in REQUIRED)}}},\n')
    c_.append('    };\n\n    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {\n'
              '        void *found = dlsym(library, wanted[i].name);\n\n'
              '        if (!found && wanted[i].required)\n            return wanted[i].name;\n'
              '        *(void **)((char *)d + wanted[i].offset) = found ? found : (void *)lacking;\n    }\n    return NULL;\n}\n')
    return ''.join(h), ''.join(c_)


def gen_coverage(calls, protos):
    o = ['<!-- Made by protocol/gencalls.py from protocol/calls.tbl: do not edit. -->\n'
         '# Coverage of the CUDA driver API\n\n'
         'How each function that `libcuda.so.1` exports is served:\n'
         '*local* in the guest; *waited*: one record, one completion; *posted*: one record, no completion, '
         'errors come with the next waited call; *blocking*: waited, and made by a waiter thread of the worker. '
         '*refused*: answers `CUDA_ERROR_NOT_SUPPORTED`. What is refused only because nobody has come to it stands at the end.\n\n| function | served | remark |\n| --- | --- | --- |\n']
    for c in calls:
        if not c.exported:
            continue
        how = [k for k in ('local', 'refused', 'wait', 'block', 'post', 'mixed') if k in c.how]
        word = {'local': 'local', 'refused': 'refused', 'wait': 'waited', 'block': 'blocking', 'post': 'posted', 'mixed': 'posted or waited'}[how[0]]
        kind = protos[c.name][0]
        name = f'`{c.name}`' + (f', `{kind.lower()}`' if kind else '')
        o.append(f'| {name} | {word} | {c.remark} |\n')
    served = {c.name for c in calls}
    lacking = [n for n in protos if n not in served]
    if lacking:
        o.append(f'\n## Not served yet ({len(lacking)})\n\n' + ', '.join(f'`{n}`' for n in lacking) + '\n')
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
    files['dispatch.h'], files['dispatch.c'] = gen_dispatch(calls, protos)
    files['driver.h'], files['driver.c'] = gen_driver(protos)
    files['coverage.md'] = gen_coverage(calls, protos)
    for name, text in files.items():
        (out / name).write_text(text)


if __name__ == '__main__':
    main()
