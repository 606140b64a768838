// SPDX-License-Identifier: Apache-2.0
#include "map.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *s, size_t n) {
    uint32_t h = 2166136261u;
    while (n--)
        h = (h ^ (uint8_t)*s++) * 16777619u;
    return h;
}

static const struct map_entry *find(const struct map *m, const char *name, size_t len) {
    if (!m->bucket_count)
        return NULL;
    uint32_t at = m->buckets[hash(name, len) & (m->bucket_count - 1)];
    for (; at; at = m->entries[at - 1].next) {
        const struct map_entry *e = &m->entries[at - 1];
        if (e->len == len && !memcmp(e->name, name, len))
            return e;
    }
    return NULL;
}

void *map_find(const struct map *m, const char *name, size_t len) {
    const struct map_entry *e = find(m, name, len);
    return e ? e->value : NULL;
}

void *map_find_here(const struct map *m, const char *name, size_t len) {
    const struct map_entry *e = find(m, name, len);
    return e && e->depth == m->depth ? e->value : NULL;
}

static void link_entry(struct map *m, uint32_t index) {
    struct map_entry *e = &m->entries[index];
    uint32_t *bucket = &m->buckets[hash(e->name, e->len) & (m->bucket_count - 1)];
    e->next = *bucket;
    *bucket = index + 1;
}

static bool grow(struct map *m) {
    uint32_t cap = m->cap ? m->cap * 2 : 64;
    struct map_entry *entries = realloc(m->entries, cap * sizeof(*entries));
    if (!entries)
        return false;
    m->entries = entries;
    m->cap = cap;
    uint32_t *buckets = calloc(cap, sizeof(*buckets));
    if (!buckets)
        return false;
    free(m->buckets);
    m->buckets = buckets;
    m->bucket_count = cap;
    for (uint32_t i = 0; i < m->count; i++)
        link_entry(m, i);
    return true;
}

bool map_add(struct map *m, const char *name, size_t len, void *value) {
    if ((m->count == m->cap || m->bucket_count != m->cap) && !grow(m))
        return false;
    m->entries[m->count] =
        (struct map_entry){.name = name, .len = len, .value = value, .depth = m->depth};
    link_entry(m, m->count++);
    return true;
}

void map_push(struct map *m) {
    m->depth++;
}

void map_pop(struct map *m) {
    /* The newest entry always heads its bucket, so it can be taken off in reverse order. */
    while (m->count && m->entries[m->count - 1].depth == m->depth) {
        struct map_entry *e = &m->entries[--m->count];
        m->buckets[hash(e->name, e->len) & (m->bucket_count - 1)] = e->next;
    }
    m->depth--;
}

void map_free(struct map *m) {
    free(m->entries);
    free(m->buckets);
    *m = (struct map){0};
}
