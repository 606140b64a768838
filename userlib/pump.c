// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "pump.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "barrier.h"
#include "completion.h"
#include "counters.h"
#include "hostfunc.h"
#include "likely.h"
#include "lock.h"
#include "message.h"
#include "printed.h"
#include "ring.h"
#include "rpc.h"
#include "spin.h"
#include "submit.h"

/* How long a thread that waits looks for its answer before it sleeps, at most. */
#define LOOK_NS 10000000u
/* Calls that may wait at one time: about as many as a process has threads at most. */
#define WAITERS 32768u
/* The place of the pump's own call where that is nobody else's affair: see pump_claim(). */
#define OWN_PLACE (WAITERS + 1)

/* How long a thread that finds the submission ring full sleeps, where that is no loss. */
#define NAP_NS 200000u
/* An older pace says nothing. */
#define PACE_MAX_NS 100000000u

/* Sent; a thread waits for it; that thread shall pump; answered. */
enum { RPC_SENT, RPC_WAITING, RPC_PUMP_NOW, RPC_DONE };

static struct {
    struct vcuda_lock waiters_lock;
    struct rpc *waiters[WAITERS];
    uint32_t generations[WAITERS]; /* part of the tag: an old answer finds nobody */
    uint32_t next_free[WAITERS];   /* of a free place: place + 1 of the next one */
    uint32_t free;                 /* place + 1 of the first free one that was used before */
    uint32_t waiters_top;          /* places ever used */
    uint32_t enlisted;             /* places in use; written under the lock */
    uint32_t pumping;              /* 1 while a thread reads the completion ring */
    uint32_t lookers;              /* threads that look whether they are answered */
    uint32_t lookers_max;
    const uint32_t *told;         /* written by the GPU: the claim that has come to its end */
    struct rpc *own;              /* the call that this thread waits for itself */
    uint32_t claims;              /* part of the tag, as generations are */
    uint32_t asleep;              /* 1 while that thread sleeps, under sleep_lock */
    struct vcuda_lock sleep_lock; /* guards the wait word against two threads' news */
    uint32_t space_wanted;        /* a thread waits for the submission ring */
    uint32_t space_news;          /* futex: changes when there may be space */
    struct {
        uint64_t since;
        uint32_t cons;         /* of the worker */
    } full;                    /* when the submission ring was last found so; under its lock */
    struct vcuda_spin looking; /* of the thread that pumps */
    uint8_t *record;           /* the pump's private copy of a completion */
    struct printed *printed;   /* the pump's: not yet given to a call */
    struct rpc *listener;      /* among those that wait, for messages; under waiters_lock */
} pump_state;

#define S pump_state
#define RINGS (&submission.rings)

static void futex_wait(uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static uint32_t processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (uint32_t)n : 1;
}

void pump_attach(bool elsewhere) {
    if (!S.record)
        S.record = malloc(VCUDA_REC_MAX);
    S.told = (const uint32_t *)((const uint8_t *)submission.transport->rings + VCUDA_TOLD_OFFSET);
    S.full.since = 0; /* the pace was another worker's */
    vcuda_spin_init(&S.looking, LOOK_NS, elsewhere);
    S.lookers_max = S.looking.ceiling > VCUDA_SPIN_FLOOR_NS ? processors() / 2 : 0;
}

/* Under the lock: nobody waits at this place any more. */
static void leave_place(uint32_t place) {
    S.waiters[place] = NULL;
    S.next_free[place] = S.free;
    S.free = place + 1;
    __atomic_store_n(&S.enlisted, S.enlisted - 1, __ATOMIC_SEQ_CST);
}

/* Everybody who waits gets an error, once. */
void pump_abandon(const char *why) {
    if (vcuda_exchange(&guest_lost, 1))
        return;
    guest_changed();
    guest_log("session lost: %s", why);
    vcuda_lock_take(&S.waiters_lock);
    for (uint32_t i = 0; i < S.waiters_top; i++) {
        if (!S.waiters[i])
            continue;
        S.waiters[i]->status = VCUDA_ERROR_LOST;
        vcuda_store_release(&S.waiters[i]->state, RPC_DONE);
        futex_wake(&S.waiters[i]->state, 1);
        leave_place(i);
    }
    vcuda_lock_leave(&S.waiters_lock);
    __atomic_fetch_add(&S.space_news, 1, __ATOMIC_SEQ_CST);
    futex_wake(&S.space_news, INT_MAX);
}

