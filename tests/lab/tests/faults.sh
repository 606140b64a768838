# SPDX-License-Identifier: Apache-2.0
# bound: 900
# What goes wrong in guest g, one thing after the other, with real workers on the simulated GPU:
# workers, vcudad, programs and the guest itself die in the middle of work, or speak nonsense. In
# guest h beside it a program works all the time and must see none of it.
. /lab/vcuda.sh

CYCLES=5

# start GUEST PROGRAM WORD COMMAND...: in the background, until its output has WORD.
start() {
    local guest=$1 log=/tmp/$2 word=$3
    shift 3
    guest_run "$guest" "rm -f $log; $* >$log 2>&1 &"
    wait_until 20 said "$guest" "$log" "$word" && return
    guest_run "$guest" "cat $log" | sed 's/^/# /'
    return 1
}
said() { guest_run "$1" "grep -q '$3' $2"; }

works() { guest_run "$1" -t 60 '/usr/lib/vcuda-tests/vector_add >/dev/null'; }
no_session() { test "$(guest_run "$1" 'grep -c vcuda-session /proc/interrupts')" = 0; }
rounds() { guest_run "$1" 'tail -n 1 /tmp/loop' | sed -n 's/^round //p'; }
past() { test "$(rounds "$1")" -gt "$2"; }
goes_on() { local seen; seen=$(rounds "$1"); [ -n "$seen" ] && wait_until 10 past "$1" "$seen"; }

# The worker of a guest's one session.
worker_known() {
    worker=$(sed -n "s/.*\"domid\": $(domain_id "$1"), \"worker\": \([0-9]*\),.*/\1/p" $vcuda_status)
    [ -n "$worker" ]
}
ended() { ! kill -0 "$1" 2>/dev/null; }

worker_is_killed() {
    local after
    start g wait waiting guest-busy wait && wait_until 5 worker_known g ||
        not_ok "$kind: no program that waits"
    kill -9 "$worker"
    check "$kind: worker killed under a kernel: the program that waits is told" \
        wait_until 10 said g /tmp/wait '^error'
    guest_run g 'cat /tmp/wait' | sed 's/^/# /'
    after=$(guest_run g 'cat /tmp/wait' | sed -n 's/^error [0-9]* after \([0-9]*\) ms/\1/p')
    measure kind="$kind" worker_killed_told_ms="$after"
    check "$kind: it is told within a second" test "${after:-9999}" -lt 1000
    check "$kind: a new program works" works g
}

program_is_killed() {
    start g copy copying guest-busy copy && wait_until 5 worker_known g ||
        not_ok "$kind: no program that copies"
    guest_run g 'kill -9 $(pidof guest-busy)'
    check "$kind: program killed in a copy: its worker goes" wait_until 1 ended "$worker"
    check "$kind: its session is gone" wait_until 2 no_session g
    check "$kind: the next program works" works g
}

# Regions are added and ended all the time.
killed_while_memory_comes_and_goes() {
    local i
    for i in $(seq $CYCLES); do
        start g regrow 'at once' guest-busy regrow 1000000 && wait_until 5 worker_known g ||
            not_ok "$kind: no program whose pinned memory comes and goes"
        sleep 0.$((i * 17))
        kill -9 "$worker"
        check "$kind: worker killed while regions come and go, $i: the program ends" \
            wait_until 10 no_session g
        start g regrow 'at once' guest-busy regrow 1000000 && wait_until 5 worker_known g ||
            not_ok "$kind: no program whose pinned memory comes and goes"
        sleep 0.$((i * 13))
        guest_run g 'kill -9 $(pidof guest-busy)'
        check "$kind: the program killed while they do, $i: its worker goes" wait_until 5 ended "$worker"
    done
    check "$kind: the next program works" works g
}

