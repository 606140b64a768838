# SPDX-License-Identifier: Apache-2.0
# bound: 60
# A node, and a guest, that stay behind must be seen by leak_check.
leak_mark
xenstore-write /lab-selftest/left behind
check "a node that stays" leak_check
xenstore-rm /lab-selftest
create_guest g "${LAB_GUESTS%% *}"
check "a guest that stays" leak_check
destroy_guest g
ok "leak_check is done"
