/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that the GPU itself tells the program of (helper/worker/told.c,
 * pending.c; userlib/pump.c). The program makes WAITS such calls one after
 * another and looks for each at the word that the GPU writes and in the ring,
 * then sleeps. The worker takes the next call perhaps before it has seen that
 * the last one is told of. The GPU tells, or stops for ever at a fault, of which
 * the worker hears by an event that it records behind when nothing is told for
 * long, and answers.
 *
 * The wait word is followed by a full barrier, and so is what the worker has
 * seen in the GPU's word: memory is sequentially consistent here.
 *
 * What must hold: nobody answers a call that has ended; when nothing can go on
 * any more, all calls have ended, or a fault was told.
 *
 * Mutations, each of which the checker must find wrong:
 *   NO_LOOK      the program sleeps without one more look at the GPU's word
 *   NO_WAKE      the worker leaves it at that when the GPU has told
 *   WAIT_FIRST   the worker reads the wait word before it looks at the GPU's
 *   EQUAL        only the very number says that a call has ended
 *   ONE_LOOK     once the event is there the worker does not look again whether the GPU has told
 */

#ifndef WAITS
#define WAITS 3
#endif

byte word;                  /* VCUDA_TOLD_OFFSET */
byte wait, epoch, notified; /* the program's wait word; the worker's memory of it */
bool pending;               /* the program's notification */
byte sent, ended;           /* calls of the program */
byte answered;              /* by a completion */
byte asked;                 /* of the GPU */
byte passed;                /* events that are there */
bool faulted;

#define NEWS(n) (word == n || answered == n)

active proctype program()
{
	do
	:: ended == WAITS || (faulted && answered == sent) -> break
	:: else ->
		sent++;
		do
		:: NEWS(sent) -> break
		:: else ->
			/* [sleep_for_worker] */
			epoch = epoch % 15 + 1;
			wait = epoch;
#ifdef NO_LOOK
			pending;
			pending = false;
#else
			if
			:: !NEWS(sent) -> pending; pending = false
			:: else
			fi;
#endif
			wait = 0
		od;
		ended = sent
	od
}

active proctype gpu()
{
	do
	:: asked > passed ->
		if
		:: word = passed + 1;
			passed = word
		:: faulted = true; break
		fi
	:: ended == WAITS -> break
	od
}

/* [vcuda_must_wake, after its barrier] */
inline must_wake(seen)
{
	if
	:: seen != 0 && seen != notified ->
		notified = seen;
		pending = true
	:: else
	fi
}

#ifdef EQUAL
#define REACHED (word == first)
#else
#define REACHED (word >= first)
#endif

/* [finish] */
inline retire()
{
#ifndef NO_WAKE
#ifndef WAIT_FIRST
	seen = wait;
#endif
	must_wake(seen);
#endif
	first++
}

active proctype worker()
{
	byte taken, seen, first = 1;

	do
	:: sent > taken -> taken++; asked = taken
	/* [pending_poll] */
	:: first <= taken ->
		seen = wait;
		if
		:: REACHED -> retire()
		:: else ->
			if
			:: passed >= first || faulted ->
				if
#ifndef ONE_LOOK
				:: REACHED -> retire()
#endif
				:: else ->
					assert(ended < first);
					answered = first;
					seen = wait;
					must_wake(seen);
					first++
				fi
			:: else
			fi
		fi
	:: first > WAITS || (faulted && answered > 0) -> break
	od
}

active proctype watch()
{
	timeout;
	assert(ended == WAITS || answered == sent)
}
