# SPDX-License-Identifier: Apache-2.0
# bound: 20
# A WARN in dom0 must fail a test that has nothing else to complain of.
rmmod lab_warn 2>/dev/null
insmod /lab/lab_warn.ko warn=1
ok "the module is loaded"
