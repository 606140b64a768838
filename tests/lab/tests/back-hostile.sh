# SPDX-License-Identifier: Apache-2.0
# bound: 1200
# vcuda-back against a frontend that breaks the protocol (rogue-front), workers that die with pages
# pinned, a supervisor that dies, guests destroyed while mapped and pinned; an honest guest beside.

echo_start() {
    : >/run/echo.log # not the last one's "ready"
    host-echo "$@" >/run/echo.log &
    helper=$!
    wait_until 5 grep -q ready /run/echo.log
}
echo_stop() { kill $helper && wait $helper 2>/dev/null; }
connected() { [ "$(xenstore-read /local/domain/$1/device/vcuda/0/state)" = 4 ]; }
honest() { [ "$(guest_run honest guest-echo open)" = opened ]; }
held() { guest_run honest 'cat /tmp/hold' | grep -q holding; }
pins_made() { grep -q '^pinned .* 0$' /run/echo.log && ! grep '^pinned .* -' /run/echo.log; }
hold() { guest_run honest 'rm -f /tmp/hold; guest-echo hold 500 >/tmp/hold 2>&1 &' && wait_until 10 held; }

leak_mark
insmod /lab/vcuda-back.ko
echo_start
for kind in $LAB_GUESTS; do
    create_guest honest "$kind" && wait_guest honest || not_ok "no $kind guest"
    id=$(domain_id honest)
    guest_run honest 'insmod /lab/vcuda-front.ko'
    vcudactl attach honest >/dev/null
    check "$kind: an honest guest is connected" wait_until 10 connected $id

    create_guest rogue "$kind" && wait_guest rogue || not_ok "no rogue $kind guest"
    guest_run rogue 'modprobe xen-gntalloc'
    vcudactl attach rogue >/dev/null
    for c in $(guest_run rogue 'rogue-front list'); do
        [ $c != impatient ] || kill -STOP $helper
        [ $c != reopen ] || { echo_stop; echo_start -r -d 1000; }
        said=$(guest_run rogue -t 40 "rogue-front $c") && ok "$kind: rogue: $said" ||
            not_ok "$kind: rogue: $said"
        [ $c != impatient ] || kill -CONT $helper
        [ $c != reopen ] || { echo_stop; echo_start; }
    done
    check "$kind: the honest guest goes on" honest
    check "$kind: the rogue guest is destroyed" destroy_guest rogue
    vcudactl reap >/dev/null

    for pin in pipe xdp; do
        echo_stop
        echo_start -p $pin -h 3
        said=$(guest_run honest -t 60 guest-echo die 1) && ok "$kind, $pin: $said" || not_ok "$kind, $pin: $said"
        check "$kind, $pin: its pages were pinned" pins_made
        check "$kind, $pin: a session while the pins last" honest
        hold
        check "$kind, $pin: not unloaded under a session" sh -c '! rmmod vcuda_back 2>/dev/null'
    done
    echo_stop
    check_equal "$kind: no supervisor" ESHUTDOWN "$(guest_run honest guest-echo open)"
    check "$kind: the claimed session lives on" held
    echo_start
    check "$kind: a new supervisor" honest
    check "$kind: destroyed while mapped and pinned" destroy_guest honest
    vcudactl reap >/dev/null
done
echo_stop
sleep 4 # the last holder of pins
check "the module unloads" rmmod vcuda_back
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
dom0_log | grep vcuda | tail -n 40
