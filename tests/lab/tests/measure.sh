# SPDX-License-Identifier: Apache-2.0
# bound: 600
# What calls cost, counted: notifications (by library and worker), hypercalls (by Xen) and bytes
# copied. Nothing here depends on how fast the machine is, but for one thing: two ends are "busy"
# when each looks for news longer than the other needs, which in emulation takes VCUDA_SPIN_US.
. /lab/counts.sh

busy_spin_us=20000   # an end that is meant to stay awake
worker_spin_us=10000 # less than the pause between calls that are meant to find the worker asleep
pause_us=30000
copied=8388608

# bytes MEMORY WANTED: how often each byte moved was copied by the library.
bytes() {
    local moved copies each
    start 50 "$1" $copied
    finished "$1" || return
    moved=$(field "$1" "$stats")
    copies=$(($(field staged "$stats") + $(field inline "$stats")))
    each=$(per $copies "$moved")
    measure "kind=$kind case=$1 bytes_moved=$moved bytes_copied=$copies copied_per_byte=$each"
    check_equal "$kind: $1: bytes moved are counted" $((2 * copied)) "$moved"
    check_equal "$kind: $1: copies of each byte moved" "$2" "$each"
}

leak_mark
export VCUDA_SPIN_US=$worker_spin_us
vcuda_start
for kind in $LAB_GUESTS; do
    vcuda_guest g "$kind" || continue
    id=$(domain_id g)
    start_sent=0
    start $busy_spin_us query 1
    finished start || continue
    start_sent=$(field notifications "$stats")
    bytes pinned 0.0000
    bytes pageable 1.0000
    cost asleep 2.5 0 -p $pause_us query 200
    cost busy-launch 0.5 $busy_spin_us launch 10000
    cost busy-query 0.5 $busy_spin_us query 3000
    check "$kind: no worker is left serving" wait_until 3 vcuda_idle
    vcuda_end g
done
vcuda_stop
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
