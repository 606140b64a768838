/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to pointers, with nested scopes: what a scope declares hides what is outside it and goes
 * when the scope ends. Names are not copied.
 */
#ifndef PTX_MAP_H
#define PTX_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    const char *name;
    size_t len;
    void *value;
    uint32_t depth; /* of the scope that declared it */
    uint32_t next;  /* in its bucket: index + 1 */
};

struct map {
    struct map_entry *entries; /* a stack: the newest last */
    uint32_t *buckets;
    uint32_t count, cap, bucket_count, depth;
};

/* The innermost value, or NULL. */
void *map_find(const struct map *m, const char *name, size_t len);
/* As map_find, but only in the innermost scope. */
void *map_find_here(const struct map *m, const char *name, size_t len);
/* False: out of memory. */
bool map_add(struct map *m, const char *name, size_t len, void *value);
void map_push(struct map *m);
void map_pop(struct map *m);
void map_free(struct map *m);

#endif
