# SPDX-License-Identifier: Apache-2.0
# What a test in dom0 can call. POSIX sh (busybox). LAB_TEST is the test's name.

# ---- results ---------------------------------------------------------------

ok() { echo "ok $LAB_TEST - $*"; }
not_ok() { echo "not ok $LAB_TEST - $*"; }
skip() { echo "skip $LAB_TEST - $*"; }
# measure KEY=VALUE...
measure() { echo "measure $LAB_TEST $*"; }

# check TEXT COMMAND...: ok when the command succeeds; gives its status back.
check() {
    local text=$1 status=0
    shift
    "$@" || status=$?
    if [ $status -eq 0 ]; then ok "$text"; else not_ok "$text (status $status)"; fi
    return $status
}

# check_equal TEXT EXPECTED SEEN
check_equal() {
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: expected '$2', seen '$3'"; fi
    [ "$2" = "$3" ]
}

# Milliseconds since boot: in NOW, or on stdout. (A $(...) is a process, and those are slow here.)
read_clock() {
    read -r NOW _ </proc/uptime
    NOW=${NOW%.*}${NOW#*.}0
    NOW=${NOW#0}
}
now_ms() {
    read_clock
    echo "$NOW"
}

# wait_until SECONDS COMMAND...: tries again and again; fails when the time is over. On a slow machine
# (lab run --slow N) the time is N times as long, here and in guest_run.
wait_until() {
    local end
    read_clock
    end=$((NOW + $1 * 1000 * LAB_SLOW))
    shift
    until "$@"; do
        read_clock
        [ "$NOW" -lt $end ] || return 1
        usleep 100000
    done
}

has_size() { [ "$(stat -c %s "$1")" -ge "$2" ]; }

# ---- guests ----------------------------------------------------------------

# What a PVH guest's kernel would look for in vain, with an exit to Xen for each byte: half of its boot
# in emulation. It has no PCI bus, nor a timer chip to measure the time stamp counter by: 6.1 asks that
# chip 100,000 times unless it is told that there is no such counter, until Xen's clock says otherwise
# (lpj: what it would measure instead). 6.12 takes that contradiction for a bug and warns.
PVH_EXTRA='pci=noearly'
case $(uname -r) in
6.1.*) PVH_EXTRA="$PVH_EXTRA clearcpuid=4 lpj=1000000" ;;
esac

# create_guest NAME pv|pvh [KEY=VALUE...]: starts a guest; wait_guest waits for it.
#   memory=MIB (128)  vcpus=N (1)  cpus=LIST (all but dom0's)  extra='kernel arguments'
#   vif=1             a network card on script vif-lab; guest_net gives it an address
#   disk=DEVICE       a block device of dom0 as xvda
#   config='LINE'     any other line of xl.cfg
create_guest() {
    local name=$1 kind=$2 memory=128 vcpus=1 cpus=$LAB_GUEST_CPUS extra='' vif='' disk='' config=''
    local setting
    shift 2
    for setting; do
        case $setting in
        memory=* | vcpus=* | cpus=* | extra=* | vif=* | disk=* | config=*)
            local "$setting" ;;
        *) echo "create_guest: no setting '$setting'" >&2 && return 2 ;;
        esac
    done
    [ "$kind" = pv ] || extra="$PVH_EXTRA $extra"
    [ -z "$vif" ] || modprobe xen-netback
    [ -z "$disk" ] || modprobe xen-blkback
    {
        printf 'name="%s"\ntype="%s"\nmemory=%s\nvcpus=%s\n' "$name" "$kind" "$memory" "$vcpus"
        printf 'kernel="/lab/vmlinux"\nramdisk="/lab/guest.initrd"\n'
        printf 'on_crash="preserve"\non_poweroff="destroy"\non_reboot="destroy"\n'
        [ "$cpus" = all ] || printf 'cpus="%s"\n' "$cpus"
        [ -z "$vif" ] || printf 'vif=["script=vif-lab"]\n'
        printf 'extra="console=hvc0 quiet loglevel=5 watchdog_thresh=60 %s"\n' "$extra"
        [ -z "$disk" ] || printf 'disk=["phy:%s,xvda,w"]\n' "$disk"
        printf '%s\n' "$config"
    } >"/run/lab/$name.cfg"
    rm -f "/run/lab/$name.console"
    timeout $((90 * LAB_SLOW)) xl create -q "/run/lab/$name.cfg" || return
    follow_console "$name"
}

# The console's terminal, drained into a file that guest_run reads. Ends with the domain.
follow_console() {
    local terminal node
    node=/local/domain/$(domain_id "$1")/console/tty
    wait_until 5 xenstore-exists "$node" || return
    terminal=$(xenstore-read "$node")
    echo "$terminal" >"/run/lab/$1.terminal"
    stty -F "$terminal" raw -echo
    cat "$terminal" >>"/run/lab/$1.console" 2>/dev/null &
}

domain_id() { xl domid "$1" 2>/dev/null; }
guest_ready() { grep -q '@ready' "/run/lab/$1.console"; }

# wait_guest NAME [SECONDS]: until the guest takes commands. Its kernel boots in some seconds, in minutes
# where others use the processors too.
wait_guest() {
    wait_until "${2:-180}" guest_ready "$1" && return
    echo "guest $1 did not come up; the last of its console:" >&2
    tail -n 20 "/run/lab/$1.console" >&2
    return 1
}

