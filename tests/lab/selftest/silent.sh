# SPDX-License-Identifier: Apache-2.0
# bound: 20
# Must be reported: a test without a result.
true
