// SPDX-License-Identifier: Apache-2.0
#include "printed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More at one time no driver keeps for its kernels. */
#define PRINTED_MAX (1ull << 30)

struct printed {
    struct printed *next;
    struct printed *last; /* of the list; kept in its head */
    uint64_t total;       /* of the list; kept in its head */
    int fd;
    uint32_t len;
    char text[];
};

bool printed_add(struct printed **list, int fd, const char *text, uint32_t len) {
    struct printed *p = malloc(sizeof(*p) + len);

    if (!p || (*list && (*list)->total > PRINTED_MAX - len)) {
        free(p);
        return false;
    }
    *p = (struct printed){.fd = fd, .len = len};
    memcpy(p->text, text, len);
    if (!*list)
        *list = p;
    else
        (*list)->last->next = p;
    (*list)->last = p;
    (*list)->total += len;
    return true;
}

/* Flushed, as the native driver does: the text is out when the call that brought it returns. */
void printed_write(struct printed *list) {
    while (list) {
        struct printed *next = list->next;
        FILE *to = list->fd == 1 ? stdout : stderr;

        fwrite(list->text, 1, list->len, to);
        if (!next || next->fd != list->fd)
            fflush(to);
        free(list);
        list = next;
    }
}
