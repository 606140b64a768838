// SPDX-License-Identifier: Apache-2.0
/*
 * Counts the hypercalls in a trace that Xen wrote (xentrace's file; records as in Xen's
 * public/trace.h), for each physical CPU and in total:
 *
 *   count-trace FILE
 *   cpu=0 event_channel_op=12 grant_table_op=0 sched_op=40 other=300 lost=0
 *   ...
 *   cpu=all event_channel_op=24 grant_table_op=2 sched_op=90 other=700 lost=0
 *
 * Records do not say which domain made the hypercall; where dom0 has CPUs of its own, the CPU does.
 * lost is what Xen dropped for want of buffers: a count with losses is too low.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A record: event in 28 bits, 3 bits of how many words follow, 1 bit of whether a time stamp does,
 * which comes first. */
#define EVENT(header) ((header)&0x0fffffffu)
#define EXTRA_WORDS(header) ((header) >> 28 & 7u)
#define HAS_TIME(header) ((header) >> 31)
#define TIME_WORDS 2u

#define LOST_RECORDS 0x0001f001u
#define CPU_CHANGE 0x0001f003u
#define PV_HYPERCALL 0x0020100du         /* number in the low 20 bits of the first word */
#define PV_HYPERCALL_SUBCALL 0x0020200eu /* the same, for each one inside a multicall */
#define HYPERCALL_NUMBER(word) ((word)&0xfffffu)

enum { GRANT_TABLE_OP = 20, SCHED_OP = 29, EVENT_CHANNEL_OP = 32 };

#define CPUS 256

struct count {
    bool seen;
    unsigned long event_channel_op, grant_table_op, sched_op, other, lost;
};

static struct count cpus[CPUS];

static bool read_words(FILE *in, uint32_t *words, size_t count) {
    return fread(words, sizeof(*words), count, in) == count;
}

static void hypercall(struct count *c, uint32_t number) {
    if (number == EVENT_CHANNEL_OP)
        c->event_channel_op++;
    else if (number == GRANT_TABLE_OP)
        c->grant_table_op++;
    else if (number == SCHED_OP)
        c->sched_op++;
    else
        c->other++;
}

/* One record of which the header is read already: false when the file ends within it or it names a
 * CPU that no machine has. */
static bool record(FILE *in, uint32_t header, struct count **now) {
    uint32_t words[7] = {0}, time[TIME_WORDS];

    if (HAS_TIME(header) && !read_words(in, time, TIME_WORDS))
        return false;
    if (!read_words(in, words, EXTRA_WORDS(header)))
        return false;
    switch (EVENT(header)) {
    case CPU_CHANGE:
        if (words[0] >= CPUS)
            return false;
        *now = &cpus[words[0]];
        (*now)->seen = true;
        break;
    case LOST_RECORDS:
        (*now)->lost += words[0];
        break;
    case PV_HYPERCALL:
    case PV_HYPERCALL_SUBCALL:
        hypercall(*now, HYPERCALL_NUMBER(words[0]));
        break;
    }
    return true;
}

static void print(const char *name, const struct count *c) {
    printf("cpu=%s event_channel_op=%lu grant_table_op=%lu sched_op=%lu other=%lu lost=%lu\n", name,
           c->event_channel_op, c->grant_table_op, c->sched_op, c->other, c->lost);
}

static void print_all(void) {
    struct count sum = {0};
    char name[16];

    for (int i = 0; i < CPUS; i++) {
        if (!cpus[i].seen)
            continue;
        snprintf(name, sizeof(name), "%d", i);
        print(name, &cpus[i]);
        sum.event_channel_op += cpus[i].event_channel_op;
        sum.grant_table_op += cpus[i].grant_table_op;
        sum.sched_op += cpus[i].sched_op;
        sum.other += cpus[i].other;
        sum.lost += cpus[i].lost;
    }
    print("all", &sum);
}

int main(int argc, char **argv) {
    struct count *now = &cpus[0];
    uint32_t header;
    FILE *in;

    if (argc != 2) {
        fprintf(stderr, "usage: count-trace FILE\n");
        return 2;
    }
    in = fopen(argv[1], "rb");
    if (!in) {
        perror(argv[1]);
        return 1;
    }
    while (read_words(in, &header, 1)) {
        if (!record(in, header, &now)) {
            fprintf(stderr, "count-trace: %s is damaged at byte %ld\n", argv[1], ftell(in));
            return 1;
        }
    }
    fclose(in);
    print_all();
    return 0;
}
