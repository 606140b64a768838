#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs from which the fuzzers start: seeds.py CALLS_H OUT_DIR

Each is what a well-behaved peer would send, so that a fuzzer begins behind the
first checks instead of before them.
"""

import re
import struct
import sys
from pathlib import Path

REC = struct.Struct("<IHHQQII")
ARENA = 0x200000000000
KINDS = {"context": 1, "stream": 2, "event": 3, "module": 4, "function": 5}


def name(kind, index, generation=1):
    return KINDS[kind] << 40 | generation << 24 | index << 4


def padded(data):
    return data + bytes(-len(data) % 8)


def record(call, slots=(), blobs=(), tag=0, ctx=0, status=0, flags=0):
    body = b"".join(struct.pack("<Q", s & 0xFFFFFFFFFFFFFFFF) for s in slots)
    body += b"".join(padded(b) for b in blobs)
    return REC.pack(REC.size + len(body), call, flags, tag, ctx, status, 0) + body


def sessions(calls):
    """Submission rings' contents."""
    tags = iter(range(1, 100000))
    ctx = name("context", 1)
    stream, event = name("stream", 1), name("event", 1)
    module, function = name("module", 1), name("function", 1)

    def call(which, *slots, blobs=(), post=False, context=ctx):
        return record(calls[which], slots, blobs, 0 if post else next(tags), context)

    program = b"vector_add\0"
    hello = call("hello", 1, 1, 0, 4711, len(program), blobs=[program], context=0)
    info = call("device_info", 0, 4096, context=0)
    arena = call("map_region", 1, ARENA, 65536, context=0)
    context = call("cuDevicePrimaryCtxRetain", ctx, 0, 0, context=0)
    new_stream = call("cuStreamCreateWithPriority", stream, 1, 0, post=True)
    new_event = call("cuEventCreate", event, 0, post=True)
    start = hello + info + arena + context + new_stream + new_event

    copies = (
        call("copy_async", 1, 0x7000, ARENA, 4096, stream, post=True)
        + call("copy_done", 2, ARENA + 4096, 0x7000, 4096, 0)
        + call("copy_inline", 0x7000, stream, 16, blobs=[bytes(16)], post=True)
        + call("fill", 0x7000, 0x55, 4, 64, stream, post=True)
        + call("cuEventRecordWithFlags", event, stream, 0, post=True)
        + call("cuStreamWaitEvent", stream, event, 0, post=True)
        + call("cuEventQuery", event)
        + call("cuEventSynchronize", event)
        + call("cuStreamSynchronize", stream)
    )
    symbol = b"k\0"
    option = struct.pack("<IIQ", 7, 0, 3)
    attribute = struct.pack("<II64s", 2, 0, b"\1")
    # The target lays a module at the start of what is mapped.
    launch = (
        call("module_load", module, ARENA, 256, 64, 64, len(option), 512, blobs=[option])
        + call("module_function", function, module, len(symbol), 512, blobs=[symbol])
        + call("launch", function, 1, 1, 1, 32, 1, 1, 0, stream, len(attribute), 24,
               blobs=[attribute, bytes(24)], post=True)
        + call("cuFuncGetAttribute", 0, function)
        + call("cuModuleGetGlobal_v2", 3, module, len(symbol), blobs=[symbol])
        + call("cuModuleUnload", module)
        + call("machine_code", -1, ARENA, 256, len(option), blobs=[option])
    )
    # The first by itself, the others in chains.
    launches = (
        call("module_load", module, ARENA, 256, 64, 64, len(option), 512, blobs=[option])
        + call("module_function", function, module, len(symbol), 512, blobs=[symbol])
        + b"".join(
            call("launch", function, 1 + n, 1, 1, 32, 1, 1, 0, stream if n < 20 else 0, 0, 24,
                 blobs=[b"", bytes(24)], post=True) for n in range(24)
        )
        + call("cuModuleUnload", module)
    )
    memory = (
        call("cuMemAlloc_v2", 4096)
        + call("cuMemAllocPitch_v2", 100, 100, 4)
        + call("cuMemGetInfo_v2", 3, 3)
        + call("cuMemFree_v2", 0x7000)
        + call("cuCtxSynchronize")
        + call("cuCtxGetStreamPriorityRange", 1, 1)
    )
    end = (
        call("cuEventDestroy_v2", event, post=True)
        + call("cuStreamDestroy_v2", stream, post=True)
        + call("cuDevicePrimaryCtxRelease_v2", ctx, 0, context=0)
    )
    own_context = call("cuCtxCreate_v2", name("context", 2), 0, 1, context=0) + call(
        "cuCtxDestroy_v2", name("context", 2), context=0
    )
    yield start + copies + end
    yield start + launch + end
    yield start + launches + end
    yield start + memory + own_context + end
    yield start + boxes(call, name("stream", 1)) + end
    # Every call there is, each alone with slots that are zero, then ones.
    for value in (0, 1, name("stream", 1), 0xFFFFFFFFFFFFFFFF):
        yield start + b"".join(
            record(n, [value] * 11, [bytes(64)], next(tags), ctx) for n in calls.values() if n > 3
        )


