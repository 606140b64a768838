/* SPDX-License-Identifier: Apache-2.0 */
/* A real xenstored for the tests, in a folder of its own, and domains in it. */
#ifndef VCUDA_TEST_STORE_H
#define VCUDA_TEST_STORE_H

#include "node.h"

/* Where it lives; policies may go into a folder here. */
extern char store_dir[64];
/* A connection as dom0's toolstack. */
extern struct xs_handle *store_xs;

/* cmocka group fixtures. */
int store_start(void **state);
int store_stop(void **state);

/* What xl does: a home, a name (unless NULL), then the introduction. */
void domain_create(uint32_t domid, const char *name);
/* What `xl destroy` does: nodes first, then the domain. */
void domain_destroy(uint32_t domid);
/* Xen ends it, nobody cleans up; returns when xenstored knows. */
void domain_dies(uint32_t domid);

void store_write(struct vcuda_path path, const char *text);
/* The value equals text; NULL: there is no such node. */
void assert_node(struct vcuda_path path, const char *text);
/* As xenstore-ls -p prints them: "n0,r5". */
void assert_permissions(struct vcuda_path path, const char *expected);

/* Runs vcudactl with arguments; its exit status, its output (both streams) in output. */
int run_vcudactl(const char *arguments, char output[8192]);

#endif
