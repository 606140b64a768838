/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One vcudad for each state folder.
 */
#ifndef VCUDAD_SINGLE_H
#define VCUDAD_SINGLE_H

/*
 * Makes the folder, and holds STATE-DIR/vcudad.pid, with our number in it,
 * until the process ends, however it does. 0 or a negative errno, logged with
 * its remedy; -EBUSY where another vcudad holds the file.
 */
int single_start(const char *state_dir);

#endif
