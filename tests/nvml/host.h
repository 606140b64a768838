/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libnvidia-ml.so.1 that knows no GPU: its answers are patterns, so that a test sees whether each
 * byte of them arrives, and whether what went in did. The simulated GPU's devices are its devices.
 */
#ifndef VCUDA_TEST_NVML_HOST_H
#define VCUDA_TEST_NVML_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvml_calls.h"

struct pattern {
    uint64_t state;
};

/* Begins with a function's name; what goes in is mixed into it. */
struct pattern pattern_of(const char *function);
void pattern_mix(struct pattern *p, uint64_t value);
void pattern_mix_bytes(struct pattern *p, const void *data, size_t bytes);
void pattern_fill(struct pattern *p, void *data, size_t bytes);
/* All but the first word of a structure, whose size it says. */
void pattern_versioned(struct pattern *p, void *structure);
void pattern_text(struct pattern *p, char *text, size_t room);
/* Between 2 and 31 entries, by NVML's rules. */
nvmlReturn_t pattern_list(struct pattern *p, unsigned int *count, void *list, size_t size);

bool host_device(nvmlDevice_t device);

#endif
