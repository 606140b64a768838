// SPDX-License-Identifier: Apache-2.0
#include "shares.h"
#include "closing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

struct piece {
    uint64_t bytes;
    uint32_t kind;
    uint32_t holds, tokens;
    uint32_t exporter; /* hold of who counts it himself; 0: it is counted here */
};

struct hold {
    struct piece *piece; /* NULL: free */
    uint32_t place;
};

struct token {
    struct piece *piece; /* NULL: free */
    uint32_t place;
    int fd;
    uint8_t secret[16];
};

struct shares {
    uint64_t *counted;
    uint64_t sum;         /* what is in *counted, which workers could write */
    struct hold *holds;   /* by number; [0] is unused */
    struct token *tokens; /* by slot */
    uint32_t hold_room, token_room;
};

static size_t descriptors; /* of all owners */

struct shares *shares_new(uint64_t *counted) {
    struct shares *s = calloc(1, sizeof(*s));

    if (s)
        s->counted = counted;
    return s;
}

void shares_free(struct shares *s) {
    if (!s)
        return;
    free(s->holds);
    free(s->tokens);
    free(s);
}

/* ---- What is counted ------------------------------------------------------- */

static void count(struct shares *s, uint64_t sum) {
    s->sum = sum;
    __atomic_store_n(s->counted, sum, __ATOMIC_SEQ_CST);
}

/* After a token less, or a hold that is not the exporter's. */
static void look_after(struct shares *s, struct piece *p) {
    if (p->holds || p->tokens)
        return;
    count(s, s->sum - p->bytes);
    free(p);
}

/* The exporter counts it no more: who has it still has it at the owner's cost. */
static void exporter_leaves(struct shares *s, struct piece *p) {
    p->exporter = 0;
    if (p->holds || p->tokens)
        count(s, s->sum + p->bytes);
    else
        free(p);
}

/* ---- Tables ------------------------------------------------------------------ */

/* Room for one more entry in a table: false if there is none. */
static bool grow(void **table, uint32_t *room, size_t bytes, uint32_t most) {
    uint32_t more = *room ? *room * 2 : 16;
    char *bigger = *room < most ? realloc(*table, more * bytes) : NULL;

    if (!bigger)
        return false;
    memset(bigger + *room * bytes, 0, (more - *room) * bytes);
    *table = bigger;
    *room = more;
    return true;
}

/* A free hold's number; 0: there is none. */
static uint32_t new_hold(struct shares *s) {
    uint32_t i = 1;

    while (i < s->hold_room && s->holds[i].piece)
        i++;
    if (i >= s->hold_room &&
        !grow((void **)&s->holds, &s->hold_room, sizeof(s->holds[0]), SHARES_HOLDS_MAX))
        return 0;
    return i;
}

static bool room_for_descriptor(void) {
    struct rlimit files;

    return !getrlimit(RLIMIT_NOFILE, &files) &&
           descriptors + closing_count() < files.rlim_cur / SHARES_DESCRIPTORS_PART;
}

/* A free token, with a secret; NULL: there is none. */
static struct token *new_token(struct shares *s) {
    uint32_t i = 0;

    while (i < s->token_room && s->tokens[i].piece)
        i++;
    if (i >= s->token_room &&
        !grow((void **)&s->tokens, &s->token_room, sizeof(s->tokens[0]), SHARES_TOKENS_MAX))
        return NULL;
    return getrandom(s->tokens[i].secret, sizeof(s->tokens[i].secret), 0) ==
                   sizeof(s->tokens[i].secret)
               ? &s->tokens[i]
               : NULL;
}

static struct token *find_token(struct shares *s, const struct vcuda_share_token *wanted) {
    struct token *t = wanted->slot < s->token_room ? &s->tokens[wanted->slot] : NULL;

    return t && t->piece && !memcmp(t->secret, wanted->secret, sizeof(t->secret)) ? t : NULL;
}

static struct hold *find_hold(struct shares *s, uint32_t place, uint32_t number) {
    struct hold *h = number && number < s->hold_room ? &s->holds[number] : NULL;

    return h && h->piece && h->place == place ? h : NULL;
}

/* ---- Requests ------------------------------------------------------------------ */

static uint32_t hold(struct shares *s, uint32_t place, struct piece *p) {
    uint32_t number = new_hold(s);

    if (number) {
        s->holds[number] = (struct hold){p, place};
        p->holds++;
    }
    return number;
}

static void end_token(struct shares *s, struct token *t) {
    struct piece *p = t->piece;

    if (t->fd >= 0) {
        closing_add(t->fd);
        descriptors--;
    }
    t->piece = NULL;
    p->tokens--;
    look_after(s, p);
}