def boxes(call, stream):
    """Copies of rows and slices, arrays and what reads them, tensor maps."""

    def place(kind, base, pitch, height=0, context=0, x=0, y=0, z=0):
        return struct.pack("<8QII", base, context, x, y, z, 0, pitch, height, kind, 0)

    def copy(form, dst, src, width, rows, slices):
        return dst + src + struct.pack("<3QII", width, rows, slices, form, 0)

    host, device, array = place(1, ARENA + 4096, 64, 8), place(2, 0x7000, 256, 8), 16 << 40 | 1 << 24
    up, down = copy(1, device, host, 32, 8, 1), copy(2, host, device, 64, 4, 2)
    peer = copy(3, place(2, 0x9000, 64, 8, name("context", 1)), device, 8, 2, 2)
    to_array = copy(2, place(3, array, 0), host, 16, 2, 1)
    flat, deep = struct.pack("<QQII", 64, 8, 32, 1), struct.pack("<3QIII4x", 64, 8, 4, 32, 1, 0)
    resource, texture = struct.pack("<IIQIIQQQ", 0, 0, array, 0, 0, 0, 0, 0), bytes(104)
    linear = struct.pack("<IIQIIQQQ", 3, 0, 0x7000, 32, 1, 16, 8, 256)
    tensor = struct.pack("<IIQ5Q5Q5I5i5i5I10I", 1, 0, 0x7000, *[64] * 5, *[256] * 5, *[8] * 5,
                         *[0] * 10, *[1] * 5, 7, 2, 0, 0, 0, 0, 0, 0, 0, 0)
    mapping = struct.pack("<IIQII3I3IQQIIQQII", 0, 0, array, *[0] * 8, 0, 0, 1, 0, 0, 0, 1, 0)
    return (
        call("copy3d_async", len(up), stream, blobs=[up], post=True)
        + call("copy3d_done", len(down), 0, blobs=[down])
        + call("copy3d_async", len(peer), stream, blobs=[peer])
        + call("fill2d", 0x7000, 256, 0x55, 4, 16, 8, stream, post=True)
        + call("cuArrayCreate_v2", len(flat), blobs=[flat])
        + call("cuArray3DCreate_v2", len(deep), blobs=[deep])
        + call("copy3d_async", len(to_array), stream, blobs=[to_array])
        + call("cuArrayGetDescriptor_v2", len(flat), array)
        + call("cuTexObjectCreate", len(resource), 104, 0, blobs=[resource, texture])
        + call("cuTexObjectCreate", len(linear), 104, 0, blobs=[linear, texture])
        + call("cuTexObjectGetResourceDesc", 1, len(resource))
        + call("map_arrays", len(mapping), stream, blobs=[mapping])
        + call("tensor_map_encode", len(tensor), 128, blobs=[tensor])
        + call("tensor_map_replace", 0x9000, 128, 128, blobs=[bytes(128)])
        + call("cuArrayDestroy", array)
    )


def completions():
    """The waiting call, what it wants, and the answer."""
    wants = struct.pack("<HH", 41, 0)
    yield wants + record(41, [0x7F0000000000], tag=1, flags=1)
    yield wants + record(41, [], tag=1, status=2)
    wants = struct.pack("<HH", 3, 256)
    yield wants + record(3, [64], [bytes(range(64))], tag=1, flags=1)
    yield wants + record(3, [256], [bytes(256)], tag=1, flags=1)
    yield wants + record(3, [1, 2, 3, 4, 5, 6, 7, 8], [bytes(8)], tag=1, flags=8)


def messages():
    yield record(1, [1 << 32 | 1, 3, 7, 0, 1], flags=5)
    yield record(1, [1 << 32 | 1, 64, 0, 700, 0], flags=5)
    yield record(2, [1, 11], [b"hello world"], flags=2)
    yield record(2, [2, 0], flags=2)
    yield record(3, [5, 1, 4096], flags=3)


def ring_steps():
    def moved(word, by):
        return struct.pack("<BBI", 1, word, by)

    def wrote(offset, value):
        return struct.pack("<BHI", 0, offset, value)

    take, ready = struct.pack("<BHB", 2, 512, 3), b"\5"
    send, sleep = struct.pack("<BH", 3, 64), b"\4\3"
    for start in (0, 1000, 0xFFFFFFF0):
        begin = struct.pack("<I", start)
        place = 512 + start % 1024
        yield begin + wrote(place, 64) + moved(0, 64) + ready + take + send + sleep
        yield begin + send * 16 + moved(1, 64) + send + moved(1, 0x80000000) + send
        yield begin + moved(0, 2048) + ready + take


def control_requests():
    for op, pages in ((1, 34), (2, 16), (3, 0), (4, 0), (0x81, 0)):
        yield struct.pack("<HHIIiIIIIIII", op, 0, 1, 1, 0, 1, pages, 8, 9, 65536, 65536, 1)


def main():
    header, out = Path(sys.argv[1]), Path(sys.argv[2])
    found = re.findall(r"VCUDA_CALL_(\w+) = (\d+)", header.read_text())
    calls = {which: int(number) for which, number in found}
    corpora = {
        "worker_records": sessions(calls),
        "completions": completions(),
        "messages": messages(),
        "ring": ring_steps(),
        "control": control_requests(),
    }
    for target, inputs in corpora.items():
        folder = out / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(inputs):
            (folder / f"seed-{number}").write_bytes(data)


if __name__ == "__main__":
    main()
