#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
"""Makes from protocol/nvml.tbl what follows from it:

  nvml_answers.h      what the answer to each query looks like on its way
  nvml_calls.h        prototypes of the exported functions
  nvml_stubs.c        the library's functions that only ask, or refuse
  nvml_serve.c        the worker's side: finds a query by its name and makes the host's call
  nvml-coverage.md    docs/nvml-coverage.md

usage: gennvml.py NVML_TBL OUT_DIR
"""
import re
import sys
from pathlib import Path

CTYPE = {'u32': 'unsigned int', 'i32': 'int', 'u64': 'unsigned long long'}
HOWS = {'query', 'system', 'hand', 'change', 'refused'}
TEXT_MAX = 96   # bytes of a `str`, as NVML's largest constant for one
LIST_MAX = 512  # entries of a `list` that travel
ROOM_MAX = 64   # entries of a `room`
BANNER = '/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by protocol/gennvml.py from protocol/nvml.tbl. */\n'


def ctype(t):
    return CTYPE.get(t, t)


class Arg:
    def __init__(self, text, where):
        w = text.split()
        self.how = w[0]
        shapes = {'in': 3, 'dev': 2, 'out': 3, 'ver': 3, 'io': 3, 'str': 2, 'text': 3, 'list': 4,
                  'room': 3, 'ptr': 3}
        if len(w) != shapes.get(self.how):
            sys.exit(f'{where}: what is "{text}"?')
        self.name = w[-1]
        self.type = ctype(w[1]) if len(w) > 2 else None
        if self.how == 'ver':
            self.types = w[1].split('/')
        elif self.how == 'ptr':
            self.type = w[1].replace('_char', ' char').replace('const_', 'const ').replace('unsigned_', 'unsigned ')
        elif self.how == 'list':
            self.count = w[2]

    def params(self):
        """In the C prototype."""
        n, t = self.name, self.type
        if self.how == 'ver':
            return [f'{self.types[-1]} *{n}']
        return {'in': [f'{t} {n}'], 'dev': [f'nvmlDevice_t {n}'], 'out': [f'{t} *{n}'],
                'io': [f'{t} *{n}'], 'str': [f'char *{n}', f'unsigned int {n}_length'],
                'text': [f'char *{n}'], 'list': [f'unsigned int *{self.__dict__.get("count")}', f'{t} *{n}'],
                'room': [f'{t} *{n}', f'unsigned int {n}_bytes'], 'ptr': [f'{t} {n}']}[self.how]

    def field(self):
        """Of the answer; None for what does not come back."""
        n, t = self.name, self.type
        if self.how == 'ver':
            return 'union { ' + ' '.join(f'{t} v{version_of(t)};' for t in self.types) + f' }} {n};'
        return {'out': f'{t} {n};', 'io': f'{t} {n};', 'str': f'char {n}[{TEXT_MAX}];',
                'text': f'char {n}[{t}];', 'room': f'{t} {n}[{ROOM_MAX}];',
                'list': f'unsigned int count; {t} {n}[{LIST_MAX}];'}.get(self.how)

    goes_in = property(lambda s: s.how in ('ver', 'io'))


def version_of(t):
    return re.search(r'_v(\d+)_t$', t)[1]


class Call:
    def __init__(self, line, where):
        line, _, self.remark = (p.strip() for p in line.partition('#'))
        head, _, args = line.partition(':')
        self.name, self.how = head.split()
        if self.how not in HOWS:
            sys.exit(f'{where}: {self.how}?')
        self.args = [Arg(a.strip(), where) for a in args.split(',') if a.strip()]
        for i, a in enumerate(self.args):
            if a.how == 'list' and i + 1 < len(self.args) and self.asked:
                sys.exit(f'{where}: a list comes last')

    asked = property(lambda s: s.how in ('query', 'system'))
    fields = property(lambda s: [a for a in s.args if a.field()])
    numbers = property(lambda s: [a for a in s.args if a.how in ('in', 'list', 'room')])

    def prototype(self):
        p = ['nvmlDevice_t device'] if self.how == 'query' else []
        for a in self.args:
            p += a.params()
        return f'nvmlReturn_t {self.name}({", ".join(p) or "void"})'


def read_calls(path):
    calls, seen = [], {}
    for n, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        call = Call(line, f'{path}:{n}')
        if call.name in seen:
            sys.exit(f'{path}:{n}: {call.name} is there already, line {seen[call.name]}')
        seen[call.name] = n
        calls.append(call)
    return calls


def gen_answers(calls):
    o = [BANNER, '#ifndef VCUDA_GEN_NVML_ANSWERS_H\n#define VCUDA_GEN_NVML_ANSWERS_H\n\n'
         '#include "nvml_types.h"\n\n'
         '/* What goes in is part of what comes back, in the same places. */\n']
    for c in calls:
        if not c.asked:
            continue
        o.append(f'struct answer_{c.name} {{\n' + ''.join(f'    {a.field()}\n' for a in c.fields) + '};\n\n')
        if any(a.goes_in for a in c.args):
            o.append(f'struct asked_{c.name} {{\n' + ''.join(f'    {a.field()}\n' for a in c.args if a.goes_in) + '};\n\n')
    o.append('#endif\n')
    return ''.join(o)


