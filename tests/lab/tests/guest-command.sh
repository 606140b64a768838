# SPDX-License-Identifier: Apache-2.0
# bound: 120
# A guest of each kind comes up and runs commands.
for kind in $LAB_GUESTS; do
    start=$(now_ms)
    check "$kind guest is created" create_guest g $kind || continue
    check "$kind guest is up" wait_guest g || continue
    measure kind=$kind up_ms=$(($(now_ms) - start))
    check_equal "$kind guest's output comes back" "hello from Linux" \
        "$(guest_run g 'echo "hello from $(uname)"')"
    guest_run g 'exit 7'
    check_equal "$kind guest's exit status comes back" 7 $?
    start=$(now_ms)
    sum=$(guest_run g 'seq 1 20000 | tee /tmp/long' | md5sum)
    measure kind=$kind output_bytes=108894 ms=$(($(now_ms) - start))
    check_equal "$kind guest: 100 KB of output come back whole" "$(seq 1 20000 | md5sum)" "$sum"
    guest_run g -t 2 'sleep 100'
    check_equal "$kind guest: a command past its bound is ended" 124 $?
    start=$(now_ms)
    guest_run g true
    measure kind=$kind run_true_ms=$(($(now_ms) - start))
    check "$kind guest is destroyed" destroy_guest g
done
