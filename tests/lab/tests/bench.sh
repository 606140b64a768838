# SPDX-License-Identifier: Apache-2.0
# bound: 1500
# vcuda against TCP over netfront and netback between the same domains: rounds in turn in one boot.
# A line for each figure, "bench NAME OURS BASELINE RATIO GOAL ok|short", and all samples' lines as
# CSV in the log folder. Latency is the median of single calls, then of the rounds; "best" is the
# fastest call instead, which says what a call costs where the machine has other things to do, too,
# and both ends seldom run at once. "busy" are ends that look for news all the time, "asleep" ends
# that sleep at once.
. /lab/counts.sh

ROUNDS=${BENCH_ROUNDS:-3}
port=4100
calls=${BENCH_CALLS:-2000} sleeping_calls=300
bytes=16777216 copies=4 # of the guest's 384 MiB, out and back
look_us=1000000         # longer than anything here takes
csv=/lab/host/logs/$LAB_TEST/samples.csv

# keep FIGURE VALUE: a round's figure.
keep() {
    if [ -n "$2" ]; then
        echo "$kind,$round,$1,$2" >>"$csv"
    else
        not_ok "$kind: round $round: $1: no figure"
    fi
}

# latency FIGURE OUTPUT, rate FIGURE NANOSECONDS BYTES: in nanoseconds, in bytes a microsecond.
latency() {
    local line
    line=$(echo "$2" | grep p50_ns | tail -n 1)
    keep "$1" "$(field p50_ns "$line")"
    keep "$1-best" "$(field best_ns "$line")"
}
rate() {
    keep "$1" "$(awk -v ns="${2:-0}" -v bytes="$3" \
        'BEGIN { if (ns) printf "%.2f", bytes * 1000 / ns }')"
}

# median FIGURE: of the rounds.
median() {
    awk -F, -v kind="$kind" -v figure="$1" '$1 == kind && $3 == figure { print $4 }' "$csv" |
        sort -n | awk '{ v[NR] = $1 }
            END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# versus NAME OURS BASELINE GOAL less|more: by how much ours is lower (latency) or higher (rate).
versus() {
    local ours base line
    ours=$(median "$2") base=$(median "$3")
    [ -n "$ours" ] && [ -n "$base" ] || return # told already
    line=$(awk -v ours="$ours" -v base="$base" -v goal="$4" -v way="$5" 'BEGIN {
            ratio = (way == "less") ? base / ours : ours / base
            printf("%s %s %.1f %s %s", ours, base, ratio, goal, (ratio >= goal) ? "ok" : "short") }')
    echo "bench $kind-$1 $line" | tee -a "$table"
    measure kind="$kind" figure="$1" ours="$ours" baseline="$base" goal="$4" \
        ratio="$(echo "$line" | cut -d ' ' -f 3)"
}

# none NAME SEEN: a figure whose goal is 0, without a baseline.
none() { echo "bench $kind-$1 $2 - - 0 $(at_most "$2" 0.01 && echo ok || echo short)" | tee -a "$table"; }

tcp() { guest_run g -t 90 "tcp-ends $*"; }

tcp_round() {
    local said
    latency tcp-busy-ns "$(tcp -b ping "$host" $port $calls)"
    latency tcp-sleeping-ns "$(tcp ping "$host" $port $sleeping_calls)"
    for way in up down; do
        said=$(tcp $way "$host" $port $((bytes * copies)))
        rate tcp-$way "$(field ns "$said")" $((bytes * copies))
    done
}

# daemon_with SPIN_US: a vcudad whose workers look for news that long.
daemon_with() {
    export VCUDA_SPIN_US=$1
    vcuda_daemon
    wait_until 20 vcuda_ready || not_ok "$kind: no vcudad"
}
daemon_end() { kill "$vcudad" && wait "$vcudad"; }

# program SPIN_US ARGUMENTS...: guest-calls, to its end.
program() {
    local spin=$1
    shift
    guest_run g -t 120 "VCUDA_SPIN_US=$spin guest-calls $*"
}

# copies_of FIGURE KIND [OPTION]
copies_of() {
    local said way
    said=$(program $look_us -r $copies $3 "$2" $bytes)
    for way in up down; do
        rate "$1-$way" "$(field p50_ns "$(echo "$said" | grep "^$way ")")" $bytes
    done
}

vcuda_round() {
    daemon_with $look_us
    latency call-busy-ns "$(program $look_us query $calls)"
    copies_of pageable pageable
    copies_of pinned pinned
    daemon_end
    daemon_with 0
    latency call-asleep-ns "$(program 0 query $sleeping_calls)"
    daemon_end
    # The device's own copying left out, as it costs a host with a GPU no processor, and TCP nothing;
    # the driver's part of a call as well: TCP's server does nothing with what it gets.
    simulated=$VCUDA_DRIVER
    export VCUDA_DRIVER=/usr/lib/bench/null/libcuda.so.1
    daemon_with $look_us
    latency null-busy-ns "$(program $look_us query $calls)"
    copies_of pageable-alone pageable -n
    copies_of pinned-alone pinned -n
    daemon_end
    daemon_with 0
    latency null-asleep-ns "$(program 0 query $sleeping_calls)"
    daemon_end
    export VCUDA_DRIVER="$simulated"
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

# Each guest's 26 comparisons and its counts, none without a verdict.
table_is_whole() {
    [ "$(grep -c ' ok$\| short$' "$table")" -ge $((26 * $(echo $LAB_GUESTS | wc -w))) ] &&
        ! grep -v ' ok$\| short$' "$table"
}

table=/lab/host/logs/$LAB_TEST/table.txt
leak_mark
echo "kind,round,figure,value" >"$csv"
modprobe xen-netback
tcp-ends serve $port &
server=$!
vcuda_start
for kind in $LAB_GUESTS; do
    # Xen thinks the emulated processor's counter unreliable, and would emulate it once more.
    vcuda_guest g "$kind" vif=1 config='tsc_mode="native"' || continue
    id=$(domain_id g)
    host=10.7.$id.1
    check "$kind: the guest's card gets an address" guest_net g || continue
    daemon_end
    for round in $(seq "$ROUNDS"); do
        tcp_round
        vcuda_round
        echo_round
    done
    counts
    daemon_with 50 # reaps the guest
    report
    vcuda_end g
done
kill $server
vcuda_stop
check "all figures are there" table_is_whole
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