def gen_calls_h(calls):
    o = [BANNER, '#ifndef VCUDA_GEN_NVML_CALLS_H\n#define VCUDA_GEN_NVML_CALLS_H\n\n'
         '#include "nvml_types.h"\n\nconst char *nvmlErrorString(nvmlReturn_t result);\n']
    o += [c.prototype() + ';\n' for c in calls if c.how not in ('change', 'refused')]
    o.append('\n#endif\n')
    return ''.join(o)


def gen_stub(c):
    device = 'device' if c.how == 'query' else 'NULL'
    other = next((a.name for a in c.args if a.how == 'dev'), 'NULL')
    needed = []
    for a in c.args:
        if a.how in ('out', 'ver', 'io', 'str', 'text', 'room'):
            needed.append(a.name)
        elif a.how == 'list':
            needed.append(a.count)
    b = [f'VCUDA_EXPORT {c.prototype()}\n{{\n    struct answer_{c.name} a = {{0}};\n']
    goes_in = [a for a in c.args if a.goes_in]
    if goes_in:
        b.append(f'    struct asked_{c.name} in = {{0}};\n')
    numbers = []
    for a in c.numbers:
        if a.how == 'in':
            numbers.append(a.name)
        elif a.how == 'room':
            numbers.append(f'{a.name}_bytes')
        else:
            numbers.append(f'{a.count} ? ask_room(*{a.count}, {a.name}) : 0')
    b.append(f'    struct ask q = {{.name = "{c.name}", .device = {device}, .other = {other},\n'
             f'                    .wants_device = {int(c.how == "query")}, .wants_other = {int(other != "NULL")},\n'
             f'                    .numbers = {{{", ".join(numbers) or 0}}},\n'
             + ('                    .in = &in, .in_bytes = sizeof(in),\n' if goes_in else '') +
             '                    .answer = &a, .answer_bytes = sizeof(a)};\n'
             '    nvmlReturn_t r = ask_begin(&q);\n\n'
             '    if (r != NVML_SUCCESS)\n        return r;\n')
    if needed:
        b.append('    if (' + ' || '.join(f'!{n}' for n in needed) + ')\n        return NVML_ERROR_INVALID_ARGUMENT;\n')
    for a in goes_in:
        if a.how == 'io':
            b.append(f'    in.{a.name} = *{a.name};\n')
            continue
        b.append(f'    switch (*(const unsigned int *){a.name}) {{\n')
        for t in a.types:
            b.append(f'    case NVML_VERSION_WORD({t}, {version_of(t)}):\n'
                     f'        memcpy(&in.{a.name}, {a.name}, sizeof({t}));\n        break;\n')
        b.append('    default:\n        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;\n    }\n')
    b.append('    r = ask(&q);\n')
    lists = [a for a in c.args if a.how == 'list']
    for a in lists:
        b.append('    if (r == NVML_ERROR_INSUFFICIENT_SIZE)\n'
                 f'        *{a.count} = a.count;\n')
    b.append('    if (r != NVML_SUCCESS)\n        return r;\n')
    for a in c.fields:
        n = a.name
        if a.how in ('out', 'io'):
            b.append(f'    *{n} = a.{n};\n')
        elif a.how == 'ver':
            b.append(f'    memcpy({n}, &a.{n}, *(const unsigned int *){n} & 0xffffff);\n')
        elif a.how == 'text':
            b.append(f'    memcpy({n}, a.{n}, sizeof(a.{n}));\n')
        elif a.how == 'room':
            b.append(f'    memcpy({n}, a.{n}, {n}_bytes < sizeof(a.{n}) ? {n}_bytes : sizeof(a.{n}));\n')
        elif a.how == 'list':
            b.append(f'    if ({n})\n        ask_copy({n}, *{a.count}, a.{n}, a.count, sizeof(*{n}));\n'
                     f'    *{a.count} = a.count;\n')
    text = next((a for a in c.args if a.how == 'str'), None)
    b.append(f'    return ask_text({text.name}, {text.name}_length, a.{text.name}, sizeof(a.{text.name}));\n}}\n\n'
             if text else '    return NVML_SUCCESS;\n}\n\n')
    return ''.join(b)


def gen_stubs(calls):
    o = [BANNER, '#include <stddef.h>\n#include <string.h>\n\n#include "ask.h"\n#include "nvml_answers.h"\n'
         '#include "nvml_calls.h"\n\n']
    for c in calls:
        if c.asked:
            o.append(gen_stub(c))
        elif c.how in ('change', 'refused'):
            # Takes whatever it is given: the caller cleans up in this ABI.
            o.append(f'VCUDA_EXPORT nvmlReturn_t {c.name}(void)\n{{\n    return ask_{c.how}("{c.name}");\n}}\n\n')
    return ''.join(o)


