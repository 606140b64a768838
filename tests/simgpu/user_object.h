/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own objects, to which it, graphs and what is made of graphs hold references. */
#ifndef SIMGPU_USER_OBJECT_H
#define SIMGPU_USER_OBJECT_H

struct sim_user_object;

/* References that a graph, or something made of one, holds; a list, under its owner's lock. */
struct sim_holding {
    struct sim_holding *next;
    struct sim_user_object *object;
    unsigned count;
};

/* Holds as many again of all in `from`; what memory there is not enough for is not held. */
void sim_holdings_add(struct sim_holding **to, const struct sim_holding *from);
/* Gives all of them back, which may end objects. */
void sim_holdings_drop(struct sim_holding **list);

#endif