program_is_rogue() {
    local said
    said=$(guest_run g -t 90 'for c in $(guest-rogue list); do
            guest-rogue $c || echo "otherwise: $c"; done; guest-rogue list | wc -l')
    echo "$said" | sed 's/^/# /'
    check "$kind: a program that breaks the protocol: all as it should" \
        eval 'test -n "$said" && ! echo "$said" | grep -q otherwise'
    check "$kind: vcudad's log says why it was cut off" grep -q 'cut off: ' /run/vcudad.log
    check "$kind: nothing is left of it" wait_until 3 no_session g
    check "$kind: the next program works" works g
}

attach_cycles() {
    local begin i
    begin=$(now_ms)
    for i in $(seq $CYCLES); do
        vcudactl detach g --timeout 10 >/dev/null && vcudactl attach g >/dev/null &&
            wait_until 10 vcuda_connected g || { not_ok "$kind: cycle $i" && break; }
    done
    measure kind="$kind" attach_cycles=$CYCLES ms=$(($(now_ms) - begin))
    check "$kind: detached and attached $CYCLES times, a program works" works g
}

attached() { wait_until 10 xenstore-exists "/local/domain/0/backend/vcuda/$1/0/state"; }

guest_is_saved() {
    start g wait waiting guest-busy wait || not_ok "$kind: no program that waits"
    check "$kind: saved while a thread sleeps in a call" save_guest g /tmp/g.save
    check "$kind: restored, and attached by its policy" restore_guest g /tmp/g.save attached
    rm -f /tmp/g.save
    check "$kind: the program that slept is told" wait_until 20 said g /tmp/wait '^error'
    guest_run g 'cat /tmp/wait' | sed 's/^/# /'
    check "$kind: connected again" wait_until 20 vcuda_connected g
    check "$kind: the next program works" works g
}

nodes_are_nonsense() {
    start g copy copying guest-busy copy || not_ok "$kind: no program that copies"
    guest_run g 'for node in version features ctl-ring-ref event-channel backend-id state; do
            xenstore-write device/vcuda/0/$node "$(head -c 600 /dev/urandom | base64 -w 0)"
        done
        for state in 0 1 2 3 4 5 6 7 8 99 -1; do xenstore-write device/vcuda/0/state $state; done'
    check "$kind: nonsense in the nodes: vcudactl stands" vcudactl list
    check "$kind: and so does vcudad" kill -0 "$vcudad"
}

guest_is_destroyed() {
    start g copy copying guest-busy copy && wait_until 5 worker_known g ||
        not_ok "$kind: no program that copies"
    vcuda_end g
    check "$kind: guest destroyed in a copy: its worker is gone" wait_until 1 ended "$worker"
}

vcudad_is_killed() {
    start g loop round guest-busy loop /tmp/stop || not_ok "$kind: no program that loops"
    kill -9 "$vcudad"
    wait "$vcudad"
    check "$kind: vcudad killed: a program of g goes on" goes_on g
    vcuda_daemon
    check "$kind: vcudad serves again" wait_until 20 vcuda_ready
    check "$kind: a program of g has gone on" goes_on g
    check "$kind: and a new one works" works g
    guest_run g 'touch /tmp/stop'
    check "$kind: it has seen no error" wait_until 5 said g /tmp/loop 'no error'
}

# step TEXT COMMAND: and h has not noticed.
step() {
    local begin
    begin=$(now_ms)
    "$1"
    check "$kind: $1: h goes on" goes_on h
    measure kind="$kind" step="$1" ms=$(($(now_ms) - begin))
}

leak_mark
vcuda_start
for kind in $LAB_GUESTS; do
    vcuda_guest h "$kind" memory=256 || continue
    vcuda_guest g "$kind" memory=256 || continue
    check "$kind: a program works in h" start h loop round guest-busy loop /tmp/stop
    step worker_is_killed
    step program_is_killed
    step killed_while_memory_comes_and_goes
    step program_is_rogue
    step attach_cycles
    step guest_is_saved
    step guest_is_destroyed
    vcuda_guest g "$kind" memory=256 || continue
    step nodes_are_nonsense
    vcuda_end g
    vcuda_guest g "$kind" memory=256 || continue
    step vcudad_is_killed
    guest_run h 'touch /tmp/stop'
    check "$kind: h has seen no error" wait_until 10 said h /tmp/loop 'no error'
    guest_run h 'tail -n 3 /tmp/loop' | sed 's/^/# /'
    vcuda_end g
    vcuda_end h
done
vcuda_stop
grep -v 'serves session\|starts$' /run/vcudad.log | tail -n 60 | sed 's/^/# /'
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
