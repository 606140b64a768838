# SPDX-License-Identifier: Apache-2.0
# bound: 60
# A WARN in a guest must fail a test that has nothing else to complain of.
create_guest g "${LAB_GUESTS%% *}" && wait_guest g || exit
guest_run g 'insmod /lab/lab_warn.ko warn=1'
ok "the module is loaded"
