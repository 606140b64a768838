# SPDX-License-Identifier: Apache-2.0
# bound: 150
# Two guests at once, one of each wanted kind: they come up, run commands, answer for themselves.
check_commands() {
    local name=$1 kind=$2 start
    check_equal "$kind guest's output comes back" "hello from Linux" \
        "$(guest_run "$name" 'echo "hello from $(uname)"')"
    guest_run "$name" 'exit 7'
    check_equal "$kind guest's exit status comes back" 7 $?
    start=$(now_ms)
    check_equal "$kind guest: 100 KB of output come back whole" "$(seq 1 20000 | md5sum)" \
        "$(guest_run "$name" 'seq 1 20000' | md5sum)"
    measure kind=$kind output_bytes=108894 ms=$(($(now_ms) - start))
    guest_run "$name" -t 1 'sleep 100'
    check_equal "$kind guest: a command past its bound is ended" 124 $?
    start=$(now_ms)
    guest_run "$name" true
    measure kind=$kind run_true_ms=$(($(now_ms) - start))
}

first=${LAB_GUESTS%% *}
second=${LAB_GUESTS##* }
leak_mark
start=$(now_ms)
check "a $first guest is created" create_guest one "$first"
check "a $second guest is created beside it" create_guest two "$second" memory=160
check "the $first guest is up" wait_guest one
check "the $second guest is up" wait_guest two
measure both_up_ms=$(($(now_ms) - start))
check_commands one "$first"
check_commands two "$second"
guest_run one 'sleep 2; echo one' >/tmp/one &
guest_run two 'sleep 2; echo two' >/tmp/two
wait $!
check_equal "the first answers while the second works" one "$(cat /tmp/one)"
check_equal "the second answers" two "$(cat /tmp/two)"
check "the first is destroyed" destroy_guest one
check_equal "the second goes on" still "$(guest_run two 'echo still')"
check "the second is destroyed" destroy_guest two
check "nothing is left" leak_check