void pump_forget(void) {
    S.waiters_lock = S.sleep_lock = (struct vcuda_lock){0};
    memset(S.waiters, 0, S.waiters_top * sizeof(S.waiters[0]));
    S.waiters_top = S.free = S.enlisted = 0;
    S.own = NULL;
    S.pumping = S.lookers = S.asleep = S.space_wanted = 0;
    guest_lost = 1;
    guest_changed();
}

/* Nothing here runs code of the program: others wait for this thread, and locks may be held. */
static void take_message(const struct vcuda_rec *head, uint32_t len) {
    struct message m;
    bool ok = message_parse(head, len, &m);

    if (ok && m.what == VCUDA_MESSAGE_PRINT)
        ok = printed_add(&S.printed, m.print.fd, m.print.text, m.print.len);
    else if (ok)
        ok = hostfunc_called(&m);
    if (!ok)
        pump_abandon("the worker sent a message that makes no sense");
}

/* Fills a call's answer in: false if it makes no sense. */
static bool fill(struct rpc *rpc, const struct vcuda_rec *head, uint32_t len) {
    bool ok = completion_parse(head, len, rpc);

    if (!ok)
        rpc->status = VCUDA_ERROR_LOST;
    /* Written by the thread that called, before it returns. */
    rpc->printed = S.printed;
    S.printed = NULL;
    return ok;
}

/* Whether the GPU has told that a call has come to its end; the answer then is filled in. */
static bool told(struct rpc *rpc) {
    if (!(rpc->head.flags & VCUDA_REC_LOOKS) ||
        vcuda_load_acquire(S.told) != (uint32_t)(rpc->head.tag >> 32))
        return false;
    rpc->status = rpc->deferred = CUDA_SUCCESS;
    rpc->out_count = rpc->want_len = 0;
    rpc->printed = S.printed;
    S.printed = NULL;
    rpc->state = RPC_DONE;
    vcuda_store_once(&counters.told, counters.told + 1);
    return true;
}

/* Of a claim that is over: the GPU told of it while the worker wrote an answer. */
static bool of_the_past(uint64_t tag) {
    return S.claims - (uint32_t)(tag >> 32) <= INT32_MAX;
}

/* For the call that the pump claimed. */
static bool deliver_own(const struct vcuda_rec *head, uint32_t len) {
    bool ok;

    if (!S.own || S.own->head.tag != head->tag || S.own->state == RPC_DONE)
        return of_the_past(head->tag);
    ok = fill(S.own, head, len);
    S.own->state = RPC_DONE;
    return ok;
}

/* For a call that enlisted. */
static bool deliver_listed(const struct vcuda_rec *head, uint32_t len) {
    uint32_t place = (uint32_t)head->tag;
    struct rpc *rpc = NULL;
    bool ok = false;

    vcuda_lock_take(&S.waiters_lock);
    if (place && place <= WAITERS && S.generations[place - 1] == (uint32_t)(head->tag >> 32))
        rpc = S.waiters[place - 1];
    if (rpc) {
        ok = fill(rpc, head, len);
        leave_place(place - 1);
        /* This thread's own call needs no wake, nor one that is not yet waited for. */
        if (vcuda_exchange(&rpc->state, RPC_DONE) == RPC_WAITING && rpc != S.own)
            futex_wake(&rpc->state, 1);
    }
    vcuda_lock_leave(&S.waiters_lock);
    return ok;
}

/* Gives a completion to the call that waits for it; an unknown tag is the worker's offence. */
static void deliver(const struct vcuda_rec *head, uint32_t len) {
    bool own = (uint32_t)head->tag == OWN_PLACE;

    if (!(own ? deliver_own(head, len) : deliver_listed(head, len)))
        pump_abandon("the worker sent a completion that makes no sense");
}

