# SPDX-License-Identifier: Apache-2.0
# bound: 400
# vcudad in dom0: attaches by policy, gives sessions to workers, survives their ends and its own,
# reaps. With the probe worker: what a worker computes is not the matter here.
back=/local/domain/0/backend/vcuda
status_file=/run/vcuda/status

start_vcudad() {
    rm -f $status_file # one that was killed left it
    vcudad -vv --local off --worker /usr/bin/probe-worker "$@" 2>>/run/vcudad.log &
    vcudad=$!
}
status_has() { grep -q "$1" $status_file 2>/dev/null; }
log_has() { grep -q "$1" /run/vcudad.log; }
gone() { ! xenstore-exists "$1"; }
counters_have() { grep -qx "$2" /run/vcuda/domains/$1 2>/dev/null; }
ended() { ! [ -d /proc/$1 ]; }
# open_in_guest SECONDS: a session in the background; its words go to /tmp/open of the guest.
open_in_guest() { guest_run g "guest-open $1 >/tmp/open 2>&1 & sleep 1; head -n 1 /tmp/open"; }
guest_has() { [ "$(guest_run g 'tail -n 1 /tmp/open')" = "$1" ]; }

leak_mark
mkdir -p /etc/vcuda/domains
echo 'gpus = 1' >/etc/vcuda/domains/g.conf
start_vcudad
check "without the module it waits" wait_until 10 status_has 'modprobe vcuda-back'
insmod /lab/vcuda-back.ko
check "it serves when the module is there" wait_until 10 status_has '"xen": "serving"'
start_second() { vcudad --local off --state-dir /run/second --xen on; }
check "a second one is refused" eval '! start_second 2>/run/second.log'
check "and says why" grep -q "another vcudad has it" /run/second.log

for kind in $LAB_GUESTS; do
    create_guest g $kind && wait_guest g || not_ok "no $kind guest"
    id=$(domain_id g)
    check "$kind: attached by its policy" wait_until 5 xenstore-exists $back/$id/0/state
    guest_run g 'insmod /lab/vcuda-front.ko'

    check_equal "$kind: a session gets a worker" "open 0" "$(open_in_guest 60)"
    check "$kind: with the policy's GPU" wait_until 5 status_has \
        "\"domid\": $id.*\"gpus\": \[1\]"
    check "$kind: counted for the domain" wait_until 5 counters_have $id "sessions 1"
    check_equal "$kind: and in xenstore" 1 \
        "$(xenstore-read /local/domain/0/vcuda/domain/$id/sessions)"
    worker=$(sed -n 's/.*"worker": \([0-9]*\),.*/\1/p' $status_file)
    check_equal "$kind: its worker is nobody" 65534 "$(stat -c %u /proc/$worker)"

    kill -9 $worker
    check "$kind: its worker's death is the session's" wait_until 3 guest_has dead
    check "$kind: another worker is ready" wait_until 5 status_has '"ready": 1, "serving": 0'

    check_equal "$kind: a new session" "open 0" "$(open_in_guest 60)"
    wait_until 5 status_has '"serving": 1'
    worker=$(sed -n 's/.*"worker": \([0-9]*\),.*/\1/p' $status_file)
    kill -9 $vcudad
    wait $vcudad
    check_equal "$kind: no vcudad, no new session" "open -108" \
        "$(guest_run g 'guest-open 0' | head -n 1)"
    check "$kind: but the old one lives on" [ -d /proc/$worker ]
    start_vcudad
    wait_until 10 status_has '"xen": "serving"'
    check "$kind: what the killed one said in xenstore is gone" \
        gone /local/domain/0/vcuda/domain/$id/sessions
    check_equal "$kind: the next vcudad serves" "open 0" "$(guest_run g 'guest-open 0' | head -n 1)"
    check "$kind: and the old session still lives" [ -d /proc/$worker ]
    guest_run g 'kill $(pidof guest-open)'
    check "$kind: until its program ends" wait_until 3 ended $worker

    echo 'gpus = 7' >/etc/vcuda/domains/g.conf
    vcudactl detach g --force
    vcudactl attach g
    wait_until 10 xenstore-exists $back/$id/0/state
    sleep 1
    check_equal "$kind: a GPU that the host does not have is refused" "open -19" \
        "$(guest_run g 'guest-open 0' | head -n 1)"
    check "$kind: and logged with its remedy" log_has "is to have GPU 7"
    echo 'gpus = 1' >/etc/vcuda/domains/g.conf

    check "$kind: destroyed" destroy_guest g
    check "$kind: reaped" wait_until 5 gone $back/$id
    check "$kind: its counters too" wait_until 5 eval "! [ -e /run/vcuda/domains/$id ]"
done

kill $vcudad
check "it stops" wait_until 5 ended $vcudad
check "without a worker left" eval '! pidof probe-worker'
rm -r /etc/vcuda /run/vcuda
check "the module unloads" rmmod vcuda_back
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
cat /run/vcudad.log >&2
