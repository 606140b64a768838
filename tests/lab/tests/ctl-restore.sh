# SPDX-License-Identifier: Apache-2.0
# bound: 300
# vcudactl restore: the device's nodes are there before the guest resumes.
back=/local/domain/0/backend/vcuda

leak_mark
for kind in $LAB_GUESTS; do
    create_guest g "$kind" && wait_guest g || not_ok "no $kind guest"
    check "$kind: attach for good" vcudactl attach g --max-sessions 11 --persist
    check "$kind: save" save_guest g /tmp/g.save || continue
    vcudactl reap >/dev/null
    check "$kind: restore" vcudactl restore g /tmp/g.save || continue
    follow_console g
    after=$(domain_id g)
    check_equal "$kind: attached under its new id, by its policy" 11 \
        "$(xenstore-read $back/$after/0/max-sessions)"
    check_equal "$kind: the guest goes on and sees it" "$back/$after/0" \
        "$(guest_run g 'xenstore-read device/vcuda/0/backend')"
    check "$kind: destroy" destroy_guest g
    vcudactl reap >/dev/null
    check "$kind: forget the policy" vcudactl policy remove g
    rm /tmp/g.save
done
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
