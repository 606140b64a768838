# SPDX-License-Identifier: Apache-2.0
# bound: 300
# What `xl destroy` leaves of a domain is found and removed; a living neighbour keeps its device.
back=/local/domain/0/backend/vcuda

gone() { ! xenstore-exists "$1"; }

leak_mark
for kind in $LAB_GUESTS; do
    create_guest dies "$kind" && create_guest stays "$kind" || not_ok "no $kind guests"
    wait_guest dies && wait_guest stays || not_ok "$kind guests are not up"
    dead=$(domain_id dies)
    alive=$(domain_id stays)
    check "$kind: attach one" vcudactl attach dies
    check "$kind: attach the other" vcudactl attach stays
    check "$kind: destroy" destroy_guest dies
    if [ -z "$(pidof vcudad)" ]; then
        check "$kind: xl leaves the backend's folder" xenstore-exists $back/$dead/0
        check_equal "$kind: reap says what it removes" \
            "domain $dead is gone: its nodes are removed" "$(vcudactl reap)"
    fi
    check "$kind: the dead one's folder is gone" wait_until 5 gone $back/$dead
    check "$kind: its home was not brought back" gone /local/domain/$dead
    check "$kind: the neighbour keeps its device" xenstore-exists $back/$alive/0/state
    check "$kind: destroy the neighbour" destroy_guest stays
    vcudactl reap
done
check_equal "no device is listed" "[]" "$(vcudactl list --json)"
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
