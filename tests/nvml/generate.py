#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes from protocol/nvml.tbl two programs that know every query:

  host.c      a libnvidia-ml.so.1 for machines without a GPU: fills each answer with a pattern
              that depends on the function, on what went in, and on the place in the answer
  queries.c   asks everything of the first device and prints what came back

usage: generate.py NVML_TBL OUT_DIR
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'protocol'))
import gennvml  # noqa: E402

# What changes while one looks: only the result is printed.
VARIES = {'nvmlDeviceGetUtilizationRates', 'nvmlDeviceGetEncoderUtilization', 'nvmlDeviceGetDecoderUtilization',
          'nvmlDeviceGetJpgUtilization', 'nvmlDeviceGetOfaUtilization', 'nvmlDeviceGetTemperature',
          'nvmlDeviceGetTemperatureV', 'nvmlDeviceGetMarginTemperature', 'nvmlDeviceGetThermalSettings',
          'nvmlDeviceGetPowerUsage', 'nvmlDeviceGetTotalEnergyConsumption', 'nvmlDeviceGetViolationStatus',
          'nvmlDeviceGetSamples', 'nvmlDeviceGetClockInfo', 'nvmlDeviceGetClock', 'nvmlDeviceGetPcieThroughput',
          'nvmlDeviceGetCurrentClocksEventReasons', 'nvmlDeviceGetCurrentClocksThrottleReasons',
          'nvmlDeviceGetCurrentClockFreqs', 'nvmlDeviceGetDynamicPstatesInfo', 'nvmlDeviceGetBAR1MemoryInfo',
          'nvmlDeviceGetConfComputeProtectedMemoryUsage', 'nvmlDeviceGetNvLinkUtilizationCounter',
          'nvmlDeviceGetPerformanceState', 'nvmlDeviceGetPowerState', 'nvmlDeviceGetCurrPcieLinkGeneration',
          'nvmlDeviceGetPcieSpeed'}
# What NVML tells the host's root alone: a worker has no privileges.
PRIVILEGED = {'nvmlSystemGetNvlinkBwMode'}
ROOM = 40  # entries that a list has room for


def host(calls):
    o = ['/* SPDX-License-Identifier: Apache-2.0 */\n#include "host.h"\n\n']
    for c in calls:
        if not c.asked:
            continue
        o.append(f'{c.prototype()}\n{{\n    struct pattern p = pattern_of("{c.name}");\n\n')
        if c.how == 'query':
            o.append('    if (!host_device(device))\n        return NVML_ERROR_INVALID_ARGUMENT;\n')
        body, text = [], None
        for a in c.args:
            if a.how == 'in':
                o.append(f'    pattern_mix(&p, {a.name});\n')
            elif a.how == 'dev':
                o.append(f'    if (!host_device({a.name}))\n        return NVML_ERROR_INVALID_ARGUMENT;\n')
            elif a.how == 'out':
                body.append(f'    pattern_fill(&p, {a.name}, sizeof(*{a.name}));\n')
            elif a.how == 'io':
                body.append(f'    pattern_mix_bytes(&p, {a.name}, sizeof(*{a.name}));\n'
                            f'    pattern_fill(&p, {a.name}, sizeof(*{a.name}));\n')
            elif a.how == 'ver':
                body.append(f'    pattern_versioned(&p, {a.name});\n')
            elif a.how == 'str':
                body.append(f'    pattern_text(&p, {a.name}, {a.name}_length);\n')
            elif a.how == 'text':
                body.append(f'    pattern_text(&p, {a.name}, {a.type});\n')
            elif a.how == 'room':
                body.append(f'    pattern_fill(&p, {a.name}, {a.name}_bytes);\n')
            elif a.how == 'list':
                body.append(f'    return pattern_list(&p, {a.count}, {a.name}, sizeof(*{a.name}));\n')
                text = True
        o.append(''.join(body) + ('' if text else '    return NVML_SUCCESS;\n') + '}\n\n')
    return ''.join(o)


def queries(calls):
    o = ['/* SPDX-License-Identifier: Apache-2.0 */\n#include "queries.h"\n\n']
    asked = [c for c in calls if c.asked]
    for c in asked:
        shown = int(c.name not in VARIES)
        args, decl, show = (['device'] if c.how == 'query' else []), [], []
        for a in c.args:
            n = a.name
            if a.how == 'in':
                args.append('number')
            elif a.how == 'dev':
                args.append('device')
            elif a.how in ('out', 'io'):
                decl.append(f'    {a.type} {n} = {{0}};\n')
                args.append(f'&{n}')
                show.append(f'show_bytes("{n}", &{n}, sizeof({n}));')
            elif a.how == 'ver':
                t = a.types[-1]
                decl.append(f'    {t} {n} = {{.version = NVML_VERSION_WORD({t}, {gennvml.version_of(t)})}};\n')
                args.append(f'&{n}')
                show.append(f'show_bytes("{n}", &{n}, sizeof({n}));')
            elif a.how in ('str', 'text'):
                decl.append(f'    char {n}[96] = "";\n')
                args += [n, '96'] if a.how == 'str' else [n]
                show.append(f'printf(" {n}=%s", {n});')
            elif a.how == 'room':
                decl.append(f'    {a.type} {n}[16] = {{0}};\n')
                args += [n, f'sizeof({n})']
                show.append(f'show_bytes("{n}", {n}, sizeof({n}));')
            elif a.how == 'list':
                decl.append(f'    {a.type} {n}[{ROOM}] = {{0}};\n    unsigned int {a.count} = few ? 1 : {ROOM};\n')
                args += [f'&{a.count}', n]
                show.append(f'printf(" {a.count}=%u", {a.count}); show_bytes("{n}", {n}, sizeof({n}));')
        o.append(f'static void ask_{c.name}(nvmlDevice_t device, unsigned int number, int few)\n{{\n' + ''.join(decl) +
                 f'    nvmlReturn_t r = {c.name}({", ".join(args)});\n\n    (void)device;\n    (void)number;\n    (void)few;\n'
                 f'    show_result("{c.name}", number, r);\n    if (r == NVML_SUCCESS && {shown}) {{\n'
                 + ''.join(f'        {s}\n' for s in show) + '    }\n    puts("");\n}\n\n')
    o.append('void ask_everything(nvmlDevice_t device)\n{\n')
    for c in asked:
        numbers = [0, 1, 2, 99] if any(a.how == 'in' for a in c.args) else [0]
        o += [f'    ask_{c.name}(device, {n}, 0);\n' for n in numbers]
        if any(a.how == 'list' for a in c.args):
            o.append(f'    ask_{c.name}(device, 0, 1);\n')
    o.append('}\n')
    return ''.join(o)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    calls = gennvml.read_calls(sys.argv[1])
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    (out / 'host_queries.c').write_text(host(calls))
    (out / 'ask_everything.c').write_text(queries(calls))
    (out / 'names').write_text(''.join(f'{c.name}\n' for c in calls) + 'nvmlErrorString\n')


if __name__ == '__main__':
    main()
