# SPDX-License-Identifier: Apache-2.0
# bound: 1500
# vcuda against TCP over netfront and netback: single calls and copies of 16 MiB, see /lab/figures.sh.
# Latency is the median of single calls, then of the rounds; "best" is the fastest call instead,
# which says what a call costs where the machine has other things to do, too, and both ends seldom run
# at once. "busy" are ends that look for news all the time, "asleep" ends that sleep at once.
. /lab/figures.sh

calls=${BENCH_CALLS:-2000} sleeping_calls=300
# Of the guest's 384 MiB, out and back. So many that what is cold at first does not count: staging
# areas, TCP's window, and the emulator's own tables, which grow with what is touched.
bytes=16777216 copies=12

tcp_round() {
    local said
    latency tcp-busy-ns "$(tcp -b ping "$host" $port $calls)"
    latency tcp-sleeping-ns "$(tcp ping "$host" $port $sleeping_calls)"
    for way in up down; do
        said=$(tcp $way "$host" $port $((bytes * copies)))
        rate tcp-$way "$(field ns "$said")" $((bytes * copies))
    done
}

# copies_of FIGURE KIND [OPTION]
copies_of() {
    local said way
    said=$(program $look_us guest-calls -r $copies $3 "$2" $bytes)
    for way in up down; do
        rate "$1-$way" "$(field p50_ns "$(echo "$said" | grep "^$way ")")" $bytes
    done
}

# vcuda_round CALL SUFFIX [OPTION]: a call of that name, copies with a suffix.
vcuda_round() {
    daemon_with $look_us
    latency "$1-busy-ns" "$(program $look_us guest-calls query $calls)"
    copies_of "pageable$2" pageable $3
    copies_of "pinned$2" pinned $3
    daemon_end
    daemon_with 0
    latency "$1-asleep-ns" "$(program 0 guest-calls query $sleeping_calls)"
    daemon_end
}

# The rings alone, without library, worker and driver.
echo_round() {
    local how helper
    for how in "busy $look_us $calls" "asleep 0 $sleeping_calls"; do
        set -- $how
        : >/run/echo.log
        host-echo -s "$2" >/run/echo.log &
        helper=$!
        wait_until 5 grep -q ready /run/echo.log
        latency "rings-$1-ns" "$(guest_run g -t 60 "guest-echo -s $2 ping $3")"
        kill $helper
        wait $helper 2>/dev/null
    done
}

# What a call costs while both ends are busy, counted.
counts() {
    start_sent=0
    daemon_with $look_us
    start $look_us query 1
    finished start && start_sent=$(field notifications "$stats") &&
        cost busy-query 0.1 $look_us query $calls && {
        none notifications-a-busy-call "$sent_each"
        [ "$kind" != pv ] || none grant-operations-a-busy-call "$grants_each"
    }
    daemon_end
}

report() {
    for best in '' -best; do
        for what in call null rings; do
            versus busy-$what$best $what-busy-ns$best tcp-busy-ns$best 300 less
            versus busy-$what-against-sleeping-tcp$best $what-busy-ns$best \
                tcp-sleeping-ns$best 300 less
            versus sleeping-$what$best $what-asleep-ns$best tcp-sleeping-ns$best 4 less
        done
    done
    for way in up down; do
        for alone in '' -alone; do
            versus staged$alone-$way pageable$alone-$way tcp-$way 6 more
            versus pinned$alone-$way pinned$alone-$way tcp-$way 20 more
        done
    done
}

a_round() {
    tcp_round
    vcuda_round call ''
    # The device's own copying left out, as it costs a host with a GPU no processor, and TCP
    # nothing; the driver's part of a call as well: TCP's server does nothing with what it gets.
    with_null vcuda_round null -alone -n
    echo_round
}

figures_by_kind 26 a_round counts
