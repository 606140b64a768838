# SPDX-License-Identifier: Apache-2.0
# vcuda in the lab: the backend and vcudad in dom0, guests that a policy gives a GPU.

. /lab/lib.sh

vcuda_status=/run/vcuda/status
export VCUDA_DRIVER=/usr/lib/vcuda-driver/libcuda.so.1

vcuda_serving() { grep -q '"xen": "serving"' $vcuda_status 2>/dev/null; }
vcuda_ready() { vcuda_serving && grep -q '"ready": [1-9]' $vcuda_status; }
vcuda_idle() { grep -q '"serving": 0' $vcuda_status; }
vcuda_connected() {
    [ "$(xenstore-read "/local/domain/$(domain_id "$1")/device/vcuda/0/state" 2>/dev/null)" = 4 ]
}

# vcuda_daemon [OPTION...]: vcudad in the background, its id in $vcudad.
vcuda_daemon() {
    rm -f $vcuda_status # the last one's
    vcudad -v --local off "$@" 2>>/run/vcudad.log &
    vcudad=$!
}

# vcuda_start [OPTION...]: backend and vcudad, ready for guests.
vcuda_start() {
    mkdir -p /etc/vcuda/domains
    check "the backend loads" insmod /lab/vcuda-back.ko
    vcuda_daemon "$@"
    check "vcudad serves, a worker is ready" wait_until 20 vcuda_ready || sed 's/^/# /' /run/vcudad.log
}

# vcuda_guest NAME KIND [OPTION...]: a guest whose policy gives it GPU 0, with the frontend.
vcuda_guest() {
    local name=$1 kind=$2
    shift 2
    echo 'gpus = 0' >"/etc/vcuda/domains/$name.conf"
    kill -HUP "$vcudad"
    if ! create_guest "$name" "$kind" memory=384 "$@" || ! wait_guest "$name"; then
        not_ok "no $kind guest $name"
        return 1
    fi
    guest_run "$name" 'insmod /lab/vcuda-front.ko'
    check "$kind: $name is attached by its policy and connected" wait_until 10 vcuda_connected "$name"
}

# vcuda_end NAME: destroyed, and vcudad has reaped its nodes.
vcuda_end() {
    local id
    id=$(domain_id "$1")
    check "$1 is destroyed" destroy_guest "$1"
    check "$1 is reaped" wait_until 5 eval "! xenstore-exists /local/domain/0/backend/vcuda/$id"
}

vcuda_stop() {
    kill "$vcudad"
    wait "$vcudad"
    check "the backend unloads" rmmod vcuda_back
}