/* Takes all completions that are there: true if any was. */
static bool take_completions(void) {
    bool any = false;

    for (;;) {
        int n = vcuda_rx_take(RINGS, S.record, VCUDA_REC_MAX, sizeof(struct vcuda_rec));

        if (n < 0)
            pump_abandon("the worker broke the completion ring");
        if (n <= 0)
            break;
        any = true;
        if (((const struct vcuda_rec *)S.record)->tag)
            deliver((const struct vcuda_rec *)S.record, (uint32_t)n);
        else
            take_message((const struct vcuda_rec *)S.record, (uint32_t)n);
    }
    if (any && vcuda_must_wake(RINGS, VCUDA_WAIT_SPACE))
        submit_kick();
    return any;
}

static void tell_space(void) {
    if (!vcuda_load_once(&S.space_wanted))
        return;
    vcuda_store_once(&S.space_wanted, 0);
    __atomic_fetch_add(&S.space_news, 1, __ATOMIC_SEQ_CST);
    futex_wake(&S.space_news, INT_MAX);
}

/* Whether the submission ring has room for *arg bytes; also true when it never will. */
static bool fits(void *arg) {
    int r = vcuda_tx_fits(RINGS, *(uint32_t *)arg);

    if (r < 0)
        pump_abandon("the worker broke the submission ring");
    return r != 0;
}

/* Sleeps until the worker notifies or the session ends, unless `done` by now. */
static void sleep_for_worker(bool (*done)(void *arg), void *arg) {
    bool space = done == fits || vcuda_load_once(&S.space_wanted);

    vcuda_lock_take(&S.sleep_lock);
    S.asleep = 1;
    vcuda_wait_begin(RINGS, VCUDA_WAIT_DATA | (space ? VCUDA_WAIT_SPACE : 0));
    vcuda_lock_leave(&S.sleep_lock);
    /* Who waits for space looks again now that the wish is announced. */
    tell_space();
    if (!done(arg) && vcuda_rx_ready(RINGS) == 0) {
        COUNT(slept, 1);
        if (!submission.transport->sleep(submission.transport) && vcuda_rx_ready(RINGS) != 1)
            pump_abandon("the worker is gone");
    }
    vcuda_lock_take(&S.sleep_lock);
    S.asleep = 0;
    vcuda_wait_end(RINGS);
    vcuda_lock_leave(&S.sleep_lock);
    tell_space();
}

static int any_news(void *unused) {
    (void)unused;
    return vcuda_rx_ready(RINGS) || (S.own && told(S.own));
}

/* There are news: what that says of how long to look for them. */
static void learn(uint64_t *since) {
    if (*since)
        vcuda_spin_learn(&S.looking, vcuda_now_ns() - *since);
    *since = 0;
}

/* Reads completions until `done` says so: looks for a while after the last news, then sleeps. */
static IN_PLACE void pump_until(bool (*done)(void *arg), void *arg) {
    uint64_t since = 0; /* the first look that found nothing; 0: none yet */

    while (!done(arg) && !rpc_lost()) {
        uint64_t now;

        if (take_completions()) {
            learn(&since);
            continue;
        }
        tell_space();
        if (vcuda_spin_look(&S.looking, any_news, NULL, !since))
            continue;
        now = vcuda_now_ns();
        if (!since)
            since = now;
        if (now - since >= S.looking.limit)
            sleep_for_worker(done, arg);
        else
            vcuda_spin_rest(&S.looking, now - since);
    }
    learn(&since);
}

