# SPDX-License-Identifier: Apache-2.0
# bound: 120
# A block device: what the guest writes is what dom0 reads.
modprobe xen-blkback
modprobe loop
truncate -s 16M /tmp/disk
device=$(losetup -f)
losetup "$device" /tmp/disk
leak_mark
for kind in $LAB_GUESTS; do
    check "$kind guest with a vbd is created" create_guest g "$kind" disk="$device" || continue
    wait_guest g || continue
    check "$kind guest sees the device" \
        guest_run g 'modprobe xen-blkfront && sleep 1 && test -b /dev/xvda'
    sum=$(guest_run g -t 60 'head -c 8m /dev/urandom >/tmp/data && md5sum </tmp/data &&
        dd if=/tmp/data of=/dev/xvda bs=1M conv=fsync 2>/dev/null')
    check_equal "$kind guest's data is on the disk" "$sum" "$(head -c 8m /tmp/disk | md5sum)"
    check "$kind guest is destroyed" destroy_guest g
done
check "nothing is left" leak_check
losetup -d "$device"
