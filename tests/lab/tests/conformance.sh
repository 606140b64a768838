# SPDX-License-Identifier: Apache-2.0
# bound: 900
# CUDA programs in guests, through both modules, on the simulated GPU in dom0: each must print what
# it printed on a real one.
. /lab/vcuda.sh



leak_mark
vcuda_start
for kind in $LAB_GUESTS; do
    vcuda_guest g "$kind" || continue
    for program in $(guest_run g "ls /usr/lib/vcuda-tests"); do
        if said=$(guest_run g -t 180 "/usr/lib/vcuda-tests/$program >/tmp/all 2>/tmp/err; r=\$?
                grep -vFf /usr/share/vcuda-tests/$program.not /tmp/all >/tmp/out
                diff /tmp/out /usr/share/vcuda-tests/$program.txt >/tmp/diff 2>&1 &&
                exit \$r; cat /tmp/diff /tmp/err | head -20; exit 1"); then
            ok "$kind: $program"
        else
            not_ok "$kind: $program"
            echo "$said" | sed 's/^/# /'
        fi
    done
    check "$kind: no worker is left serving" wait_until 3 vcuda_idle
    vcuda_end g
done
vcuda_stop
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
