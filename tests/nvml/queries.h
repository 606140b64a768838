/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VCUDA_TEST_NVML_QUERIES_H
#define VCUDA_TEST_NVML_QUERIES_H

#include <stddef.h>
#include <stdio.h>

#include "nvml_calls.h"

/* Made from protocol/nvml.tbl. */
void ask_everything(nvmlDevice_t device);

/* The begin of a line. */
void show_result(const char *name, unsigned int number, nvmlReturn_t r);
/* Small things as a number, large ones as a sum over their bytes. */
void show_bytes(const char *name, const void *data, size_t bytes);

#endif
