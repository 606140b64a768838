# SPDX-License-Identifier: Apache-2.0
# bound: 150
# The devices that Xen's guests have anyway: a network card without a bridge, a disk.
megabytes=1 # busybox's nc moves 1 KB at a time: this shows that it works, not how fast it can be

check_vif() {
    local kind=$1 id
    id=$(domain_id g)
    check "$kind guest's card gets an address" guest_net g || return
    check "$kind guest reaches dom0" guest_run g "ping -c 1 -W 5 10.7.$id.1"
    sleep 100 | nc -l -p 4000 >/tmp/received & # it would end with its input
    usleep 200000
    guest_run g "head -c ${megabytes}m /dev/zero | nc 10.7.$id.1 4000"
    wait_until 5 has_size /tmp/received $((megabytes << 20))
    check_equal "$kind guest's bytes arrive" $((megabytes << 20)) "$(stat -c %s /tmp/received)"
    rm /tmp/received
}

make_disk
leak_mark
for kind in $LAB_GUESTS; do
    check "$kind guest with a vif and a vbd is created" \
        create_guest g "$kind" vif=1 disk="$disk" || continue
    check "$kind guest is up" wait_guest g || continue
    check_vif "$kind"
    check "$kind guest sees its disk" disk_comes_up g
    check "$kind guest's data is on the disk" disk_works g 8
    check "$kind guest is destroyed" destroy_guest g
done
check "nothing is left" leak_check
losetup -d "$disk"
