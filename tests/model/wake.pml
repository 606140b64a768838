/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping and waking over a session's two rings, under total store order: a
 * processor's stores wait in a buffer of its own and reach memory later, in
 * order; its loads overtake them. Names in brackets are the functions that a
 * step models, in protocol/ring.c and ring.h unless a file is named.
 *
 * G (the program) makes CALLS calls, each posted or waited. H (the worker)
 * takes them and answers those that are waited. Rings hold ROOM records, so that
 * both sides also sleep for space.
 *
 * What must hold, whatever the order of steps and of stores:
 *   - no wake-up is lost: when nothing can go on any more, all records are
 *     taken and all answers are there;
 *   - nobody gets more notifications than it has announced sleeps.
 *
 * A word has one writer, and that one keeps its truth in private: loads are of
 * the other side's words alone, so that no load has to look into its own buffer.
 *
 * Mutations, each of which the checker must find wrong:
 *   NO_BARRIER_AFTER_PUBLISH   vcuda_must_wake() without its full barrier
 *   NO_BARRIER_BEFORE_LOOK     vcuda_wait_begin() without its full barrier
 *   NO_LOOK                    sleep at once after vcuda_wait_begin()
 *   WAKE_ONCE                  a wait word without an epoch
 */

#ifndef CALLS
#define CALLS 2
#endif
#define ROOM 1

#define DATA 1 /* VCUDA_WAIT_DATA */
#define SPACE 2 /* VCUDA_WAIT_SPACE */

#define G 0
#define H 1
#define PEER(s) (1 - (s))

/* struct vcuda_side, as memory holds it. */
#define PROD 0
#define CONS 1
#define WAIT 2
byte mem[6];
#define LOAD(side, word) mem[(side) * 3 + (word)]

/* The store buffers. */
chan buffer[2] = [2] of { byte, byte };
#define STORE(side, word, value) buffer[side]!((side) * 3 + (word)), value
#define FULL_BARRIER(side) empty(buffer[side])

/* struct vcuda_duplex: private. */
byte prod[2], cons[2], epoch[2], notified[2];

/* The kernel's part: a counter that a sleeper waits for, as an eventfd or an event channel. */
bool pending[2];
byte due[2]; /* announced sleeps that were not notified of, as far as it matters */

/* Which records want an answer: what lies in the submission ring. */
byte waited[CALLS];
byte answers;
byte called; /* records that G has published */

active proctype buffer_of_g()
{
	byte at, value;
end:
	do
	:: atomic { buffer[G]?at, value -> mem[at] = value }
	od
}

active proctype buffer_of_h()
{
	byte at, value;
end:
	do
	:: atomic { buffer[H]?at, value -> mem[at] = value }
	od
}

/* [vcuda_must_wake, kick() in userlib/rpc.c and helper/worker/serve.c] */
inline must_wake(s, what)
{
#ifndef NO_BARRIER_AFTER_PUBLISH
	FULL_BARRIER(s);
#endif
	word = LOAD(PEER(s), WAIT);
	if
	:: (word & what) != 0 && word != notified[s] ->
		notified[s] = word;
		/* A system call: what it changes is changed at once. */
		atomic {
			pending[PEER(s)] = true;
			assert(due[PEER(s)] > 0);
			due[PEER(s)]--
		}
	:: else
	fi;
	word = 0
}

/* [vcuda_tx_publish] */
inline publish(s)
{
	prod[s]++;
	STORE(s, PROD, prod[s]);
	must_wake(s, DATA)
}

/* [vcuda_rx_take] */
inline take(s)
{
	cons[s]++;
	STORE(s, CONS, cons[s]);
	must_wake(s, SPACE)
}

#define NO_RECORD(s) (LOAD(PEER(s), PROD) == cons[s])
#define NO_ROOM(s) (prod[s] - LOAD(PEER(s), CONS) == ROOM)

/* [vcuda_wait_begin] */
inline wait_begin(s, what)
{
	atomic {
		if
		:: due[s] < 2 -> due[s]++
		:: else
		fi;
#ifdef WAKE_ONCE
		epoch[s] = 1;
#else
		/* The real one comes round after 2^30 sleeps. 3 would be too few here. */
		epoch[s] = epoch[s] % 6 + 1;
#endif
		STORE(s, WAIT, (epoch[s] << 2) | (what))
	};
#ifndef NO_BARRIER_BEFORE_LOOK
	FULL_BARRIER(s)
#endif
}

/*
 * [sleep_for_worker in userlib/pump.c, sleep_for in helper/worker/sleep.c]: it
 * returns once there is a notification, and it is taken. Between two looks of
 * one who spins nothing happens: sleeping at once is the harder case.
 */
inline sleep_unless(s, what, news)
{
	wait_begin(s, what);
#ifdef NO_LOOK
	pending[s];
	pending[s] = false;
#else
	if
	:: !(news) ->
		pending[s];
		pending[s] = false
	:: else
	fi;
#endif
	/* [vcuda_wait_end] */
	STORE(s, WAIT, 0)
}

/* [await_space in userlib/pump.c, submit in userlib/rpc.c] G takes answers while it waits for space. */
inline submit(wants)
{
	do
	:: !NO_ROOM(G) -> break
	:: else ->
		if
		:: !NO_RECORD(G) -> take(G); answers++
		:: else -> sleep_unless(G, DATA | SPACE, !NO_ROOM(G) || !NO_RECORD(G))
		fi
	od;
	waited[called] = wants;
	called++;
	wanted = wanted + wants;
	publish(G)
}

/* [pump_until in userlib/pump.c] */
inline await()
{
	do
	:: answers == wanted -> break
	:: else ->
		if
		:: !NO_RECORD(G) -> take(G); answers++
		:: else -> sleep_unless(G, DATA, !NO_RECORD(G))
		fi
	od
}

byte wanted;
bool finished;

active proctype program()
{
	byte word;

	do
	:: called < CALLS -> submit(0) /* rpc_post */
	:: called < CALLS -> submit(1); await() /* rpc_wait */
	:: called < CALLS -> submit(1) /* rpc_send: waited for later */
	:: called == CALLS -> break
	od;
	await();
	finished = true
}

/* [worker_serve, execute_some, worker_answer in helper/worker/serve.c] */
active proctype worker()
{
	byte word;
	byte wants;

	do
	:: !NO_RECORD(H) ->
		wants = waited[cons[H]];
		take(H);
		if
		:: wants ->
			do
			:: !NO_ROOM(H) -> break
			/* [worker_await_space] */
			:: else -> sleep_unless(H, SPACE, !NO_ROOM(H))
			od;
			publish(H)
		:: else
		fi
	:: NO_RECORD(H) -> sleep_unless(H, DATA, !NO_RECORD(H))
	od
}

/* Nothing can go on: then it is because all is done. */
active proctype watch()
{
	timeout;
	assert(finished && mem[G * 3 + PROD] == cons[H] && answers == wanted)
}
