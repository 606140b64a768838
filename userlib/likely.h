/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls that are made most often nearly always find: it is laid out in one line. */
#ifndef VCUDA_USERLIB_LIKELY_H
#define VCUDA_USERLIB_LIKELY_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* In each caller's body, made for what he gives it. */
#define IN_PLACE inline __attribute__((always_inline))

/* Not in the caller's body: what it hardly ever does. */
#define SELDOM __attribute__((noinline))

#endif
