# SPDX-License-Identifier: Apache-2.0
# bound: 300
# What a guest's admin sees: `vcuda doctor` without the module, without a device and with both,
# `vcuda info`, and NVML's answers, which must be those that the host's NVML gives in dom0.
. /lab/vcuda.sh

nvml=/usr/lib/vcuda-driver/nvml/libnvidia-ml.so.1
queries=/usr/lib/vcuda-tests-nvml/queries

# doctor STATUS TEXT WORDS: the doctor ends with STATUS and says WORDS.
doctor() {
    local ended=0
    said=$(guest_run g -t 120 'vcuda doctor 2>&1') || ended=$?
    check_equal "$kind: doctor: $2: its exit status" "$1" "$ended"
    check "$kind: doctor: $2" says "$3" || echo "$said" | sed 's/^/# /'
}
says() { echo "$said" | grep -qF "$1"; }
said_has() { echo "$said" | grep -q "$1"; }

leak_mark
export VCUDA_NVML=$nvml LD_LIBRARY_PATH=/usr/lib/vcuda-driver
LD_LIBRARY_PATH=${nvml%/*}:$LD_LIBRARY_PATH $queries >/run/nvml.direct
check "NVML is asked directly" test "$(wc -l </run/nvml.direct)" -gt 100
vcuda_start
for kind in $LAB_GUESTS; do
    if ! create_guest g "$kind" memory=384 || ! wait_guest g; then
        not_ok "no $kind guest"
        continue
    fi
    doctor 1 "no module" "the module vcuda-front is not loaded"
    guest_run g 'insmod /lab/vcuda-front.ko'
    doctor 1 "no device" "dom0 has attached no GPU to this domain"
    check "$kind: attach" vcudactl attach g
    check "$kind: connected" wait_until 10 vcuda_connected g
    doctor 0 "all is well" "a kernel runs, and its results are right"
    said=$(guest_run g -t 60 'vcuda info 2>&1')
    check "$kind: info says how the GPU is reached" said_has '^transport  *xen, /dev/vcuda$'
    check "$kind: and which it is" said_has '^device 0 '
    guest_run g -t 120 "$queries" >/run/nvml.guest
    check "$kind: NVML answers as in dom0" cmp /run/nvml.direct /run/nvml.guest ||
        diff /run/nvml.direct /run/nvml.guest | head -n 20 | sed 's/^/# /'
    vcuda_end g
done
vcuda_stop
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
