# SPDX-License-Identifier: Apache-2.0
# bound: 300
# What `make demo` shows: see tests/lab/demo.
. /lab/vcuda.sh

story=/lab/host/logs/$LAB_TEST/story.txt
tell() { echo "$*" >>"$story"; }

# run_program GUEST KIND PROGRAM ARGUMENT...: its output and its counters.
run_program() {
    local guest=$1 kind=$2 program=$3 said
    shift 3
    if said=$(guest_run "$guest" -t 90 "VCUDA_STATS=1 /usr/lib/vcuda-tests/$program $* 2>&1"); then
        ok "$guest ($kind): $(echo "$said" | grep "^$program")"
    else
        not_ok "$guest ($kind): $program $*"
    fi
    {
        echo "$program $* in domU $guest ($kind), its kernels run by $worker in dom0:"
        echo "$said" | grep -v '^vcuda:' | sed 's/^/    /'
        echo "$said" | sed -n 's/^vcuda: pid=[0-9]* /    /p'
        echo
    } >>"$story.$guest"
}

# run_sample GUEST KIND PROGRAM: one by nvcc, which prints what it does on the simulated GPU alone.
run_sample() {
    local guest=$1 kind=$2 program=$3 dir=/usr/lib/vcuda-samples said
    if said=$(guest_run "$guest" -t 120 "VCUDA_STATS=1 $dir/$program >/tmp/out 2>/tmp/err &&
            diff $dir/$program.txt /tmp/out && grep ^vcuda: /tmp/err"); then
        ok "$guest ($kind): $program by nvcc, with NVIDIA's runtime in it: $(guest_run "$guest" \
            "wc -l </tmp/out") lines as they should be"
    else
        not_ok "$guest ($kind): $program by nvcc"
        echo "$said" | sed 's/^/# /'
    fi
    {
        echo "$program, built by nvcc with NVIDIA's runtime, in domU $guest ($kind):"
        echo "$said" | sed -n 's/^vcuda: pid=[0-9]* /    /p'
        echo
    } >>"$story.$guest"
}

run_all() {
    run_program "$1" "$2" vector_add 100000
    run_program "$1" "$2" matmul 128
    run_program "$1" "$2" em 6000 12
    for sample in $(guest_run "$1" "ls /usr/lib/vcuda-samples 2>/dev/null" | grep -v txt); do
        run_sample "$1" "$2" "$sample"
    done
}

vcuda_start
tell "Xen $(xl info | sed -n 's/^xen_version *: //p'), dom0 and guests with Linux $(uname -r)"
worker="vcuda-worker on the simulated GPU"
for guest in pv pvh; do
    vcuda_guest "demo-$guest" "$guest"
done
vcudactl list >/run/list.txt 2>&1
{ echo; cat /run/list.txt; echo; } >>"$story"
run_all demo-pv PV >/run/out.pv &
first=$!
run_all demo-pvh PVH
wait $first
cat /run/out.pv
cat "$story.demo-pv" "$story.demo-pvh" >>"$story"
rm -f "$story.demo-pv" "$story.demo-pvh"
tell "calls: records through the rings; posted: of these, nobody waited; waited: for an answer;"
tell "told: by the GPU itself; slept: times that the program slept; notifications: sent to dom0"
tell "through the event channel;"
tell "pinned, pageable: bytes that the program copied; staged, inline: bytes that the library copied"
tell "for that, once each; images: bytes of its modules"
for guest in pv pvh; do
    vcuda_end "demo-$guest"
done
vcuda_stop
check "kernels are content" dmesg_clean
