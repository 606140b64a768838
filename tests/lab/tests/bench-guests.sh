# SPDX-License-Identifier: Apache-2.0
# bound: 1500
# Scaling: 1, 2 and 3 guests of one kind, the first of those wanted, that call at once, against as
# many that use TCP, see /lab/figures.sh. Figures are thousand calls a second of all of them. "busy"
# are ends that look for news all the time; without it, ours looks as long as it does by itself, TCP's
# ends sleep in read. Ours has the driver that does nothing, as TCP's server does nothing.
. /lab/figures.sh

LAB_GUESTS=${LAB_GUESTS%% *}
kind=$LAB_GUESTS
names='a b c'
counts='1 2 3'
run_ms=700
lead_s=$((3 * LAB_SLOW)) # until then all have begun their sessions
waited=20                # waited calls between two looks at the time
posted=1000              # launches, or messages, between two waits
launch_bytes=120         # of a launch in the ring

first() { echo $names | cut -d ' ' -f "-$1"; }

# together COUNT COMMAND: COMMAND in the first COUNT guests, all begun at a moment that is $at in the
# guest's shell, where $host is dom0's address. What they print, on stdout.
together() {
    local at name all=''
    at=$(($(date +%s) + lead_s))
    for name in $(first "$1"); do
        guest_run "$name" -t 60 "at=$at; $(cat "/run/$name.host"); $2" >"/run/$name.said" 2>&1 &
        all="$all $!"
    done
    wait $all
    for name in $(first "$1"); do cat "/run/$name.said"; done
}

# in_all OUTPUT COUNT CALLS: thousand calls a second of that many programs, of tcp-ends with so many
# calls each time; nothing where one of them has failed.
in_all() {
    echo "$1" | awk -F '[ =]' -v count="$2" -v calls="$3" '
        / calls in / { n++; sum += $1 * 1000 / $4 }
        /^times=/ { n++; sum += $2 * calls * 1000000 / $4 }
        END { if (n == count) printf "%.3f", sum }'
}

# each_count FIGURE CALLS COMMAND. Who comes too late on a machine that has other things to do, comes
# once more.
each_count() {
    local count said sum try
    for count in $counts; do
        for try in 1 2 3; do
            said=$(together "$count" "$3")
            sum=$(in_all "$said" "$count" "$2")
            echo "$said" | sed "s/^/# $kind: $1, $count, try $try: /"
            [ -z "$sum" ] || break
        done
        keep "$1-$count-guests" "$sum"
    done
}

tcp_round() {
    each_count tcp-busy $waited "tcp-ends -a \$at -t $run_ms -b ping \$host $port $waited"
    each_count tcp-waited $waited "tcp-ends -a \$at -t $run_ms ping \$host $port $waited"
    each_count tcp-posted $posted "tcp-ends -a \$at -t $run_ms -m $launch_bytes \
        up \$host $port $((posted * launch_bytes))"
}

vcuda_round() {
    daemon_with $look_us
    each_count busy $waited "VCUDA_SPIN_US=$look_us guest-calls -a \$at -t $run_ms query $waited"
    daemon_end
    unset VCUDA_SPIN_US
    daemon
    each_count waited $waited "guest-calls -a \$at -t $run_ms query $waited"
    each_count posted $posted "guest-calls -a \$at -t $run_ms launch $posted"
    daemon_end
}

figures_begin
for name in $names; do
    figures_guest "$name" memory=192 && echo "host=$host" >"/run/$name.host"
done
daemon_end
for round in $(seq "$ROUNDS"); do
    tcp_round
    with_null vcuda_round
done
daemon # reaps the guests
for what in busy waited posted; do
    for count in $counts; do
        versus $what-calls-$count-guests $what-$count-guests tcp-$what-$count-guests - more
    done
done
for name in $names; do
    vcuda_end "$name"
done
figures_end $((3 * 3))
