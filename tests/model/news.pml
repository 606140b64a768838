/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record that travels in the index's line (vcuda_tx_tell(), take_news() in
 * protocol/ring.h and ring.c). One side writes RECORDS records into a ring with
 * room for ROOM, any of them as news; the other takes them. A record is two
 * words here, so that it can be torn. A writer's stores are seen in their order,
 * a reader's loads are made in theirs: the barriers see to that.
 *
 * What must hold: every record is taken whole, once and in order.
 *
 * Mutations, each of which the checker must find wrong:
 *   NO_SECOND_LOOK   the reader believes what it copied
 *   END_LAST         news_end changes after the news
 *   INDEX_FIRST      the index is published before the news
 */

#define RECORDS 5
#define ROOM 2

byte ring_a[ROOM], ring_b[ROOM];
byte prod, cons, news_end, news_a, news_b;

inline write_news()
{
#ifdef END_LAST
	news_a = n; news_b = n; news_end = n
#else
	news_end = n; news_a = n; news_b = n
#endif
}

active proctype writer()
{
	byte n;

	do
	:: n == RECORDS -> break
	:: n < RECORDS ->
		n - cons < ROOM;
		ring_a[n % ROOM] = n + 1;
		ring_b[n % ROOM] = n + 1;
		n++;
		if
		:: true -> prod = n
		:: true ->
#ifdef INDEX_FIRST
			prod = n;
			write_news()
#else
			write_news();
			prod = n
#endif
		fi
	od
}

active proctype reader()
{
	byte seen, taken, a, b;
	bool told;

	do
	:: taken == RECORDS -> break
	:: taken < RECORDS ->
		if
		:: seen == taken -> prod != seen; seen = prod
		:: else
		fi;
		told = false;
		if
		:: seen - taken == 1 && news_end == seen ->
			a = news_a;
			b = news_b;
#ifdef NO_SECOND_LOOK
			told = true
#else
			told = (news_end == seen)
#endif
		:: else
		fi;
		if
		:: told
		:: !told ->
			a = ring_a[taken % ROOM];
			b = ring_b[taken % ROOM]
		fi;
		assert(a == taken + 1 && b == taken + 1);
		taken++;
		cons = taken
	od
}
