# SPDX-License-Identifier: Apache-2.0
# bound: 20
# dom0 panics: the run ends soon, with the test named.
ok "before the crash"
sleep 1 # for the line above to come out
echo c >/proc/sysrq-trigger
