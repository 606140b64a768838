/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the worker's other threads leave to its executor for want of room in the
 * completion ring, while that sleeps for the program's next record: the program,
 * which makes room by reading, wakes it (helper/worker/sleep.c, waiters.c and
 * answers.c, whose functions stand in brackets). The waiter threads have an
 * answer each, the driver's thread a message, which stands before every answer
 * that is written after it. The ring has room for ROOM records; what stands for
 * VCUDA_REC_MAX, the longest, is all of it.
 *
 * The wait word and the program's index are followed by full barriers, all else
 * is done under locks: memory is sequentially consistent here.
 *
 * What must hold: when nothing can go on any more, the program has read all. It
 * sends nothing meanwhile, so that nothing else wakes the executor.
 *
 * Mutations, each of which the checker must find wrong:
 *   NO_LOOK_AT_LEFT    the executor sleeps without looking what was left to it
 *   NO_LOOK_FOR_ROOM   who has asked for room does not look whether it is there
 *   ASK_FIRST          room is asked for before the answer is left
 *   ASK_ONCE           who takes one back and cannot send it asks no second time
 *   FLUSH_ONCE         who has asked for room for a message does not try once more
 */

#ifndef WAITERS
#define WAITERS 2
#endif
#define MESSAGES 1
#define ROOM 2

#define DATA 1
#define SPACE 2

byte prod, cons;    /* of the completion ring */
byte wait, epoch;   /* the worker's wait word */
byte notified;      /* the program's */
bool pending;       /* its notification */
bool asleep;        /* executor.asleep */
byte left, said;    /* waiters.done, the queue of messages */
bool writing, lock; /* answers.c's lock, executor.lock */

#define TAKE(l) atomic { !l -> l = true }
#define LEAVE(l) l = false
#define FREE (ROOM - (prod - cons))

/* [vcuda_wait_begin] Under executor.lock. */
inline wait_begin(what)
{
	epoch = epoch % 15 + 1;
	wait = epoch << 2 | (what)
}

/* [send_messages] Under the lock: those that fit. */
inline send_messages()
{
	do
	:: said > 0 && FREE >= 1 -> atomic { prod++; said-- }
	:: else -> break
	od
}

/* [answers_try] */
inline try()
{
	TAKE(writing);
	send_messages();
	if
	:: said == 0 && FREE >= 1 -> prod++; sent = true
	:: else -> sent = false
	fi;
	LEAVE(writing)
}

/* [sleep_asks_for_room] */
inline ask_for_room()
{
	TAKE(lock);
	if
	:: asleep -> wait_begin(DATA | SPACE)
	:: else
	fi;
	LEAVE(lock)
}

/* [answers_have_room] */
inline look_for_room()
{
#ifdef NO_LOOK_FOR_ROOM
	room = false
#else
	TAKE(writing);
	room = (FREE == ROOM);
	LEAVE(writing)
#endif
}

/* [send in waiters.c] */
active [WAITERS] proctype waiter()
{
	bool sent, room, has = true, again;

	do
	:: !has -> break
	:: has ->
		try();
		if
		:: sent -> break
		:: else
		fi;
#ifdef ASK_FIRST
		ask_for_room();
		left++;
#else
		left++;
#ifdef ASK_ONCE
		if
		:: again -> break
		:: else
		fi;
#endif
		ask_for_room();
#endif
		look_for_room();
		if
		:: !room -> break
		:: else
		fi;
		/* [take_left] */
		atomic { has = (left > 0); left = left - has };
		again = true
	od
}

/* [answers_flush_now] */
active proctype driver()
{
	byte n;
	bool all;

	do
	:: n == MESSAGES -> break
	:: n < MESSAGES ->
		said++;
		n++;
		TAKE(writing);
		send_messages();
		all = (said == 0);
		LEAVE(writing);
		if
		:: !all ->
			ask_for_room();
#ifndef FLUSH_ONCE
			TAKE(writing);
			send_messages();
			LEAVE(writing)
#endif
		:: else
		fi
	od
}

/* [sleep_for] */
inline sleep_unless(what, news)
{
	TAKE(lock);
	asleep = true;
	wait_begin(what);
	LEAVE(lock);
	if
	:: !(news) -> atomic { pending -> pending = false }
	:: else
	fi;
	TAKE(lock);
	asleep = false;
	wait = 0;
	LEAVE(lock)
}

/* [worker_await_space] Under the lock for writing. */
inline await_room()
{
	do
	:: FREE >= 1 -> break
	:: else -> sleep_unless(SPACE, FREE == ROOM)
	od
}

/* [worker_serve, waiters_collect, answers_put, answers_flush] */
active proctype executor()
{
	bool has;

end:
	do
	:: true ->
		atomic { has = (left > 0); left = left - has };
		if
		:: has || said > 0 ->
			TAKE(writing);
			do
			:: said > 0 -> await_room(); atomic { prod++; said-- }
			:: said == 0 -> break
			od;
			if
			:: has -> await_room(); prod++
			:: else
			fi;
			LEAVE(writing)
		:: else
#ifdef NO_LOOK_AT_LEFT
			-> sleep_unless(DATA, false)
#else
			-> sleep_unless(DATA, left > 0 || said > 0)
#endif
		fi
	od
}

/* [take_completions in userlib/pump.c] Reads when it likes, and asks whether to wake. */
active proctype program()
{
	byte word;

end:
	do
	:: prod != cons ->
		cons++;
		word = wait;
		if
		:: (word & SPACE) != 0 && word != notified ->
			notified = word;
			pending = true
		:: else
		fi
	od
}

active proctype watch()
{
	timeout;
	assert(cons == WAITERS + MESSAGES)
}
