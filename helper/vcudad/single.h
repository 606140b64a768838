/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One vcudad for each state folder.
 */
#ifndef VCUDAD_SINGLE_H
#define VCUDAD_SINGLE_H

/*
 * Holds STATE-DIR/vcudad.pid, with our number in it, until the process ends,
 * however it does. -EBUSY, logged, where another vcudad holds it.
 */
int single_start(const char *state_dir);

#endif
