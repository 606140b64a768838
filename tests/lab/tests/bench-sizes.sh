# SPDX-License-Identifier: Apache-2.0
# bound: 1500
# XenLoop's experiment: bandwidth and latency by size, vcuda against TCP, see /lab/figures.sh. The rate
# is that of the same amount in copies, or messages, of each size, one after the other, until all
# have arrived. A trip is one copy up to the GPU that is waited for, against a message of that size
# and an answer of 64 bytes, with both ends of both looking for news all the time.
. /lab/figures.sh

amount=8388608
amount_simulated=1048576 # to wake the simulated GPU's thread takes half a millisecond a copy
at_least=4 pings=300     # as guest-copies has it
sizes='1KiB 4KiB 16KiB 64KiB 256KiB 1MiB 4MiB 16MiB'
bytes='1024 4096 16384 65536 262144 1048576 4194304 16777216'

# tcp_sizes: all in one command of the guest, "BYTES up|down|trip ...".
tcp_sizes() {
    guest_run g -t 240 "for m in $bytes; do
        n=\$(($amount / m)); [ \$n -ge $at_least ] || n=$at_least
        for way in up down; do
            echo \$m \$way \$(tcp-ends -m \$m \$way $host $port \$((n * m)))
        done
        [ \$n -le $pings ] || n=$pings
        echo \$m trip \$(tcp-ends -b -m \$m ping $host $port \$n)
    done"
}

# keep_sizes FIGURE OUTPUT: a round's figures of all sizes, in bytes a microsecond and nanoseconds.
keep_sizes() {
    echo "$2" | awk -F '[ =]' -v figure="$kind,$round,$1" -v names="$sizes" -v sizes="$bytes" '
        BEGIN { n = split(names, name, " "); split(sizes, size, " ")
                for (i = 1; i <= n; i++) of[size[i]] = name[i] }
        $1 in of && $3 == "bytes" { printf("%s-%s-%s,%.2f\n", figure, $2, of[$1], $4 * 1000 / $6) }
        $1 in of && $5 == "p50_ns" { printf("%s-%s-%s,%s\n", figure, $2, of[$1], $6) }' >/run/sizes.csv
    check_equal "$kind: round $round: $1: there are figures of all sizes" \
        $((3 * $(echo $sizes | wc -w))) "$(wc -l </run/sizes.csv)"
    cat /run/sizes.csv >>"$csv"
}

# copies_of FIGURE ARGUMENTS...: guest-copies of all sizes.
copies_of() {
    local figure=$1
    shift
    keep_sizes "$figure" "$(program $look_us guest-copies "$@" $bytes)"
}
simulated_round() {
    daemon_with $look_us
    copies_of staged pageable $amount_simulated
    daemon_end
}
null_round() {
    daemon_with $look_us
    copies_of staged-alone -n pageable $amount
    copies_of pinned-alone -n pinned $amount
    daemon_end
}

report() {
    local what size way
    for what in staged staged-alone pinned-alone; do
        for size in $sizes; do
            for way in up down; do
                versus $what-$way-$size $what-$way-$size tcp-$way-$size - more
            done
            versus $what-trip-$size $what-trip-$size tcp-trip-$size - less
        done
    done
}

a_round() {
    keep_sizes tcp "$(tcp_sizes)"
    simulated_round
    with_null null_round
}

figures_by_kind $((3 * 3 * 8)) a_round
