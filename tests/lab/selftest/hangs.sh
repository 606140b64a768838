# SPDX-License-Identifier: Apache-2.0
# bound: 3
# Must be reported, and must not keep the next test from running.
ok "before it hangs"
sleep 1000
ok "never reached"
