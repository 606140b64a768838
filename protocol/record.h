/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A call as it travels through a session's rings.
 *
 *   0        4      6       8      16      24        28         32
 *   +--------+------+-------+------+-------+---------+----------+--------
 *   | len    | call | flags | tag  | ctx   | status  | deferred | slots...
 *   +--------+------+-------+------+-------+---------+----------+--------
 *
 * After the header come 8-byte slots, one an argument in the table's order,
 * then the bytes of variable arguments (blobs), each padded to 8. A blob's slot
 * holds its length in bytes. protocol/calls.tbl lists every call; numbers,
 * stubs, dispatch and the coverage page are generated from it.
 *
 * Submission: tag 0 marks a posted call (no completion); else the completion
 * carries the same tag. ctx is the calling thread's current context, status the
 * thread's number: as the library counts its threads, none twice.
 * Completion: status is the call's CUresult. deferred is the first error, not
 * yet told, of the calls that the same thread posted before, or 0. Most calls
 * are not made then, and have that error as their status (calls.tbl). Out
 * arguments follow in the table's order, and are meaningful only if status is
 * 0: flags slots, then, for a call that gives bytes back, the bytes, whose
 * length is in the last slot.
 *
 * Messages: what the worker says unasked stands in the completion ring too, as
 * a record with tag 0. call is one of enum vcuda_message, flags slots follow,
 * then, where the message carries bytes, these: their length is in the last
 * slot. A message stands before every completion that is written after the
 * worker had it, so that a program knows what was said before its call returns.
 *
 * Objects have names: (kind << 40 | generation << 24 | index << 4), which looks
 * like an aligned pointer and is none. What a program makes often, or posts, it
 * names itself; the kinds from VCUDA_KIND_OF_WORKER on are named by the worker,
 * since the driver hands them out in its own time (the nodes of a captured
 * graph). The worker keeps a table for each session; a name that is not in it
 * gets CUDA_ERROR_INVALID_HANDLE or what the driver would say for that kind.
 */
#ifndef VCUDA_PROTOCOL_RECORD_H
#define VCUDA_PROTOCOL_RECORD_H

#include "layout.h"

struct vcuda_rec {
	__u32 len; /* bytes, header and padding included; multiple of 8 */
	__u16 call;
	__u16 flags; /* completions: number of slots; submissions: VCUDA_REC_* */
	__u64 tag;
	__u64 ctx;
	__u32 status;
	__u32 deferred;
};

/*
 * The caller also looks at the word of VCUDA_TOLD_OFFSET: the upper half of the
 * call's tag there says that it has ended well, and had nothing else to tell.
 */
#define VCUDA_REC_LOOKS 1u

/* Longest record, both ways. Larger data goes through the arena. */
#define VCUDA_REC_MAX 49152u
/* Largest blob of data that a copy carries inline. */
#define VCUDA_INLINE_MAX 8192u
/* Slots of a call at most. */
#define VCUDA_SLOTS_MAX 24u

#define VCUDA_PAD8(n) (((n) + 7u) / 8u * 8u)
/*
 * Both sides make their records this long: a line that the writer of the next
 * record wants is then never the one that the reader still looks at.
 */
#define VCUDA_PAD_LINE(n)                                                      \
	(((n) + VCUDA_CACHE_LINE - 1) / VCUDA_CACHE_LINE * VCUDA_CACHE_LINE)

enum vcuda_message {
	/* Run a host function: id, place, serial, status, last. Once it has run,
	 * the guest writes serial to its word of that place, see layout.h; place
	 * VCUDA_HOST_PLACES: nobody waits. status is for stream callbacks. last:
	 * the id is not used again.
	 */
	VCUDA_MESSAGE_HOST = 1,
	/* What kernels printed: 1 (standard output) or 2 (error), length. */
	VCUDA_MESSAGE_PRINT = 2,
	/* A device says something: id, type, a number for the type. */
	VCUDA_MESSAGE_ASYNC = 3,
	VCUDA_MESSAGE_MAX = 4
};

enum vcuda_kind {
	VCUDA_KIND_NONE = 0,
	VCUDA_KIND_CONTEXT = 1,
	VCUDA_KIND_STREAM = 2,
	VCUDA_KIND_EVENT = 3,
	VCUDA_KIND_MODULE = 4,
	VCUDA_KIND_FUNCTION = 5,
	VCUDA_KIND_LIBRARY = 6,
	VCUDA_KIND_KERNEL = 7,
	/* named by the worker */
	VCUDA_KIND_OF_WORKER = 16,
	VCUDA_KIND_ARRAY = 16,
	VCUDA_KIND_MIPMAP = 17,
	VCUDA_KIND_TEXREF = 18,
	VCUDA_KIND_SURFREF = 19,
	VCUDA_KIND_GRAPH = 20,
	VCUDA_KIND_NODE = 21,
	VCUDA_KIND_EXEC = 22,
	VCUDA_KIND_POOL = 23,
	VCUDA_KIND_MEMORY = 24,
	VCUDA_KIND_LINK = 25,
	VCUDA_KIND_USEROBJECT = 26,
	VCUDA_KIND_GREEN = 27,
	VCUDA_KIND_ASYNC = 30,
	/* never travel: the worker's note of numbers that are the driver's own */
	VCUDA_KIND_TEXOBJECT = 31,
	VCUDA_KIND_SURFOBJECT = 32,
	VCUDA_KIND_DESC = 33,
	VCUDA_KIND_MAX = 34,
};

#define VCUDA_NAME_INDEX_MAX ((1u << 20) - 1)

static inline __u64 vcuda_name(enum vcuda_kind kind, __u32 generation,
			       __u32 index)
{
	return (__u64)kind << 40 | (__u64)(generation & 0xffff) << 24 |
	       (__u64)index << 4;
}

static inline __u32 vcuda_name_kind(__u64 name)
{
	return name & 15 || name >> 46 ? 0 : (__u32)(name >> 40);
}

static inline __u32 vcuda_name_generation(__u64 name)
{
	return (__u32)(name >> 24) & 0xffff;
}

static inline __u32 vcuda_name_index(__u64 name)
{
	return (__u32)(name >> 4) & VCUDA_NAME_INDEX_MAX;
}

#endif
