/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a program that wait for answers: one of them, the pump, reads the
 * completion ring for all, the others look for their answers for a while and
 * then sleep on a futex each (userlib/pump.c, whose functions stand in brackets).
 * Who finds nobody pumping may be the pump before it sends its call, which is
 * its own affair then. What is shared here is written by locked instructions
 * only, so that memory is sequentially consistent; how the pump itself sleeps is
 * wake.pml's matter.
 *
 * What must hold: when nothing can go on any more, every thread has all its
 * answers.
 *
 * Mutations, each of which the checker must find wrong:
 *   LOOK_BEFORE_LEAVING   hand_over() looks who waits before nobody pumps
 *   NO_HAND_OVER          the pump leaves without a word
 *   NO_WAKE               deliver() wakes nobody
 *   ENLIST_LATE           a thread is counted only once it has tried to pump
 *   LOOKER_LEAVES         who has looked leaves without a word
 *   LOOKER_ASKS_FIRST     who has looked asks whether to hand over while it still counts
 *   CLAIM_LATE            who would be the pump for its call has sent it before
 *   CLAIMER_LEAVES        who was the pump for its own call leaves without a word
 *
 * With three threads, for one may pump, one look and one sleep.
 */

#ifndef THREADS
#define THREADS 3
#endif
#define CALLS 2
#define NONE 255

/* enum in pump.c */
#define SENT 0
#define WAITING 1
#define PUMP_NOW 2
#define DONE 3

byte state[THREADS];
bool listed[THREADS]; /* S.waiters */
byte enlisted;
bool pumping, lock;
byte lookers;
byte own = NONE;
bool asleep[THREADS]; /* in futex_wait */
byte finished;

chan submissions = [THREADS] of { byte };
chan completions = [THREADS] of { byte };

#define TAKE(l) atomic { !l -> l = true }
#define LEAVE(l) l = false

active proctype worker()
{
	byte who;
	do
	:: submissions?who -> completions!who
	od
}

/* [deliver_listed]; a call that nobody enlisted is taken for nonsense */
inline deliver(whose)
{
	assert(listed[whose]);
	TAKE(lock);
	listed[whose] = false;
	enlisted--;
	atomic { before = state[whose]; state[whose] = DONE };
	if
#ifndef NO_WAKE
	:: before == WAITING && whose != own -> asleep[whose] = false
#endif
	:: else
	fi;
	LEAVE(lock)
}

/* [hand_over] */
inline hand_over()
{
#ifndef NO_HAND_OVER
	if
	:: waits > 0 && lookers == 0 ->
		TAKE(lock);
		other = 0;
		do
		:: other == THREADS -> break
		:: other < THREADS && listed[other] ->
			atomic {
				if
				:: state[other] == WAITING ->
					state[other] = PUMP_NOW;
					asleep[other] = false;
					break
				:: else -> other++
				fi
			}
		:: other < THREADS && !listed[other] -> other++
		od;
		LEAVE(lock)
	:: else
	fi
#else
	skip
#endif
}

/* [look_for_answer] For how long is anybody's guess; news: not in vain. */
inline look()
{
	lookers++;
	do
	:: state[_pid - 1] == DONE || !pumping -> news = true; break
	:: true -> news = false; break
	od;
#ifdef LOOKER_ASKS_FIRST
	asks = state[_pid - 1] == DONE && !pumping;
	lookers--;
#else
	lookers--;
	asks = state[_pid - 1] == DONE;
	asks = asks && !pumping;
#endif
#ifndef LOOKER_LEAVES
	if
	:: asks ->
		waits = enlisted;
		hand_over()
	:: else
	fi
#endif
}

/* [enlist] */
inline enlist()
{
	TAKE(lock);
	listed[_pid - 1] = true;
	enlisted++;
	LEAVE(lock)
}

/* [leave_pump] */
inline leave_pump()
{
	own = NONE;
#ifdef LOOK_BEFORE_LEAVING
	waits = enlisted;
	pumping = false;
#else
	pumping = false;
	waits = enlisted;
#endif
}

/* [become_pump] */
#define BECOME_PUMP atomic { mine = !pumping; pumping = true }

/* [pump_claim, await_claimed] */
inline call_as_pump()
{
	own = _pid - 1;
#ifndef CLAIM_LATE
	submissions!(_pid - 1);
#endif
	do
	:: state[_pid - 1] == DONE -> break
	:: completions?who ->
		if
		:: who == own -> state[who] = DONE
		:: else -> deliver(who)
		fi
	od;
	leave_pump();
#ifndef CLAIMER_LEAVES
	hand_over()
#endif
}

active [THREADS] proctype thread()
{
	byte calls, who, before, other, waits;
	bool mine, looked, news, asks;

	do
	:: calls == CALLS -> break
	:: else ->
		state[_pid - 1] = SENT;
		/* several calls under way are enlisted [rpc_send], others if need be */
#ifdef CLAIM_LATE
		submissions!(_pid - 1);
#endif
		if
		:: BECOME_PUMP
		:: mine = false
		fi;
		if
		:: mine ->
			call_as_pump();
			calls++;
			goto next
		:: else
		fi;
#ifndef ENLIST_LATE
		enlist();
#endif
#ifndef CLAIM_LATE
		submissions!(_pid - 1);
#endif
		/* [await] */
		looked = false;
		do
		:: state[_pid - 1] == DONE -> break
		:: else ->
			/* [pump] */
			BECOME_PUMP;
#ifdef ENLIST_LATE
			if
			:: !listed[_pid - 1] && state[_pid - 1] != DONE -> enlist()
			:: else
			fi;
#endif
			if
			:: mine ->
				own = _pid - 1;
				do
				:: state[_pid - 1] == DONE -> break
				:: completions?who -> deliver(who)
				od;
				leave_pump();
				hand_over()
			:: !mine && !looked ->
				look();
				looked = !news
			:: !mine && looked ->
				/* [sleep_for_answer] */
				atomic {
					if
					:: state[_pid - 1] == SENT || state[_pid - 1] == PUMP_NOW ->
						state[_pid - 1] = WAITING
					/* [futex_wait] */
					:: state[_pid - 1] == WAITING ->
						asleep[_pid - 1] = true
					:: else
					fi
				};
				!asleep[_pid - 1]
			fi
		od;
		calls++;
next:		skip
	od;
	finished++
}

active proctype watch()
{
	timeout;
	assert(finished == THREADS)
}
