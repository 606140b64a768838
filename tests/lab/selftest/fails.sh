# SPDX-License-Identifier: Apache-2.0
# bound: 20
# Must be reported.
check "this fails" false
true
