# SPDX-License-Identifier: Apache-2.0
# For benchmarks of vcuda against TCP over netfront and netback between the same domains: rounds in
# turn in one boot. A line for each figure, "bench NAME OURS BASELINE RATIO GOAL ok|short" (without
# a goal: "- -"), and all samples' lines as CSV, both in the test's log folder. Who sources this sets
# `kind`, and `round` while samples are kept.

. /lab/counts.sh

ROUNDS=${BENCH_ROUNDS:-3}
port=4100
look_us=1000000 # longer than anything here takes
null_driver=/usr/lib/bench/null/libcuda.so.1
csv=/lab/host/logs/$LAB_TEST/samples.csv
table=/lab/host/logs/$LAB_TEST/table.txt

# ---- figures ---------------------------------------------------------------

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

# versus NAME OURS BASELINE GOAL less|more: by how much ours is lower (latency) or higher (rate), both
# medians of the rounds. GOAL -: none.
versus() {
    local line
    line=$(awk -F, -v kind="$kind" -v ours="$2" -v base="$3" -v goal="$4" -v way="$5" '
        function median(v, n,    i, j, least) {
            for (i = 1; i <= n; i++)
                for (j = i + 1; j <= n; j++)
                    if (v[j] < v[i]) { least = v[j]; v[j] = v[i]; v[i] = least }
            return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
        }
        $1 == kind && $3 == ours { o[++os] = $4 + 0 }
        $1 == kind && $3 == base { b[++bs] = $4 + 0 }
        END {
            if (!os || !bs) exit 1
            ours = median(o, os); base = median(b, bs)
            ratio = (way == "less") ? base / ours : ours / base
            verdict = (goal == "-") ? "-" : (ratio >= goal) ? "ok" : "short"
            printf("%s %s %.1f %s %s", ours, base, ratio, goal, verdict)
        }' "$csv") || return # told already
    set -- "$1" $line
    echo "bench $kind-$*" | tee -a "$table"
    measure kind="$kind" figure="$1" ours="$2" baseline="$3" ratio="$4" goal="$5"
}

# none NAME SEEN: a figure whose goal is 0, without a baseline.
none() { echo "bench $kind-$1 $2 - - 0 $(at_most "$2" 0.01 && echo ok || echo short)" | tee -a "$table"; }

# table_is_whole COUNT: each kind of guest has so many comparisons, and no line lacks its verdict.
table_is_whole() {
    local number='[0-9.e+]\+'
    [ "$(grep -c "^bench [^ ]\+ $number $number $number [^ ]\+ [^ ]\+$" "$table")" -eq \
        $(($1 * $(echo $LAB_GUESTS | wc -w))) ] && ! grep -v ' \([0-9]\+ ok\|[0-9]\+ short\|- -\)$' "$table"
}

# ---- both sides ------------------------------------------------------------

# figures_begin, ..., figures_end COUNT: TCP's server and vcuda; nothing may be left, and the table
# must be whole.
figures_begin() {
    leak_mark
    echo "kind,round,figure,value" >"$csv"
    modprobe xen-netback
    tcp-ends serve $port &
    server=$!
    vcuda_start
}
figures_end() {
    kill $server
    vcuda_stop
    check "all figures are there" table_is_whole "$1"
    check "nothing is left" leak_check
    check "kernels are content" dmesg_clean
}

# figures_guest NAME [OPTION...]: with a GPU and a network card; its id in $id, dom0's address in $host.
figures_guest() {
    local name=$1
    shift
    # Xen thinks the emulated processor's counter unreliable, and would emulate it once more.
    vcuda_guest "$name" "$kind" vif=1 config='tsc_mode="native"' "$@" || return
    id=$(domain_id "$name")
    host=10.7.$id.1
    check "$kind: the card of $name gets an address" guest_net "$name"
}

# figures_by_kind COUNT ROUND [LAST]: the whole test with one guest of each kind: ROUND, in turn, LAST
# once, and `report` for the table.
figures_by_kind() {
    figures_begin
    for kind in $LAB_GUESTS; do
        figures_guest g || continue
        daemon_end
        for round in $(seq "$ROUNDS"); do
            "$2"
        done
        ${3:-:}
        daemon_with 50 # reaps the guest
        report
        vcuda_end g
    done
    figures_end "$1"
}

# daemon: a vcudad; daemon_with SPIN_US: one whose workers look for news that long.
daemon() {
    vcuda_daemon
    wait_until 20 vcuda_ready || not_ok "$kind: no vcudad"
}
daemon_with() {
    export VCUDA_SPIN_US=$1
    daemon
}
daemon_end() { kill "$vcudad" && wait "$vcudad"; }

# with_null COMMAND...: vcudads that it starts are on the driver that does nothing.
with_null() {
    local simulated=$VCUDA_DRIVER
    export VCUDA_DRIVER=$null_driver
    "$@"
    export VCUDA_DRIVER="$simulated"
}

# program SPIN_US COMMAND...: a CUDA program in guest g, to its end; tcp ARGUMENTS...: likewise tcp-ends.
program() {
    local spin=$1
    shift
    guest_run g -t 120 "VCUDA_SPIN_US=$spin $*"
}
tcp() { guest_run g -t 90 "tcp-ends $*"; }
