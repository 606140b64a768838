# SPDX-License-Identifier: Apache-2.0
# `lab pack`: the lab in one folder that runs where neither QEMU nor a matching C library is: any
# x86-64 Linux with bash and coreutils. One compressed bundle, unpacked at the first use.

QEMU_MODULE=/usr/lib/x86_64-linux-gnu/qemu/accel-tcg-x86_64.so
QEMU_FIRMWARE=(/usr/share/seabios/bios-256k.bin /usr/share/qemu/{kvmvapic,multiboot_dma}.bin)

lab_pack() {
    parse_options "$@"
    [ ${#ARGS[@]} -eq 1 ] || die "pack where? (one folder)"
    need_tool qemu-system-x86_64 cpio xz ldd
    ensure_base
    local out=${ARGS[0]} tree
    mkdir -p "$out"
    tree=$(mktemp -d "$out/tree.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$tree'" EXIT
    mkdir -p "$tree"/{base,bin,lib,programs,firmware}
    cp "$BASE"/{xen,vmlinux,dom0.cpio,guest.cpio,release,complete} "$tree/base/"
    cp -L "${QEMU_FIRMWARE[@]}" "$tree/firmware/"
    cp -L "$QEMU_MODULE" "$tree/lib/"
    # shellcheck disable=SC2016 # the wrapper's variable
    wrap_program "$tree" qemu-system-x86_64 '-L "$here/firmware"'
    wrap_program "$tree" cpio
    cp -r "$LAB_DIR"/{lab,host,image,tests} "$tree/"
    say "compressing $(du -sh "$tree" | cut -f1)"
    tar -C "$tree" -c . | xz -T2 -6 >"$out/bundle.tar.xz"
    extract_busybox "$out/busybox"
    write_starter "$out/lab"
    rm -rf "$tree"
    trap - EXIT
    say "$out has the lab ($(du -sh "$out" | cut -f1)): $out/lab run ..."
}

# wrap_program TREE NAME [ARGUMENTS]: the program with all its libraries and their own loader.
wrap_program() {
    local tree=$1 path library
    path=$(command -v "$2")
    cp -L "$path" "$tree/programs/"
    ldd "$path" | grep -oE '/[^ )]+' | while read -r library; do cp -nL "$library" "$tree/lib/"; done
    cat >"$tree/bin/$2" <<END
#!/bin/sh
here=\$(dirname "\$(dirname "\$0")")
export QEMU_MODULE_DIR="\$here/lib"
exec "\$here/lib/ld-linux-x86-64.so.2" --library-path "\$here/lib" \\
    "\$here/programs/$2" ${3:-} "\$@"
END
    chmod +x "$tree/bin/$2"
}

# The static busybox of the base image: it unpacks the bundle where there is no xz.
extract_busybox() {
    cpio --quiet -i --to-stdout usr/bin/busybox <"$BASE/dom0.cpio" >"$1"
    chmod +x "$1"
}

write_starter() {
    cat >"$1" <<'END'
#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Starts the packed lab; unpacks it first when that has not been done.
set -euo pipefail
pack=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
tree=${LAB_UNPACKED:-$pack/unpacked}
if [ "$pack/bundle.tar.xz" -nt "$tree/complete" ]; then
    rm -rf "$tree"
    mkdir -p "$tree"
    "$pack/busybox" tar -xJf "$pack/bundle.tar.xz" -C "$tree"
    touch "$tree/complete"
fi
export LAB_BASE=$tree/base LAB_QEMU=$tree/bin/qemu-system-x86_64 PATH=$tree/bin:$PATH
exec "$tree/lab" "$@"
END
    chmod +x "$1"
}
