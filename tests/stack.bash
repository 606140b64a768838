# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the suites that run programs over the local transport: starts and
# ends one vcudad, and tells a simulated GPU from a real one. Needs $top.
#
#   stack_start DIR DRIVER [OPTION...]   vcudad on DRIVER; its log is DIR/vcudad.log
#   stack_quiet                          waits until it serves no session any more
#   stack_stop                           ends it; also done at exit
#
# Socket and state lie in a folder of this run alone, so that runs do not disturb
# each other; a socket's path must also be short.

stack_driver_default=$top/build/simgpu/libcuda.so.1
stack_daemon=
stack_dir=

# What the programs run with: our library, over the local transport.
stack_library=$top/build/userlib

stack_stop() {
	if [ -n "$stack_daemon" ]; then
		kill "$stack_daemon" 2>/dev/null
		wait "$stack_daemon" 2>/dev/null
	fi
	[ -z "$stack_dir" ] || rm -rf "$stack_dir"
	stack_daemon='' stack_dir=''
}

# The driver's own libraries (its JIT compiler, say) lie beside it. DRIVER_PATH names
# another place.
stack_start() {
	local dir=$1 driver=$2
	shift 2
	stack_dir=$(mktemp -d /tmp/vcuda-stack-XXXXXX)
	# Workers run as a user of their own.
	chmod 755 "$stack_dir"
	export VCUDA_SOCKET=$stack_dir/vcudad.sock VCUDA_TRANSPORT=local
	trap stack_stop EXIT
	LD_LIBRARY_PATH=${DRIVER_PATH:-$(dirname "$driver")} \
		"$top/build/helper/vcudad" --xen=off --socket "$VCUDA_SOCKET" \
		--state-dir "$stack_dir/state" --worker "$top/build/helper/vcuda-worker" \
		--driver "$driver" "$@" >"$dir/vcudad.log" 2>&1 </dev/null &
	stack_daemon=$!
	for _ in $(seq 100); do
		[ -S "$VCUDA_SOCKET" ] && return 0
		kill -0 "$stack_daemon" 2>/dev/null || break
		sleep 0.1
	done
	echo "Bail out! vcudad does not start:"
	cat "$dir/vcudad.log"
	exit 1
}

# A program's session outlives it by what its worker has to tidy up.
stack_quiet() {
	local _
	sleep 0.2 # what changes stands in the status 20 ms later
	for _ in $(seq 100); do
		grep -q '"serving": 0' "$stack_dir/state/status" && return
		sleep 0.1
	done
}

# The driver that a program finds which runs natively; empty if there is none.
stack_native_driver() {
	local dir
	local path=${LD_LIBRARY_PATH:-}
	for dir in ${path//:/ } /usr/local/nvidia/lib64; do
		[ ! -e "$dir/libcuda.so.1" ] || {
			echo "$dir/libcuda.so.1"
			return
		}
	done
	ldconfig -p 2>/dev/null | awk '$1 == "libcuda.so.1" && /x86-64/ {print $NF; exit}'
}

# Whether this driver is the simulated GPU, by the name that it gives its devices.
stack_is_simgpu() {
	grep -q 'vcuda simulated GPU' "$1"
}
