# SPDX-License-Identifier: Apache-2.0
# Makes the base images out of Debian's packages: what never changes between two runs.
# Our own scripts and the payload are laid over them at each run (boot.bash).

# Programs of dom0; the libraries they need are found by themselves.
DOM0_PROGRAMS=(
    usr/lib/xen-4.17/bin/{xl,xenstored,xenconsoled,xenconsole,xen-init-dom0,libxl-save-helper}
    usr/lib/xen-4.17/bin/{lsevtchn,xentrace,xentrace_setsize,xenstore-control,xenctx,xen-diag}
)
XENSTORE_NAMES=(chmod exists list ls read rm watch write)
# Programs built on the developer's machine must find these too.
COMMON_LIBRARIES=(
    libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libgcc_s.so.1 libstdc++.so.6
    libxenstore.so.4 ld-linux-x86-64.so.2
)
DOM0_MODULES=(
    xen-evtchn xen-privcmd xenfs xen-gntdev xen-gntalloc xen-netback xen-blkback loop
    virtio_pci 9pnet_virtio 9p
)
GUEST_MODULES=(
    xen-evtchn xen-privcmd xenfs xen-gntdev xen-gntalloc xen-netfront xen-blkfront
)

lab_build() {
    parse_options "$@"
    local base
    base=$(base_path)
    if [ -e "$base/complete" ]; then
        say "base images are in $base"
        return
    fi
    need_tool apt-get dpkg-deb depmod readelf cpio zstd xz
    mkdir -p "$(dirname "$base")"
    exec {build_lock}>"$base.lock"
    flock "$build_lock"
    [ -e "$base/complete" ] || build_base "$base"
}

build_base() {
    local base=$1 work packages kernel
    work=$(mktemp -d "$base.XXXXXX")
    # shellcheck disable=SC2064 # the folder's name as it is now
    trap "rm -rf '$work'" EXIT
    packages=$(base_packages)
    kernel=$(kernel_release)
    say "fetching $(wc -w <<<"$packages") packages, kernel $kernel"
    # shellcheck disable=SC2086 # a list of names
    fetch_pool "$work" $packages
    say "making the images"
    make_kernels "$work" "$kernel"
    make_dom0 "$work" "$kernel"
    make_guest "$work" "$kernel"
    rm -rf "$work/pool" "$work/debs" "$work/dom0" "$work/guest"
    printf '%s\n' "$kernel" >"$work/release"
    touch "$work/complete"
    rm -rf "$base"
    mv "$work" "$base"
    trap - EXIT
    say "base images are in $base ($(du -sh "$base" | cut -f1))"
}

fetch_pool() {
    local work=$1 deb
    shift
    mkdir "$work/debs" "$work/pool"
    (cd "$work/debs" && apt-get -q -o APT::Sandbox::User=root download "$@" >log 2>&1) || {
        cat "$work/debs/log" >&2
        broken "apt-get could not fetch the packages"
    }
    for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/pool"; done
    # Debian 12 merged /lib and /usr/lib; packages still ship files in either.
    mkdir -p "$work/pool/usr/lib" "$work/pool/usr/bin" "$work/pool/usr/sbin"
    local dir
    for dir in lib bin sbin; do
        [ ! -d "$work/pool/$dir" ] || cp -al "$work/pool/$dir/." "$work/pool/usr/$dir/"
    done
}

make_kernels() {
    local work=$1 kernel=$2
    gunzip -c "$work/pool/boot/xen-4.17-amd64.gz" >"$work/xen"
    cp "$work/pool/boot/vmlinuz-$kernel" "$work/vmlinuz"
    unpack_kernel "$work/vmlinuz" "$work/vmlinux"
}

# unpack_kernel BZIMAGE ELF: by the boot protocol's header. Under emulation, Xen and xl would
# spend seconds on what takes one here.
unpack_kernel() {
    local sectors offset length
    sectors=$(od -An -tu1 -j$((0x1f1)) -N1 "$1")
    offset=$(od -An -tu4 -j$((0x248)) -N4 "$1")
    length=$(($(od -An -tu4 -j$((0x24c)) -N4 "$1")))
    head -c $(((sectors + 1) * 512 + offset + length)) "$1" | tail -c "$length" >"$2.packed"
    case $(od -An -tx1 -N4 "$2.packed" | tr -d ' ') in
    fd377a58) xz -dc --single-stream <"$2.packed" >"$2" ;;
    28b52ffd) zstd -qdc <"$2.packed" >"$2" 2>/dev/null || [ -s "$2" ] ;;
    *) broken "the kernel is compressed in a way this lab does not know" ;;
    esac
    rm "$2.packed"
}

