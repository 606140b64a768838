# SPDX-License-Identifier: Apache-2.0
# bound: 1200
# CUDA programs in guests, through both modules, on the simulated GPU in dom0: each must print what
# it printed on a real one. A guest of each kind, at work at the same time.
. /lab/vcuda.sh

# programs GUEST KIND: all of them, one after the other.
programs() {
    local program said
    for program in $(guest_run "$1" "ls /usr/lib/vcuda-tests"); do
        if said=$(guest_run "$1" -t 400 "/usr/lib/vcuda-tests/$program >/tmp/all 2>/tmp/err; r=\$?
                cd /usr/share/vcuda-tests
                awk -f pass-over.awk $program.txt /tmp/all >/tmp/out
                diff /tmp/out $program.txt >/tmp/diff 2>&1 &&
                exit \$r; cat /tmp/diff /tmp/err | head -20; exit 1"); then
            ok "$2: $program"
        else
            not_ok "$2: $program"
            echo "$said" | sed 's/^/# /'
        fi
    done
}

leak_mark
vcuda_start
guests='' at_work=''
for kind in $LAB_GUESTS; do
    vcuda_guest "g-$kind" "$kind" && guests="$guests g-$kind"
done
for guest in $guests; do
    programs "$guest" "${guest#g-}" &
    at_work="$at_work $!"
done
for job in $at_work; do wait "$job"; done
check "no worker is left serving" wait_until 3 vcuda_idle
for guest in $guests; do vcuda_end "$guest"; done
vcuda_stop
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
