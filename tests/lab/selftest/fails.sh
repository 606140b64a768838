# SPDX-License-Identifier: Apache-2.0
# bound: 20
# Must be reported: a check that fails, and an exit status.
check "this fails" false
exit 5
