/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What guest-echo asks of host-echo: records of the real rings, with call
 * numbers of their own. The answer is the same record, status and slots filled.
 */
#ifndef VCUDA_TESTS_LAB_ECHO_H
#define VCUDA_TESTS_LAB_ECHO_H

#include "../../../protocol/record.h"

enum echo_call {
    ECHO_SAME = 1,  /* any bytes after the header come back as they were */
    ECHO_MAP = 2,   /* slots: region. Maps it; status 0 or an errno */
    ECHO_SUM = 3,   /* slots: region, out sum of its 32-bit words; then inverts every word */
    ECHO_UNMAP = 4, /* slots: region */
    ECHO_DIE = 5,   /* the worker kills itself by SIGKILL, whatever it has pinned */
};

struct echo_rec {
    struct vcuda_rec head;
    __u64 slots[2];
};

#endif
