# SPDX-License-Identifier: Apache-2.0
# bound: 20
# Xen answers, and dom0 is what we believe it is.
check "xl info answers" xl info
check_equal "one domain runs" 1 "$(xl list | tail -n +2 | wc -l)"
check_equal "dom0 is a PV guest of Xen" xen "$(cat /sys/hypervisor/type)"