static uint32_t load_in_order(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Some other thread that waits goes on pumping. */
static void hand_over(void) {
    /*
     * Who comes later finds that nobody pumps: it enlists before it looks, we look after. Who looks
     * for his answer finds it, too, or hands over when he has that.
     */
    if (load_in_order(&S.enlisted) && !load_in_order(&S.lookers)) {
        vcuda_lock_take(&S.waiters_lock);
        for (uint32_t i = 0; i < S.waiters_top; i++) {
            uint32_t waiting = RPC_WAITING;

            if (S.waiters[i] &&
                __atomic_compare_exchange_n(&S.waiters[i]->state, &waiting, RPC_PUMP_NOW, false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
                futex_wake(&S.waiters[i]->state, 1);
                break;
            }
        }
        vcuda_lock_leave(&S.waiters_lock);
    }
    tell_space();
}

/* Whether this thread is the pump now, for `own` if it is a call's. */
static bool become_pump(struct rpc *own) {
    /* In order: who is about to sleep has said so before. */
    if (load_in_order(&S.pumping) || vcuda_exchange(&S.pumping, 1))
        return false;
    S.own = own;
    return true;
}

static void leave_pump(void) {
    S.own = NULL;
    __atomic_store_n(&S.pumping, 0, __ATOMIC_SEQ_CST);
    hand_over();
}

/* Pumps until `done`, for `own` if it is a call's; false if another thread does. */
static bool pump(struct rpc *own, bool (*done)(void *arg), void *arg) {
    if (!become_pump(own))
        return false;
    pump_until(done, arg);
    leave_pump();
    return true;
}

static bool call_done(void *arg) {
    return vcuda_load_acquire(&((struct rpc *)arg)->state) == RPC_DONE;
}

/*
 * Looks for the answer for a while, where there are processors to spare: a wake costs the pump more
 * than all else it does for a call, and the woken thread several times as much. True: there is the
 * answer, or nobody pumps.
 */
static bool look_for_answer(struct rpc *rpc) {
    bool news = false;

    if (__atomic_fetch_add(&S.lookers, 1, __ATOMIC_SEQ_CST) < S.lookers_max) {
        uint64_t begun = vcuda_now_ns(), looked = 0;

        while (!news && looked < S.looking.limit) {
            for (int i = 0; i < 32 && !news; i++) {
                __builtin_ia32_pause();
                news = call_done(rpc) || !vcuda_load_once(&S.pumping);
            }
            looked = vcuda_now_ns() - begun;
            vcuda_spin_rest(&S.looking, looked);
        }
    }
    __atomic_fetch_sub(&S.lookers, 1, __ATOMIC_SEQ_CST);
    /* The pump may have ended in the belief that this thread goes on. */
    if (call_done(rpc) && !load_in_order(&S.pumping))
        hand_over();
    return news;
}

/* Sleeps until the answer is there, or this thread shall pump; looks again before it does. */
static void sleep_for_answer(struct rpc *rpc) {
    uint32_t sent = RPC_SENT, pump_now = RPC_PUMP_NOW;

    /* Said before looking whether somebody pumps: whoever ends to pump then sees it. */
    if (__atomic_compare_exchange_n(&rpc->state, &sent, RPC_WAITING, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST) ||
        __atomic_compare_exchange_n(&rpc->state, &pump_now, RPC_WAITING, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        return;
    futex_wait(&rpc->state, RPC_WAITING);
}

static bool claimed_done(void *arg) {
    return call_done(arg) || told(arg);
}

static void await_claimed(struct rpc *rpc) {
    pump_until(claimed_done, rpc);
    if (!claimed_done(rpc))
        rpc->status = VCUDA_ERROR_LOST;
    leave_pump();
}

void pump_await(struct rpc *rpc) {
    bool looked = false;

    if (rpc->waiter == OWN_PLACE) {
        await_claimed(rpc);
        return;
    }
    while (!call_done(rpc)) {
        if (pump(rpc, call_done, rpc))
            continue;
        if (!looked) {
            looked = !look_for_answer(rpc);
            continue;
        }
        sleep_for_answer(rpc);
    }
}

/*
 * How long the worker will have enough to do, as far as its pace since the last time tells: half a
 * full ring's work. 0: it has done nothing since, or this is the first time.
 */
static uint64_t work_ahead(void) {
    uint64_t now = vcuda_now_ns(), took = now - S.full.since;
    uint32_t read = RINGS->tx_seen - S.full.cons;
    bool known = S.full.since && read && took < PACE_MAX_NS;

    S.full.since = now;
    S.full.cons = RINGS->tx_seen;
    return known ? took * (RINGS->tx_size / 2) / read : 0;
}

/*
 * A full ring is mostly a long time's work, milliseconds of launches: who looks for room all that
 * time takes a processor, or half of the worker's where two share a core. True: it has slept.
 */
static bool nap(void) {
    uint64_t ahead = work_ahead();
    struct timespec pause = {.tv_nsec = NAP_NS};

    if (ahead < 4 * NAP_NS)
        return false;
    COUNT(slept, 1);
    nanosleep(&pause, NULL);
    return true;
}

bool submit_await_space(uint32_t len) {
    while (!fits(&len) && !rpc_lost()) {
        uint32_t news = vcuda_load_acquire(&S.space_news);

        if (nap())
            continue;
        /* In order: said before looking whether somebody pumps, who then sees it when he ends. */
        __atomic_store_n(&S.space_wanted, 1, __ATOMIC_SEQ_CST);
        if (pump(NULL, fits, &len))
            continue;
        /* A pump that sleeps already did not ask for news of space: ask in its place. */
        vcuda_lock_take(&S.sleep_lock);
        if (S.asleep)
            vcuda_wait_begin(RINGS, VCUDA_WAIT_DATA | VCUDA_WAIT_SPACE);
        vcuda_lock_leave(&S.sleep_lock);
        if (!fits(&len))
            futex_wait(&S.space_news, news);
    }
    return !rpc_lost();
}

bool pump_claim(struct rpc *rpc) {
    if (!become_pump(rpc))
        return pump_enlist(rpc);
    rpc->state = RPC_SENT;
    rpc->printed = NULL;
    /* What the GPU told last may have been this number, 2^32 claims ago. */
    if (++S.claims == vcuda_load_once(S.told))
        S.claims++;
    rpc->head.tag = (uint64_t)S.claims << 32 | OWN_PLACE;
    rpc->waiter = OWN_PLACE;
    return true;
}

/* A place among those that wait; false if all are taken. */
bool pump_enlist(struct rpc *rpc) {
    uint32_t place;

    rpc->state = RPC_SENT;
    rpc->printed = NULL;
    rpc->head.flags = 0; /* who enlists is answered by the pump, and looks for nothing else */
    vcuda_lock_take(&S.waiters_lock);
    place = S.free;
    if (place)
        S.free = S.next_free[place - 1];
    else if (S.waiters_top < WAITERS)
        place = ++S.waiters_top;
    if (place) {
        S.waiters[place - 1] = rpc;
        rpc->head.tag = (uint64_t)++S.generations[place - 1] << 32 | place;
        __atomic_store_n(&S.enlisted, S.enlisted + 1, __ATOMIC_SEQ_CST);
    }
    vcuda_lock_leave(&S.waiters_lock);
    rpc->waiter = place;
    return place != 0;
}

void pump_delist(struct rpc *rpc) {
    if (rpc->waiter == OWN_PLACE) {
        leave_pump();
        return;
    }
    vcuda_lock_take(&S.waiters_lock);
    if (S.waiters[rpc->waiter - 1] == rpc)
        leave_place(rpc->waiter - 1);
    vcuda_lock_leave(&S.waiters_lock);
}

void pump_listen(bool (*enough)(void)) {
    struct rpc ear = {0};

    if (!pump_enlist(&ear))
        return;
    vcuda_lock_take(&S.waiters_lock);
    S.listener = &ear;
    vcuda_lock_leave(&S.waiters_lock);
    if (enough())
        pump_stop_listening();
    pump_await(&ear);
    vcuda_lock_take(&S.waiters_lock);
    S.listener = NULL;
    vcuda_lock_leave(&S.waiters_lock);
}

void pump_stop_listening(void) {
    struct rpc *ear;

    vcuda_lock_take(&S.waiters_lock);
    ear = S.listener;
    if (ear) {
        S.listener = NULL;
        leave_place(ear->waiter - 1);
        vcuda_store_release(&ear->state, RPC_DONE);
        futex_wake(&ear->state, 1);
    }
    vcuda_lock_leave(&S.waiters_lock);
}
