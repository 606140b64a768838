# SPDX-License-Identifier: Apache-2.0
# bound: 300
# A guest that writes nonsense into its folder, takes rights away, or removes it: dom0's tools stand.
back=/local/domain/0/backend/vcuda
front=device/vcuda/0

gone() { ! xenstore-exists "$1"; }

leak_mark
for kind in $LAB_GUESTS; do
    create_guest g "$kind" && wait_guest g || not_ok "no $kind guest"
    id=$(domain_id g)
    check "$kind: attach" vcudactl attach g
    guest_run g "for node in state version features ctl-ring-ref event-channel backend-id; do
            xenstore-write $front/\$node \"\$(head -c 1500 /dev/urandom | base64 -w 0)\"
        done
        for i in \$(seq 200); do xenstore-write $front/junk-\$i -1; done
        xenstore-write $front/backend /local/domain/0/name"
    check "$kind: list stands" vcudactl list
    check_equal "$kind: nonsense is no state" Unknown \
        "$(vcudactl list --json | sed 's/.*"frontend": "\([A-Za-z]*\)".*/\1/')"
    check "$kind: info stands and is short" test "$(vcudactl info g | wc -l)" -lt 70
    check "$kind: printable characters only" test -z "$(vcudactl info g | tr -d '\n -~')"

    guest_run g "xenstore-chmod $front n$id"
    check "$kind: info without rights in the guest's folder" vcudactl info g
    guest_run g "xenstore-rm $front"
    check "$kind: the guest's folder is gone" gone /local/domain/$id/$front
    check "$kind: info says it" \
        sh -c 'vcudactl info g | grep -q "the guest has removed its nodes"'

    guest_run g "(i=0; while :; do i=\$((i + 1)); xenstore-write $front/noise \$i; done) \
        >/dev/null 2>&1 &"
    check "$kind: detach against a guest that writes on" vcudactl detach g --force --timeout 1
    check "$kind: the backend's folder is gone" gone $back/$id
    check "$kind: attach again" vcudactl attach g
    check "$kind: detach again" vcudactl detach g --force --timeout 1
    check "$kind: destroy" destroy_guest g
    vcudactl reap >/dev/null
done
check "nothing is left" leak_check
check "dom0's kernel is content" dmesg_clean
