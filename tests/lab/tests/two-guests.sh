# SPDX-License-Identifier: Apache-2.0
# bound: 120
# Two guests at once, one of each kind if both are wanted, each answering for itself.
first=${LAB_GUESTS%% *}
second=${LAB_GUESTS##* }
leak_mark
check "a $first guest is created" create_guest one "$first"
check "a $second guest is created beside it" create_guest two "$second" memory=160
check "the first is up" wait_guest one
check "the second is up" wait_guest two
guest_run one 'sleep 2; echo one' >/tmp/one &
guest_run two 'sleep 2; echo two' >/tmp/two
wait $!
check_equal "the first answers while the second works" one "$(cat /tmp/one)"
check_equal "the second answers" two "$(cat /tmp/two)"
check "the first is destroyed" destroy_guest one
check_equal "the second goes on" still "$(guest_run two 'echo still')"
check "the second is destroyed" destroy_guest two
check "nothing is left" leak_check
