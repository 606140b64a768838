# SPDX-License-Identifier: Apache-2.0
# bound: 480
# Both modules: sessions, regions and notifications between guest-echo and host-echo, programs
# and workers that die, and what is left of them.

idle() { test "$(guest_run g 'grep -c vcuda-session /proc/interrupts')" = 0; }
connected() { [ "$(xenstore-read /local/domain/$id/device/vcuda/0/state)" = 4 ]; }

leak_mark
check "the backend loads" insmod /lab/vcuda-back.ko
host-echo >/run/host-echo.log &
helper=$!
for kind in $LAB_GUESTS; do
    create_guest g "$kind" memory=256 && wait_guest g || not_ok "no $kind guest"
    id=$(domain_id g)
    check "$kind: the frontend loads" guest_run g 'insmod /lab/vcuda-front.ko'
    check_equal "$kind: no device, no session" ENODEV "$(guest_run g guest-echo open)"
    check "$kind: attach" vcudactl attach g
    check "$kind: connected" wait_until 10 connected
    check_equal "$kind: a session" opened "$(guest_run g guest-echo open)"

    said=$(guest_run g 'guest-echo echo 500') && ok "$kind: $said" || not_ok "$kind: $said"
    said=$(guest_run g 'guest-echo -s 0 echo 500') && ok "$kind: $said" || not_ok "$kind: $said"
    check "$kind: every wait slept" test "${said#*slept }" != "$said"
    for pages in 1 1022 1023 5000; do
        said=$(guest_run g "guest-echo region $pages") && ok "$kind: $said" || not_ok "$kind: $said"
    done
    said=$(guest_run g 'guest-echo die 1') && ok "$kind: $said" || not_ok "$kind: $said"
    check "$kind: nothing is left of the sessions" wait_until 5 idle

    guest_run g 'guest-echo hold 2000' >/run/hold &
    guest=$!
    sleep 3
    check "$kind: a program is killed" guest_run g 'kill -9 $(pidof guest-echo)'
    wait $guest
    check "$kind: nothing is left of it" wait_until 5 idle
    check_equal "$kind: the next one is served" opened "$(guest_run g guest-echo open)"

    check "$kind: 20 programs at once" guest_run g -t 60 \
        'for i in $(seq 20); do guest-echo echo 20 & p="$p $!"; done; for i in $p; do wait $i || exit; done'
    kill -STOP $helper
    guest_run g 'for i in $(seq 9); do guest-echo open & done; sleep 1; kill -9 $(pidof guest-echo)'
    check "$kind: killed before any worker came, nothing is left" wait_until 5 idle
    kill -CONT $helper
    check_equal "$kind: and the next one is served" opened "$(guest_run g guest-echo open)"

    said=$(guest_run g 'guest-echo fill 1024') && ok "$kind: $said" || not_ok "$kind: $said"
    check_equal "$kind: and then" opened "$(guest_run g guest-echo open)"

    check "$kind: detach" vcudactl detach g --timeout 10
    # The guest hears of the end of its device's nodes a little later, and the module is held till then.
    check "$kind: the frontend unloads" wait_until 5 guest_run g 'rmmod vcuda_front'
    check "$kind: destroyed" destroy_guest g
done
kill $helper
vcudactl reap
check "the backend unloads" rmmod vcuda_back
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
