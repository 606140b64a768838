# SPDX-License-Identifier: Apache-2.0
#
#   awk -f pass-over.awk EXPECTED PRINTED
#
# Prints PRINTED. Where a real GPU's driver fell over a call, it is ours to say what is wrong with
# it: what PRINTED has of that call becomes what EXPECTED has. Calls of one text are told apart by
# their order.

FNR == 1 { split("", times) }
{
	call = $0
	sub(/: ends the program$| = .*/, "", call)
	time = ++times[call]
}
NR == FNR {
	if (/: ends the program$/)
		fell[call, time] = 1
	next
}
(call, time) in fell && index($0, call " = ") == 1 { $0 = call ": ends the program" }
{ print }
