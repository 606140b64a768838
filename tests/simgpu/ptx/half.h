/* SPDX-License-Identifier: Apache-2.0 */
/* Builders of the float opcodes that several files share. */
#ifndef PTX_HALF_H
#define PTX_HALF_H

#include "load.h"
#include "scalar.h"

/* f16, f16x2, bf16 and bf16x2 (op_half.c) */
void build_half_arith(struct loader *ld, enum type t, enum arith op);
void build_half_minmax(struct loader *ld, enum type t, bool max);
void build_half_absneg(struct loader *ld, enum type t, bool neg);
bool build_half_math(struct loader *ld, enum type t, float (*f)(float));

/* Forms with .approx or .full (op_math.c); false: the statement is not one. */
bool build_approx(struct loader *ld, struct stmt *st);
bool build_approx_div(struct loader *ld, enum type t);

/* .rn, .rz, .rm, .rp, .rna; to nearest without. */
enum round take_round(struct stmt *st);

#endif
