/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code for a device: of a fat binary the part that the driver would take, of a text what
 * its linker makes of it.
 */
#ifndef VCUDA_WORKER_MACHINE_H
#define VCUDA_WORKER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "image.h"

struct jit;
struct worker;

/*
 * What machine code for a device of the guest's must be for, 90 for compute capability 9.0; for a
 * negative number that of all the session's devices. False: they are not alike, or there is none.
 */
bool machine_architecture(struct worker *w, int guest_device, unsigned int *sm);

/* Whether an image has nothing but a text for the device, which the driver would compile. */
bool machine_is_text(const struct cuda_image *image, unsigned int sm);

/* The text or machine code of an image for the device: *code is the caller's to free. */
CUresult machine_choose(const struct cuda_image *image, unsigned int sm, char **code, size_t *size,
                        bool *text);

/*
 * Has the driver make machine code of the text at *code, which takes its place. In the context that
 * is current; `in_base`: there is none, since a library belongs to none, but the linker works in
 * one.
 */
CUresult machine_link(struct worker *w, bool in_base, struct jit *jit, char **code, size_t *size);

#endif
