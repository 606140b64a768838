# SPDX-License-Identifier: Apache-2.0
# Lays our scripts and the payload over the base images and starts QEMU.

# A kernel bug has to be loud, slowness must not look like one: everything is emulated.
DOM0_CMDLINE='console=hvc0 quiet loglevel=5 log_buf_len=4M panic=-1 watchdog_thresh=60
    rcupdate.rcu_cpu_stall_timeout=120 net.ifnames=0'
XEN_CMDLINE='console=com1 com1=115200,8n1 loglvl=warning guest_loglvl=warning conring_size=4M
    noreboot=0'

# Refuses modules that the lab's kernel would refuse after a boot of half a minute.
check_payload() {
    local module want
    want=$(cat "$BASE/release")
    [ -n "$OPT_PAYLOAD" ] || return 0
    [ -d "$OPT_PAYLOAD/dom0" ] || [ -d "$OPT_PAYLOAD/guest" ] ||
        die "$OPT_PAYLOAD has neither dom0/ nor guest/"
    command -v modinfo >/dev/null || return 0
    while read -r module; do
        [[ $(modinfo -F vermagic "$module") == "$want "* ]] ||
            die "$module is not built for the lab's kernel, $want"
    done < <(find "$OPT_PAYLOAD" -name '*.ko')
}

# prepare_host RUN: dom0's initrd and the shared folder, below RUN.
prepare_host() {
    local run=$1 guest=$1/overlay/lab/guest.initrd
    mkdir -p "$run/overlay/lab" "$run/share/logs"
    # Xen hands QEMU's words on: a name must hold no blank and no comma.
    ln -s "$BASE/xen" "$run/xen"
    ln -s "$BASE/vmlinux" "$run/vmlinux"
    {
        cat "$BASE/guest.cpio"
        cpio_of "$LAB_DIR/image/guest"
        [ ! -d "$OPT_PAYLOAD/guest" ] || cpio_of "$OPT_PAYLOAD/guest"
    } >"$guest"
    cp "$BASE/vmlinux" "$run/overlay/lab/vmlinux"
    write_settings >"$run/overlay/lab/settings"
    {
        cat "$BASE/dom0.cpio"
        cpio_of "$LAB_DIR/image/dom0"
        cpio_of "$run/overlay"
        [ ! -d "$OPT_PAYLOAD/dom0" ] || cpio_of "$OPT_PAYLOAD/dom0"
    } >"$run/initrd"
    rm -rf "$run/overlay"
}

# Variables that the tests see.
write_settings() {
    local pair guest_cpus="$OPT_DOM0_VCPUS-$((OPT_SMP - 1))"
    [ "$OPT_SMP" -gt "$OPT_DOM0_VCPUS" ] || guest_cpus=all
    printf 'export %s=%q\n' LAB_GUESTS "${OPT_GUESTS# }" LAB_GUEST_CPUS "$guest_cpus" \
        LAB_SLOW "$OPT_SLOW"
    for pair in "${OPT_ENV[@]}"; do
        [[ $pair =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || die "--env takes NAME=VALUE, not '$pair'"
        printf 'export %s=%q\n' "${pair%%=*}" "${pair#*=}"
    done
}

# qemu_in RUN ROLE OPTION...: becomes QEMU, working in RUN. ROLE is what dom0's init does: run or shell.
qemu_in() {
    local run=$1 role=$2 dom0_mem=$((OPT_MEM / 2))
    shift 2
    cd "$run" || broken "$run is gone"
    # shellcheck disable=SC2086,SC2116 # the blanks of the command lines are squeezed
    exec "${LAB_QEMU:-qemu-system-x86_64}" -accel tcg,thread=multi,tb-size=512 \
        -cpu qemu64,+svm,+npt,+rdrand,+sse4.1,+sse4.2,+ssse3,+popcnt \
        -m "$OPT_MEM" -smp "$OPT_SMP" -display none -vga none -nic none -no-reboot -no-user-config \
        -virtfs local,path=share,mount_tag=lab,security_model=none \
        -kernel xen -append "$(echo $XEN_CMDLINE dom0_mem=${dom0_mem}M,max:${dom0_mem}M \
            dom0_max_vcpus=$OPT_DOM0_VCPUS dom0_vcpus_pin $OPT_XEN_CMDLINE)" \
        -initrd "vmlinux $(echo $DOM0_CMDLINE lab.role=$role $OPT_CMDLINE),initrd" "$@"
}

lab_shell() {
    parse_options "$@"
    ensure_base
    check_payload
    local run
    run=$(mktemp -d "${TMPDIR:-/tmp}/lab.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$run'" EXIT
    prepare_host "$run"
    say "Xen starts; the shell is dom0's. 'exit' or Ctrl-a x ends it."
    (qemu_in "$run" shell -serial mon:stdio)
}
