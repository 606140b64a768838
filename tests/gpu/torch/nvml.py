# SPDX-License-Identifier: Apache-2.0
"""Everything that NVML can be asked of the first device: results, and values that do not vary."""
import ctypes
import sys
import zlib
from pathlib import Path

top = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(top / 'protocol'), str(top / 'tests' / 'nvml')]
sys.dont_write_bytecode = True
import gennvml  # noqa: E402
from generate import PRIVILEGED, VARIES  # noqa: E402

MISMATCH = 25
ROOM = 40

# That this program runs through vcuda is seen by CUDA's counters.
cuda = ctypes.CDLL('libcuda.so.1')
print('cuInit', cuda.cuInit(0))
nvml = ctypes.CDLL('libnvidia-ml.so.1')


def buffer():
    return ctypes.create_string_buffer(65536)


def arguments(call, number, word):
    """The C arguments of a query, and what to look at afterwards."""
    args, shown = [], []
    if call.how == 'query':
        args.append(device)
    for a in call.args:
        if a.how == 'in':
            args.append(ctypes.c_ulonglong(number))
        elif a.how == 'dev':
            args.append(device)
        else:
            b = buffer()
            if a.how == 'ver':
                ctypes.memmove(b, word.to_bytes(4, 'little'), 4)
            if a.how == 'list':
                n = ctypes.c_uint(ROOM)
                args.append(ctypes.byref(n))
                shown.append((a, n))
            args.append(b)
            if a.how in ('str', 'room'):
                args.append(ctypes.c_uint(64))
            shown.append((a, b))
    return args, shown


def show(a, value):
    if isinstance(value, ctypes.c_uint):
        return f'{a.count}={value.value}'
    if a.how in ('str', 'text'):
        return f'{a.name}={value.value.decode()}'
    if a.how == 'out' and a.type in gennvml.CTYPE.values():
        return f'{a.name}={int.from_bytes(value.raw[:8], "little")}'
    return f'{a.name}#{zlib.crc32(value.raw):08x}'


def ask(call, number):
    versions = [int(gennvml.version_of(t)) for a in call.args if a.how == 'ver' for t in a.types]
    sizes = range(8, 4096, 4) if versions else [0]
    function = getattr(nvml, call.name, None)
    if not function:
        return 'missing'
    r, shown = MISMATCH, []
    # The size that its structure has is found by trying.
    for size in sizes:
        args, shown = arguments(call, number, size | (versions[-1] << 24 if versions else 0))
        r = function(*args)
        if r != MISMATCH:
            break
    if r or call.name in VARIES:
        return str(r)
    return ' '.join(['0'] + [show(a, v) for a, v in shown])


print('init', nvml.nvmlInit_v2())
device = ctypes.c_void_p()
print('handle', nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)))
for name in ('nvmlDeviceGetName', 'nvmlDeviceGetUUID', 'nvmlSystemGetDriverVersion', 'nvmlSystemGetNVMLVersion'):
    b = buffer()
    r = getattr(nvml, name)(*([device] if 'Device' in name else []), b, 96)
    print(name, r, b.value.decode())
for name in ('nvmlDeviceGetPciInfo_v3', 'nvmlDeviceGetPciInfo_v2', 'nvmlDeviceGetPciInfo'):
    b = buffer()
    print(name, getattr(nvml, name)(device, b), b.raw[:68].hex())
for name in ('nvmlDeviceGetArchitecture', 'nvmlDeviceGetIndex', 'nvmlDeviceIsMigDeviceHandle', 'nvmlUnitGetCount'):
    n = ctypes.c_uint(99)
    print(name, getattr(nvml, name)(*([device] if 'Device' in name else []), ctypes.byref(n)), n.value)
m = (ctypes.c_ulonglong * 3)()
print('total', nvml.nvmlDeviceGetMemoryInfo(device, m), m[0], 'adds up', m[0] == m[1] + m[2])
# Of a device and itself the host says one or the other, by how many devices it has.
other = ctypes.c_void_p()
if nvml.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(other)) == 0:
    for index in (0, 1):
        n = ctypes.c_uint(99)
        print('peer', index, nvml.nvmlDeviceGetP2PStatus(device, other, index, ctypes.byref(n)),
              n.value)
for call in gennvml.read_calls(top / 'protocol' / 'nvml.tbl'):
    if call.asked and call.name not in PRIVILEGED:
        numbers = [0, 1, 2, 7] if any(a.how == 'in' for a in call.args) else [0]
        for number in numbers:
            print(call.name, number, ask(call, number))
print('shutdown', nvml.nvmlShutdown())
