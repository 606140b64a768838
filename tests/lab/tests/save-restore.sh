# SPDX-License-Identifier: Apache-2.0
# bound: 150
# A guest is saved, restored paused, changed from outside, and goes on where it was.
write_node() { xenstore-write "/local/domain/$1/data/seen" "$1"; }

leak_mark
for kind in $LAB_GUESTS; do
    create_guest g "$kind" && wait_guest g || not_ok "no $kind guest"
    guest_run g 'echo kept >/tmp/memory; (while :; do cat /proc/uptime >/tmp/clock; sleep 1; done) &'
    before=$(domain_id g)
    start=$(now_ms)
    check "$kind guest is saved" save_guest g /tmp/g.save || continue
    saved=$(now_ms)
    check "$kind guest is restored" restore_guest g /tmp/g.save write_node || continue
    measure kind=$kind save_ms=$((saved - start)) restore_ms=$(($(now_ms) - saved))
    after=$(domain_id g)
    check "$kind guest has a new id" test "$before" != "$after"
    check_equal "$kind guest keeps its memory" kept "$(guest_run g 'cat /tmp/memory')"
    check_equal "$kind guest sees the node written while it was paused" "$after" \
        "$(guest_run g 'xenstore-read data/seen')"
    check "$kind guest's processes go on" \
        guest_run g 'a=$(cat /tmp/clock); sleep 3; test "$a" != "$(cat /tmp/clock)"'
    check "$kind guest is destroyed" destroy_guest g
    rm /tmp/g.save
done
check "nothing is left" leak_check
