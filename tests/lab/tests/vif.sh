# SPDX-License-Identifier: Apache-2.0
# bound: 150
# A network card without a bridge: TCP from the guest to dom0 and back, the baseline to beat.
modprobe xen-netback # its module's own nodes and ports are there before we count
megabytes=32
leak_mark
for kind in $LAB_GUESTS; do
    check "$kind guest with a vif is created" create_guest g "$kind" vif=1 || continue
    wait_guest g && check "$kind guest's card gets an address" guest_net g || continue
    id=$(domain_id g)
    check "$kind guest reaches dom0" guest_run g "ping -c 3 -W 5 10.7.$id.1"
    sleep 100 | nc -l -p 4000 >/tmp/received & # it would end with its input
    usleep 200000
    guest_run g -t 60 "cat /proc/uptime; head -c ${megabytes}m /dev/zero | nc 10.7.$id.1 4000
        cat /proc/uptime" >/tmp/times
    wait_until 5 has_size /tmp/received $((megabytes << 20))
    check_equal "$kind guest's bytes arrive" $((megabytes << 20)) "$(stat -c %s /tmp/received)"
    measure kind=$kind tcp_to_dom0_mb_s=$(awk -v mb=$megabytes \
        'NR == 1 { a = $1 } END { printf "%.1f", mb * 1.048576 / ($1 - a) }' /tmp/times)
    rm /tmp/received
    check "$kind guest is destroyed" destroy_guest g
done
check "nothing is left" leak_check
