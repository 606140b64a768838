# SPDX-License-Identifier: Apache-2.0
# bound: 600
# What else the guest has goes on beside vcuda: a disk and a network card find grants when a
# program has taken all that it can get, and a guest on dom0's own processor is served.
. /lab/vcuda.sh

SMALL_TABLE=8 # frames of 512 grants: a program can ask for more than there are

SOME_TABLE=24 # 48 MiB: more than one region, which has 8 MiB or what is asked for

net_works() { guest_run g "ping -c 1 -W 5 10.7.$(domain_id g).1 >/dev/null"; }
hoards() { guest_run g 'grep -q ^all /tmp/hoard'; }

all_grants() {
    guest_run g 'guest-busy hoard >/tmp/hoard 2>&1 &'
    check "$kind: a program takes all pinned memory that it gets" wait_until 30 hoards
    guest_run g 'cat /tmp/hoard' | sed 's/^/# /'
    check "$kind: it is told that there is no more, with memory left in the guest" \
        guest_run g 'grep -q "^all.* error 2$" /tmp/hoard'
    check "$kind: a disk comes up meanwhile" disk_comes_up g
    check "$kind: it is read and written" disk_works g 4
    check "$kind: a network card comes up meanwhile" guest_net g
    check "$kind: it reaches dom0" net_works
    guest_run g 'kill $(pidof guest-busy)'
    check "$kind: afterwards a program works" \
        guest_run g -t 60 '/usr/lib/vcuda-tests/vector_add >/dev/null'
}

# What is freed must be granted no more: else there is no room for one large piece.
grants_come_back() {
    guest_run g -t 100 'guest-busy regrow 3 >/tmp/regrow 2>&1'
    check "$kind: pinned memory in small pieces, then in a large one" [ $? = 0 ]
    guest_run g 'cat /tmp/regrow' | sed 's/^/# /'
    check_equal "$kind: three times" 3 "$(guest_run g 'grep -c "at once" /tmp/regrow')"
    check "$kind: that is more than one region" \
        [ "$(guest_run g 'sed -n "s/.* \([0-9]*\) at once/\1/p" /tmp/regrow' | sort -n | head -n 1)" -gt 8 ]
}

make_disk
leak_mark
vcuda_start
for kind in $LAB_GUESTS; do
    vcuda_guest g "$kind" vif=1 disk="$disk" config="max_grant_frames=$SMALL_TABLE" || continue
    all_grants
    vcuda_end g
    vcuda_guest g "$kind" config="max_grant_frames=$SOME_TABLE" || continue
    grants_come_back
    vcuda_end g
    vcuda_guest one "$kind" cpus=0 || continue
    check "$kind: a guest on dom0's only processor computes" \
        guest_run one -t 100 '/usr/lib/vcuda-tests/vector_add >/dev/null'
    check "$kind: its calls that wait are answered" guest_run one -t 100 'guest-calls query 200'
    vcuda_end one
done
vcuda_stop
check "nothing is left" leak_check
check "kernel logs are clean" dmesg_clean
losetup -d "$disk"