/* The driver gives nobody what its exporter has no more. */
static void end_handles(struct shares *s, const struct piece *p) {
    for (uint32_t i = 0; i < s->token_room; i++)
        if (s->tokens[i].piece == p)
            end_token(s, &s->tokens[i]);
}

static void end_hold(struct shares *s, uint32_t number) {
    struct piece *p = s->holds[number].piece;

    if (p->exporter == number && p->kind == VCUDA_SHARE_HANDLE)
        end_handles(s, p);
    s->holds[number].piece = NULL;
    p->holds--;
    if (p->exporter == number)
        exporter_leaves(s, p);
    else
        look_after(s, p);
}

/* The piece that is put: one that the worker holds, or a new one with its hold. NULL: no memory. */
static struct piece *put_piece(struct shares *s, uint32_t place,
                               const struct vcuda_share_request *request, uint32_t *number) {
    struct hold *known = find_hold(s, place, request->hold);
    struct piece *p;

    *number = request->hold;
    if (known && known->piece->kind == request->kind)
        return known->piece;
    p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->bytes = request->bytes;
    p->kind = request->kind;
    *number = p->exporter = hold(s, place, p);
    if (*number)
        return p;
    free(p);
    return NULL;
}

/* True: the descriptor, if there is one, is the token's. */
static bool put(struct shares *s, uint32_t place, const struct vcuda_share_request *request, int fd,
                struct vcuda_share_answer *answer) {
    struct token *t = fd < 0 || room_for_descriptor() ? new_token(s) : NULL;
    uint32_t number;
    struct piece *p = t ? put_piece(s, place, request, &number) : NULL;

    if (!p) {
        answer->status = -EDQUOT;
        return false;
    }
    t->piece = p;
    t->place = place;
    t->fd = fd;
    p->tokens++;
    descriptors += fd >= 0;
    answer->hold = number;
    answer->token.slot = (uint32_t)(t - s->tokens);
    memcpy(answer->token.secret, t->secret, sizeof(t->secret));
    return true;
}

static void get(struct shares *s, uint32_t place, const struct vcuda_share_request *request,
                struct vcuda_share_answer *answer, int *give) {
    const struct token *t = find_token(s, &request->token);

    if (!t || t->piece->kind != request->kind) {
        answer->status = -ENOENT;
        return;
    }
    answer->hold = hold(s, place, t->piece);
    if (!answer->hold) {
        answer->status = -EDQUOT;
        return;
    }
    answer->bytes = t->piece->bytes;
    *give = t->fd;
}

static void end(struct shares *s, uint32_t place, const struct vcuda_share_request *request,
                struct vcuda_share_answer *answer) {
    struct token *t = find_token(s, &request->token);

    if (t && t->place == place)
        end_token(s, t);
    else
        answer->status = -ENOENT;
}

static void leave(struct shares *s, uint32_t place, uint32_t number,
                  struct vcuda_share_answer *answer) {
    if (find_hold(s, place, number))
        end_hold(s, number);
    else
        answer->status = -ENOENT;
}

static void resize(struct shares *s, uint32_t place, const struct vcuda_share_request *request) {
    struct hold *h = find_hold(s, place, request->hold);

    if (h && h->piece->exporter == request->hold)
        h->piece->bytes = request->bytes;
}

bool shares_serve(struct shares *s, uint32_t place, const struct vcuda_share_request *request,
                  int fd, struct vcuda_share_answer *answer, int *give) {
    bool kept = false;
    bool handle = request->kind == VCUDA_SHARE_HANDLE;
    bool known = handle || request->kind == VCUDA_SHARE_MEMORY || request->kind == VCUDA_SHARE_POOL;
    bool sense = (fd >= 0) == (request->op == VCUDA_SHARE_PUT && !handle) &&
                 request->bytes <= SHARES_BYTES_MAX;

    memset(answer, 0, sizeof(*answer));
    *give = -1;
    if (sense && request->op == VCUDA_SHARE_PUT && known)
        kept = put(s, place, request, fd, answer);
    else if (sense && request->op == VCUDA_SHARE_GET && known)
        get(s, place, request, answer, give);
    else if (sense && request->op == VCUDA_SHARE_END)
        end(s, place, request, answer);
    else if (sense && request->op == VCUDA_SHARE_LEAVE)
        leave(s, place, request->hold, answer);
    else if (sense && request->op == VCUDA_SHARE_RESIZE)
        resize(s, place, request);
    else
        sense = false;
    if (fd >= 0 && !kept)
        closing_add(fd);
    return sense;
}

void shares_leave(struct shares *s, uint32_t place) {
    for (uint32_t i = 0; i < s->token_room; i++)
        if (s->tokens[i].piece && s->tokens[i].place == place)
            end_token(s, &s->tokens[i]);
    for (uint32_t i = 1; i < s->hold_room; i++)
        if (find_hold(s, place, i))
            end_hold(s, i);
}
