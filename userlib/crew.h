/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copying crew: threads that help with copies between the program's memory and the staging
 * areas. One thread reads what a GPU has just written at a few GB/s, the bus carries ten times
 * that. What the GPU reads next goes past the caches, twice as fast; what the program reads stays.
 */
#ifndef VCUDA_USERLIB_CREW_H
#define VCUDA_USERLIB_CREW_H

#include <stddef.h>

/*
 * As memcpy: returns when all is copied. Large copies are shared with the crew, which is there
 * where processors are to spare: VCUDA_COPY_THREADS helpers at most, else one for four of them and
 * three at most; and one for each 256 KiB, as far as it makes copies faster (pace.h). Any thread;
 * while the crew helps one of them, others copy alone.
 */
void crew_copy(void *dst, const void *src, size_t bytes);

/* The same to memory that no processor is about to read: past the caches where it is large. */
void crew_copy_out(void *dst, const void *src, size_t bytes);

#endif