def gen_serve(calls):
    o = [BANNER, '#include <stdlib.h>\n#include <string.h>\n\n#include "nvml.h"\n#include "nvml_answers.h"\n\n']
    rows = []
    for c in sorted((c for c in calls if c.asked), key=lambda c: c.name):
        types, passed, before, after, n = [], [], [], [], 0
        if c.how == 'query':
            types.append('nvmlDevice_t')
            passed.append('q->device')
        for a in c.args:
            if a.how == 'in':
                types.append(a.type)
                passed.append(f'({a.type})q->numbers[{n}]')
            elif a.how == 'dev':
                types.append('nvmlDevice_t')
                passed.append('q->other')
            elif a.how in ('out', 'io'):
                types.append(f'{a.type} *')
                passed.append(f'&a->{a.name}')
            elif a.how == 'ver':
                types.append('void *')
                passed.append(f'&a->{a.name}')
            elif a.how == 'str':
                types += ['char *', 'unsigned int']
                passed += [f'a->{a.name}', f'sizeof(a->{a.name})']
            elif a.how == 'text':
                types.append('char *')
                passed.append(f'a->{a.name}')
            elif a.how == 'room':
                types += [f'{a.type} *', 'unsigned int']
                passed += [f'a->{a.name}', f'(unsigned int)(q->numbers[{n}] < sizeof(a->{a.name}) ? '
                           f'q->numbers[{n}] : sizeof(a->{a.name}))']
            elif a.how == 'list':
                types += ['unsigned int *', f'{a.type} *']
                passed += ['&a->count', f'nvml_wants_list(q->numbers[{n}]) ? a->{a.name} : NULL']
                before.append(f'    a->count = nvml_list_room(q->numbers[{n}], {LIST_MAX});\n')
            if a.how in ('in', 'list', 'room'):
                n += 1
            if a.goes_in:
                before.append(f'    memcpy(&a->{a.name}, &in->{a.name}, sizeof(a->{a.name}));\n')
            if a.how == 'ver':
                words = ' && '.join(f'version != NVML_VERSION_WORD({t}, {version_of(t)})' for t in a.types)
                before.append(f'    memcpy(&version, &a->{a.name}, sizeof(version));\n'
                              f'    if ({words})\n        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;\n')
        b = [f'static unsigned int ask_{c.name}(const struct nvml_question *q)\n{{\n'
             f'    struct answer_{c.name} *a = q->answer;\n']
        if any(a.goes_in for a in c.args):
            b.append(f'    const struct asked_{c.name} *in = q->in;\n')
        if any(a.how == 'ver' for a in c.args):
            b.append('    unsigned int version;\n')
        b += before
        b.append(f'    return ((unsigned int (*)({", ".join(types) or "void"}))q->function)({", ".join(passed)});\n}}\n\n')
        o.append(''.join(b))
        in_bytes = f'sizeof(struct asked_{c.name})' if any(a.goes_in for a in c.args) else '0'
        rows.append(f'    {{"{c.name}", ask_{c.name}, {in_bytes}, sizeof(struct answer_{c.name}), '
                    f'{int(c.how == "query")}, {int(any(a.how == "dev" for a in c.args))}}},\n')
    o.append('static const struct nvml_query queries[] = {\n' + ''.join(rows) + '};\n\n'
             'static int compare(const void *name, const void *query)\n{\n'
             '    return strcmp(name, ((const struct nvml_query *)query)->name);\n}\n\n'
             'const struct nvml_query *nvml_query_find(const char *name)\n{\n'
             '    return bsearch(name, queries, sizeof(queries) / sizeof(queries[0]), sizeof(queries[0]), compare);\n}\n')
    return ''.join(o)


def gen_coverage(calls):
    word = {'query': 'asked', 'system': 'asked', 'hand': 'served', 'change': 'no permission', 'refused': 'refused'}
    o = ['<!-- Made by protocol/gennvml.py from protocol/nvml.tbl: do not edit. -->\n'
         '# Coverage of NVML\n\n'
         'How each function that the guest\'s `libnvidia-ml.so.1` exports is answered:\n'
         '*asked*: the host\'s own NVML answers, for the devices of this domain (`NVML_ERROR_NOT_SUPPORTED` where the host has none, '
         'or where it says so itself); *served*: by library and worker, within what the domain may know; '
         '*no permission*: `NVML_ERROR_NO_PERMISSION`, as native answers whoever is not root; '
         '*refused*: `NVML_ERROR_NOT_SUPPORTED`.\n\n'
         '| function | answer | remark |\n| --- | --- | --- |\n'
         '| `nvmlErrorString` | served |  |\n']
    o += [f'| `{c.name}` | {word[c.how]} | {c.remark} |\n' for c in calls]
    return ''.join(o)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    calls = read_calls(sys.argv[1])
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in {'nvml_answers.h': gen_answers(calls), 'nvml_calls.h': gen_calls_h(calls),
                       'nvml_stubs.c': gen_stubs(calls), 'nvml_serve.c': gen_serve(calls),
                       'nvml-coverage.md': gen_coverage(calls)}.items():
        (out / name).write_text(text)


if __name__ == '__main__':
    main()
