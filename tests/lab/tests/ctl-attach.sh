# SPDX-License-Identifier: Apache-2.0
# bound: 400
# vcudactl attach and detach: nodes, permissions as real guests see them, messages, nothing left.
back=/local/domain/0/backend/vcuda

permission() { xenstore-ls -p "$(dirname "$1")" | sed -n "s/^ *$(basename "$1") = .*(\(.*\))\$/\1/p"; }

# status EXPECTED COMMAND...: runs it; its exit status must be that. Its output in $said.
status() {
    local expected=$1 seen=0
    shift
    said=$("$@" 2>&1) || seen=$?
    [ $seen -eq "$expected" ] || echo "exit status $seen, expected $expected: $said"
    [ $seen -eq "$expected" ]
}
gone() { ! xenstore-exists "$1"; }
says() { echo "$said" | grep -qF -- "$1" || { echo "$said" && false; }; }

leak_mark
check_equal "no device at first" "[]" "$(vcudactl list --json)"
check "a domain that is not there is told" status 3 vcudactl attach nobody
check "with the remedy" says 'xl list'

for kind in $LAB_GUESTS; do
    create_guest g "$kind" && wait_guest g || not_ok "no $kind guest"
    id=$(domain_id g)
    check "$kind: attach" status 0 vcudactl attach g --gpus 1,0 --max-sessions 7
    for node in $back/$id/0 $back/$id/0/state $back/$id/0/max-pages; do
        check_equal "$kind: $node is the backend's" "n0,r$id" "$(permission $node)"
    done
    for node in /local/domain/$id/device/vcuda/0 /local/domain/$id/device/vcuda/0/state; do
        check_equal "$kind: $node is the guest's" "n$id,r0" "$(permission $node)"
    done
    check_equal "$kind: the guest reads its GPUs" "1 0" \
        "$(guest_run g "xenstore-read $back/$id/0/gpus")"
    check "$kind: the guest cannot raise a limit" \
        guest_run g "! xenstore-write $back/$id/0/max-sessions 4096"
    check_equal "$kind: the limit stands" 7 "$(xenstore-read $back/$id/0/max-sessions)"
    check "$kind: the guest writes its own folder" guest_run g "xenstore-write device/vcuda/0/note 1"

    check "$kind: attaching again is no error" \
        status 0 vcudactl attach "$id" --gpus 1,0 --max-sessions 7
    check "$kind: it says so" says 'attached already'
    check "$kind: attaching otherwise is refused" status 4 vcudactl attach g
    check "$kind: list" status 0 vcudactl list
    check "$kind: list shows limits" says '-/7'
    check "$kind: info by name" status 0 vcudactl info g
    check "$kind: Xen says that it runs" says "g (id $id), running"

    patience=10
    if [ "$(xenstore-read $back/$id/0/state)" = 1 ]; then
        patience=0
        check "$kind: no driver, so detach gives up" status 5 vcudactl detach g --timeout 1
        check "$kind: and says what is missing" says 'is vcuda-back loaded in dom0?'
    fi
    check "$kind: detach" status 0 vcudactl detach g --force --timeout $patience
    check "$kind: the backend's folder is gone" test -z "$(xenstore-ls $back 2>/dev/null)"
    check "$kind: the guest's folder is gone" gone /local/domain/$id/device/vcuda
    check "$kind: detaching again is told" status 4 vcudactl detach g

    start=$(now_ms)
    for i in $(seq 20); do
        vcudactl attach g >/dev/null && vcudactl detach g --force --timeout $patience >/dev/null ||
            not_ok "$kind: cycle $i"
    done
    measure kind=$kind cycles=20 ms=$(($(now_ms) - start))
    check "$kind: destroyed" destroy_guest g
    check "$kind: reap" status 0 vcudactl reap
done
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
