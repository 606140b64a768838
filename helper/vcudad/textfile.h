/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files that others read at any moment: replaced as a whole, never half
 * written.
 */
#ifndef VCUDAD_TEXTFILE_H
#define VCUDAD_TEXTFILE_H

#include <stddef.h>

/* Replaces dir/name, readable by all. 0 or a negative errno. */
int textfile_write(const char *dir, const char *name, const char *text, size_t length);
void textfile_remove(const char *dir, const char *name);
/* Makes dir, and its parent, where they are missing. */
int textfile_make_dir(const char *dir);

#endif
