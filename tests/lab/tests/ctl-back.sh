# SPDX-License-Identifier: Apache-2.0
# bound: 90
# Detach and attach in one breath, with the backend's driver loaded: each time it makes its offer.
back=/local/domain/0/backend/vcuda
offers() { xenstore-exists $back/"$id"/0/max-version; }

if [ ! -e /lab/vcuda-back.ko ]; then
    skip "vcuda-back.ko is not in the payload"
    return 0
fi
leak_mark
insmod /lab/vcuda-back.ko || not_ok "vcuda-back does not load"
create_guest g "${LAB_GUESTS%% *}" || not_ok "no guest"
id=$(domain_id g)
for i in $(seq 10); do
    vcudactl attach g >/dev/null || not_ok "cycle $i: attach"
    wait_until 5 offers || not_ok "cycle $i: the backend offers nothing"
    vcudactl detach g --force >/dev/null || not_ok "cycle $i: detach"
done
ok "10 cycles without a frontend"
vcudactl attach g >/dev/null
wait_until 5 offers
check "the hint blames the frontend" sh -c 'vcudactl info g | grep -q "is vcuda-front loaded"'
check "detach does not hang" sh -c 'vcudactl detach g --timeout 1; [ $? -eq 5 ]'
check "and is forced" vcudactl detach g --force
check "destroy" destroy_guest g
vcudactl reap
check "the module unloads" rmmod vcuda_back
check "nothing is left" leak_check
check "dom0's kernel is content" dmesg_clean
