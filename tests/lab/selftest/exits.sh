# SPDX-License-Identifier: Apache-2.0
# bound: 20
# Must be reported: an exit status, although all checks passed.
ok "before it exits"
exit 5
