# SPDX-License-Identifier: Apache-2.0
# bound: 1800
# 50 times detached and attached by vcudactl, a CUDA program each time; every tenth time the
# frontend's module is new, once in the middle the backend's too, and vcudad with it. What is held
# after the last time must be what was held after the first.
. /lab/vcuda.sh

CYCLES=50

works() { guest_run g -t 60 '/usr/lib/vcuda-tests/vector_add 1000 >/dev/null'; }

# While detached: Xen's counts, the guest's interrupts of ours, our nodes.
held() {
    resources
    guest_run g 'grep -c vcuda /proc/interrupts'
    xenstore-ls -f /local/domain/0/backend/vcuda 2>&1
    guest_run g 'xenstore-ls -f device' | grep vcuda
}
held_as_first() { [ "$(held)" = "$first" ]; }

# The guest holds the module until it has seen that its device is gone, a little after dom0.
renew_front() {
    wait_until 5 guest_run g 'rmmod vcuda_front' && guest_run g 'insmod /lab/vcuda-front.ko'
}
renew_back() { vcuda_stop && vcuda_start; }

# What is made new while the device is away.
renew() {
    [ $(($1 % 10)) -ne 0 ] || renew_front || not_ok "$kind: cycle $1: the frontend's module"
    [ "$1" -ne $((CYCLES / 2)) ] || renew_back
}

cycle() {
    vcudactl detach g --timeout 10 >/dev/null || { not_ok "$kind: cycle $1: detach" && return 1; }
    if [ "$1" -eq 1 ]; then first=$(held); fi
    renew "$1"
    if [ "$1" -eq $CYCLES ]; then
        check "$kind: after $CYCLES cycles as after the first" wait_until 5 held_as_first ||
            printf '# first: %s\n# now: %s\n' "$first" "$(held)"
    fi
    vcudactl attach g >/dev/null && wait_until 10 vcuda_connected g ||
        { not_ok "$kind: cycle $1: attach" && return 1; }
    works || { not_ok "$kind: cycle $1: a program" && return 1; }
    [ $(($1 % 10)) -ne 0 ] || dmesg_clean ||
        { not_ok "$kind: cycle $1: a kernel complains" && return 1; }
}

cycles() {
    local i
    for i in $(seq $CYCLES); do
        cycle "$i" || return
    done
}

leak_mark
vcuda_start
for kind in $LAB_GUESTS; do
    vcuda_guest g "$kind" || continue
    begin=$(now_ms)
    check "$kind: $CYCLES times detached and attached, a program each time" cycles
    measure kind="$kind" cycles=$CYCLES ms=$(($(now_ms) - begin))
    check "$kind: no worker is left serving" wait_until 3 vcuda_idle
    vcuda_end g
done
vcuda_stop
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
