# SPDX-License-Identifier: Apache-2.0
# Counts what calls of guest-calls in guest g cost: notifications, by the library's and vcudad's
# counters, and hypercalls, by Xen's trace. Wants `kind` and `id` of the guest, and `start_sent`:
# the library's notifications of a program with a single call.

. /lab/vcuda.sh

trace=/tmp/trace.bin
xentrace=/usr/lib/xen-4.17/bin/xentrace

# field NAME LINE: the number in LINE's NAME=number.
field() { echo " $2" | sed -n "s/.* $1=\([0-9]*\).*/\1/p"; }

# counter NAME: what vcudad has counted for the guest's domain.
counter() { awk -v name="$1" '$1 == name { print $2 }' "/run/vcuda/domains/$id" 2>/dev/null; }

# per PART WHOLE: to four places.
per() { awk -v part="$1" -v whole="$2" 'BEGIN { printf "%.4f", whole ? part / whole : 0 }'; }
at_most() { awk -v seen="$1" -v goal="$2" 'BEGIN { exit !(seen <= goal) }'; }

# goal TEXT SEEN GOAL: ok where SEEN is not above GOAL.
goal() { check "$kind: $1: $2, at most $3 wanted" at_most "$2" "$3"; }

idle_again() { vcuda_idle && [ "$(counter sessions)" = 0 ]; }

# finished NAME: guest-calls in the guest has ended; what it printed in $said, its counters in $stats.
finished() {
    said=$(guest_run g "while pidof guest-calls >/dev/null; do sleep 1; done; cat /tmp/calls")
    stats=$(echo "$said" | grep '^vcuda: ')
    echo "$said" | sed "s/^/# $kind: /"
    wait_until 10 idle_again
    check "$kind: $1: the program ended well" [ -n "$stats" ]
}

# start SPIN_US ARGUMENTS...: guest-calls, in the background: dom0's only CPU is the worker's.
start() {
    local spin=$1
    shift
    guest_run g "VCUDA_STATS=1 VCUDA_SPIN_US=$spin guest-calls $* >/tmp/calls 2>&1 &"
}

trace_begin() {
    [ "$kind" = pv ] || return 0
    $xentrace -D -S 256 -s 500 -e 0x0020f000 $trace 2>/run/xentrace.log &
    tracer=$!
}

# trace_end NAME CALLS GOAL: what Xen counted since; grants_each is left for the caller.
trace_end() {
    local counted each
    if [ "$kind" != pv ]; then
        skip "$kind: $1: hypercalls: Xen's trace has only those of PV guests as hypercalls"
        return
    fi
    kill -INT $tracer
    wait $tracer
    counted=$(count-trace $trace) || not_ok "$kind: $1: the trace cannot be read"
    rm -f $trace
    echo "$counted" | sed "s/^/# $kind: $1: Xen counted in $2 calls: /"
    counted=$(echo "$counted" | grep '^cpu=all ')
    each=$(per "$(field event_channel_op "$counted")" "$2")
    measure "kind=$kind case=$1 calls=$2 ${counted#cpu=all } event_channel_op_per_call=$each" \
        "sched_op_per_call=$(per "$(field sched_op "$counted")" "$2")"
    grants_each=$(per "$(field grant_table_op "$counted")" "$2")
    check_equal "$kind: $1: no record of the trace is lost" 0 "$(field lost "$counted")"
    goal "$1: event channel hypercalls a call, guest and dom0" "$each" "$3"
    goal "$1: grant operations a call" "$grants_each" 0.01 # others in dom0 have theirs
}

# Without a process: it would be one more on dom0's CPU while the calls are counted.
has_calls() {
    local name value
    while read -r name value; do
        [ "$name" != calls ] || [ "$value" -lt "$1" ] || return 0
    done <"/run/vcuda/domains/$id"
    return 1
}
grown() { [ "$(counter calls)" -gt "$1" ]; }

# cost NAME GOAL SPIN_US ARGUMENTS... N: notifications and hypercalls of N calls. The program stands
# still while counting begins and ends; what its start took of the library's notifications is known
# from a run with one call. sent_each, notifications a call, is left for the caller.
cost() {
    local name=$1 most=$2 spin=$3 wanted n calls sent slept guest_sent guest_slept tracer
    shift 3
    for wanted; do :; done
    calls=$(counter calls)
    start "$spin" -d 5 "$@"
    check "$kind: $name: a session" wait_until 10 grown "${calls:-0}" || return
    sleep 2
    calls=$(counter calls) sent=$(counter notifications_sent) slept=$(counter slept)
    trace_begin
    wait_until 60 has_calls $((calls + wanted))
    n=$(($(counter calls) - calls))
    sent=$(($(counter notifications_sent) - sent)) slept=$(($(counter slept) - slept))
    check "$kind: $name: all calls were made ($n)" [ "$n" -ge "$wanted" ]
    trace_end "$name" "$n" "$most"
    finished "$name" || return
    guest_sent=$(($(field notifications "$stats") - start_sent))
    guest_slept=$(field slept "$stats")
    sent_each=$(per $((guest_sent + sent)) "$n")
    measure "kind=$kind case=$name calls=$n guest_sent=$guest_sent worker_sent=$sent" \
        "guest_slept=$guest_slept worker_slept=$slept notifications_per_call=$sent_each"
    goal "$name: notifications a call, both sides" "$sent_each" "$most"
}