# install_file POOL ROOT PATH: one file with its folders.
install_file() {
    install -D -m "$(stat -Lc %a "$1/$3")" "$1/$3" "$2/$3"
}

# install_library POOL ROOT NAME: a library and, in turn, all that it needs.
install_library() {
    local pool=$1 root=$2 name=$3 dir=usr/lib/x86_64-linux-gnu
    [ ! -e "$root/$dir/$name" ] || return 0
    [ -e "$pool/$dir/$name" ] || broken "$name is in none of the packages of packages.list"
    install_file "$pool" "$root" "$dir/$name"
    install_needed "$pool" "$root" "$dir/$name"
}

install_needed() {
    local name
    for name in $(readelf -d "$1/$3" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        install_library "$1" "$2" "$name"
    done
}

# What both images have: folders, busybox, libraries.
make_common() {
    local pool=$1 root=$2 name
    mkdir -p "$root"/{dev,proc,sys,run,tmp,root,mnt,etc,var,lab,usr/bin,usr/lib/x86_64-linux-gnu}
    ln -s usr/bin "$root/bin"
    ln -s usr/bin "$root/sbin"
    ln -s bin "$root/usr/sbin"
    ln -s usr/lib "$root/lib"
    ln -s usr/lib64 "$root/lib64"
    ln -s /run "$root/var/run"
    mkdir "$root/usr/lib64"
    ln -s ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 "$root/usr/lib64/"
    install -m 755 "$pool/usr/bin/busybox" "$root/usr/bin/busybox"
    for name in $("$pool/usr/bin/busybox" --list); do
        ln -s busybox "$root/usr/bin/$name" 2>/dev/null || true
    done
    for name in "${COMMON_LIBRARIES[@]}"; do install_library "$pool" "$root" "$name"; done
    install_program "$pool" "$root" usr/bin/xenstore
    install_program "$pool" "$root" usr/bin/flock
    for name in "${XENSTORE_NAMES[@]}"; do ln -s xenstore "$root/usr/bin/xenstore-$name"; done
}

# install_program POOL ROOT PATH: with its libraries, and in place of busybox's link.
install_program() {
    rm -f "$2/$3"
    install_file "$@"
    install_needed "$@"
}

# install_modules POOL ROOT KERNEL MODULE...: the modules and those they depend on.
install_modules() {
    local pool=$1 root=$2 kernel=$3 tree=usr/lib/modules/$3 module path
    shift 3
    [ -e "$pool/$tree/modules.dep" ] || depmod -b "$pool/usr" "$kernel"
    mkdir -p "$root/$tree"
    for module; do
        modprobe -d "$pool/usr" -S "$kernel" --show-depends "$module" 2>/dev/null ||
            broken "kernel $kernel has no module $module"
    done | awk '$1 == "insmod" { print $2 }' | sort -u | while read -r path; do
        install -D -m 644 "$path" "$root/$tree/${path#"$pool/$tree/"}"
    done
    find "$root/$tree" -name '*.xz' -exec xz -d {} +
    cp "$pool/$tree"/modules.{builtin,builtin.modinfo,order} "$root/$tree/"
    depmod -b "$root/usr" "$kernel"
    find "$root/$tree" -maxdepth 1 -type f ! -name modules.dep ! -name modules.alias -delete
}

# build_console NAME ROOT: a program of console/, to ROOT/lab; static, so that it starts fast.
build_console() {
    # shellcheck disable=SC2086 # CC may be two words
    ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -static -s -o "$2/lab/$1" \
        "$LAB_DIR/console/$1.c" || broken "console/$1.c does not build (a C compiler is needed)"
}

make_dom0() {
    local work=$1 kernel=$2 program root=$1/dom0
    make_common "$work/pool" "$root"
    mkdir -p "$root"/{etc/xen/scripts,var/lib/xen,var/lib/xenstored,var/log}
    for program in "${DOM0_PROGRAMS[@]}"; do install_program "$work/pool" "$root" "$program"; done
    install_modules "$work/pool" "$root" "$kernel" "${DOM0_MODULES[@]}"
    build_console ask "$root"
    cpio_of "$root" >"$work/dom0.cpio"
}

make_guest() {
    local work=$1 kernel=$2 root=$1/guest
    make_common "$work/pool" "$root"
    install_modules "$work/pool" "$root" "$kernel" "${GUEST_MODULES[@]}"
    build_console agent "$root"
    cpio_of "$root" >"$work/guest.cpio"
}
