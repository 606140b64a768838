# SPDX-License-Identifier: Apache-2.0
# bound: 900
# Workers die, hundreds of them, several at a time, while both kernels have more to do than
# processors for it. Every program must be told: a death that gets lost is one that sleeps for ever.

AT_ONCE=4
EACH=60

idle() { test "$(guest_run g 'grep -c vcuda-session /proc/interrupts')" = 0; }
connected() { [ "$(xenstore-read /local/domain/$id/device/vcuda/0/state)" = 4 ]; }

# What sleeps where, when somebody was not told.
post_mortem() {
    guest_run g 'grep vcuda /proc/interrupts; dmesg | tail -n 20
        for p in $(pidof guest-echo); do echo "guest-echo $p"; cat /proc/$p/stack; done'
    grep vcuda /proc/interrupts
    for p in $(pidof host-echo); do echo "host-echo $p"; cat /proc/$p/stack; done
    tail -n 20 /run/host-echo.log
}

# deaths OPTION...: AT_ONCE programs, each of which loses EACH sessions, one after the other.
deaths() {
    guest_run g -t 180 "for n in \$(seq $AT_ONCE); do guest-echo $* die $EACH & p=\"\$p \$!\"; done
        for i in \$p; do wait \$i || failed=1; done; exit \$failed"
}

# round TEXT OPTION...
round() {
    local text=$1 said begin
    shift
    begin=$(now_ms)
    said=$(deaths "$@") && ok "$kind: $text: $((AT_ONCE * EACH)) programs were told" || {
        not_ok "$kind: $text: $said"
        post_mortem | sed 's/^/# /'
    }
    measure kind="$kind" round="$(echo "$text" | tr ' ' -)" ms=$(($(now_ms) - begin))
}

leak_mark
check "the backend loads" insmod /lab/vcuda-back.ko
host-echo >/run/host-echo.log &
helper=$!
for kind in $LAB_GUESTS; do
    create_guest g "$kind" memory=256 && wait_guest g || { not_ok "no $kind guest" && continue; }
    id=$(domain_id g)
    guest_run g 'insmod /lab/vcuda-front.ko'
    vcudactl attach g >/dev/null
    check "$kind: connected" wait_until 10 connected

    round "programs that sleep" -s 0
    round "programs that spin" -s 2000
    guest_run g '(while :; do :; done) & echo $! >/tmp/busy'
    (while :; do :; done) &
    busy=$!
    round "busy processors" -s 0
    kill $busy
    guest_run g 'kill $(cat /tmp/busy)'

    check "$kind: nothing is left of the sessions" wait_until 5 idle
    check_equal "$kind: and the next one is served" opened "$(guest_run g guest-echo open)"
    vcudactl detach g --timeout 10 >/dev/null
    check "$kind: destroyed" destroy_guest g
done
kill $helper
vcudactl reap
check "the backend unloads" rmmod vcuda_back
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
