# SPDX-License-Identifier: Apache-2.0
# bound: 60
# The payload is there: a module and a program, in dom0 and in a guest.
check "module of the payload loads in dom0" insmod /lab/lab_warn.ko
check "program of the payload runs in dom0" /lab/hello
check "dom0's payload is set up" test -e /run/lab/was-set-up
kind=${LAB_GUESTS%% *}
check "guest is created" create_guest g "$kind"
check "guest is up" wait_guest g
check "module of the payload loads in the guest" guest_run g 'insmod /lab/lab_warn.ko'
check_equal "program of the payload runs in the guest" "hello, this is C" "$(guest_run g /lab/hello)"
check_equal "a variable of --env arrives" "a b" "$LAB_SELFTEST"
measure answer=42
skip "to see a skip counted"