# guest_run NAME [-t SECONDS] COMMAND: runs COMMAND with sh in the guest; its output (both streams)
# on stdout, its status. 124 when it took longer than SECONDS (30), 125 when the guest is gone.
guest_run() {
    local name=$1 seconds=30
    shift
    if [ "$1" = -t ]; then
        seconds=$2
        shift 2
    fi
    /lab/ask "$name" $((seconds * LAB_SLOW)) "$*"
}

# guest_net NAME: its eth0 gets an address; dom0 is 10.7.ID.1, the guest 10.7.ID.2.
guest_net() {
    local id
    id=$(domain_id "$1")
    guest_run "$1" "modprobe xen-netfront
        until [ -e /sys/class/net/eth0 ]; do usleep 100000; done
        ip address add 10.7.$id.2/24 dev eth0 && ip link set eth0 up"
}

# make_disk: 16 MiB in /tmp/disk, and a block device of dom0 in $disk for create_guest's disk=.
# What the backends' modules take for themselves is there before a leak_mark.
make_disk() {
    modprobe xen-netback
    modprobe xen-blkback
    modprobe loop
    truncate -s 16M /tmp/disk
    disk=$(losetup -f)
    losetup "$disk" /tmp/disk
}

# disk_comes_up NAME: the guest sees it.
disk_comes_up() {
    guest_run "$1" 'modprobe xen-blkfront
        for i in $(seq 20); do [ -b /dev/xvda ] && exit; sleep 1; done; exit 1'
}

# disk_works NAME MIB: what the guest writes is what dom0 reads.
disk_works() {
    local sum
    sum=$(guest_run "$1" -t 60 "head -c ${2}m /dev/urandom >/tmp/data && md5sum </tmp/data &&
        dd if=/tmp/data of=/dev/xvda bs=1M conv=fsync 2>/dev/null") &&
        [ "$sum" = "$(head -c "${2}m" /tmp/disk | md5sum)" ]
}

guest_gone() { ! xl list 2>/dev/null | grep -q "^$1 \|^(null) "; }

# destroy_guest NAME: and waits until Xen holds nothing of it.
destroy_guest() {
    timeout $((30 * LAB_SLOW)) xl destroy "$1" && wait_until 10 guest_gone "$1"
}

# save_guest NAME FILE: the guest goes away, into FILE.
save_guest() { timeout $((120 * LAB_SLOW)) xl save "$1" "$2"; }

# restore_guest NAME FILE [COMMAND...]: COMMAND runs with the new domain's id as its last argument
# while the guest is still paused: the place to write nodes for its devices.
restore_guest() {
    local name=$1 file=$2
    shift 2
    timeout $((120 * LAB_SLOW)) xl restore -p "$file" || return
    follow_console "$name" || return
    [ $# -eq 0 ] || "$@" "$(domain_id "$name")" || return
    xl unpause "$name"
}

# ---- what may be left behind -----------------------------------------------

KERNEL_TROUBLE='WARNING: |BUG: |kernel BUG|Oops|Bad page|rss-counter|possible circular|INFO: task'
KERNEL_TROUBLE="$KERNEL_TROUBLE|general protection|Call Trace|soft lockup|self-detected stall"
KERNEL_TROUBLE="$KERNEL_TROUBLE|refcount_t:|list_(add|del) corruption|Kernel panic|use-after-free"

# dom0's kernel log since this test's start.
dom0_log() { dmesg | awk -v mark="lab: test $LAB_TEST starts" 'index($0, mark) { text = ""; next }
    { text = text $0 "\n" } END { printf "%s", text }'; }

# dmesg_clean: fails, and shows the lines, when dom0's or a guest's kernel complained in this test.
dmesg_clean() {
    ! {
        dom0_log
        cat /var/log/xen/console/guest-*.log 2>/dev/null
    } | grep -E "$KERNEL_TROUBLE"
}

# xenstore_snapshot FILE: all nodes but those that change by themselves, and the folders that xl
# makes with the first domain and keeps.
xenstore_snapshot() {
    xenstore-ls -f / | grep -vE '^(/local/domain/0/memory/.*|/libxl = ""|/vm = "")$' | sort >"$1"
}

# xenstore_compare FILE: fails, and shows the difference, when the nodes are others than in FILE.
xenstore_compare() {
    xenstore_snapshot "$1.now"
    diff "$1" "$1.now"
}

# Xen's answer to a debug key, on stdout.
debug_key() {
    xl dmesg -c >/dev/null
    xl debug-keys "$1"
    xl dmesg
}

# What Xen counts now, one word: domains, grants in use (granted and mapped), dom0's event channels.
resources() {
    printf 'domains=%d grants=%d ports=%d\n' "$(xl list | tail -n +2 | wc -l)" \
        "$(debug_key g | grep -c '^(XEN) \[0x')" \
        "$(debug_key e | awk '/domain 0:/ { on = 1; next } /information for/ { on = 0 }
            on && /s=[1-9]/ { n++ } END { print n + 0 }')"
}

# leak_mark, ..., leak_check: nodes, domains, grants and ports must be as before. 5 s of patience:
# Xen and dom0 give back some things a little later.
leak_mark() {
    xenstore_snapshot /run/lab/leak.nodes
    resources >/run/lab/leak.counts
}

counts_as_before() { [ "$(resources)" = "$(cat /run/lab/leak.counts)" ]; }

leak_check() {
    wait_until 5 counts_as_before || {
        echo "before: $(cat /run/lab/leak.counts), now: $(resources)"
        return 1
    }
    xenstore_compare /run/lab/leak.nodes
}
