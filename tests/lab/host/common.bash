# SPDX-License-Identifier: Apache-2.0
# What every command of the lab needs: messages, the cache, the options.

say() { printf 'lab: %s\n' "$*"; }

# Wrong use: exit status 2.
die() {
    printf 'lab: %s\n' "$*" >&2
    exit 2
}

# The lab itself is at fault, not a test: exit status 3.
broken() {
    printf 'lab: %s\n' "$*" >&2
    exit 3
}

need_tool() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || broken "$tool is missing (make deps installs it)"
    done
}

# cpio_of DIR FILE...: a newc archive of FILEs (all of DIR without any) on stdout, owned by root.
cpio_of() {
    local dir=$1
    shift
    if [ $# -eq 0 ]; then set -- .; fi
    (cd "$dir" && find "$@" -print0 | LC_ALL=C sort -z |
        cpio --null --quiet --create --format=newc --owner=0:0)
}

# Options are the same for several commands; unknown ones end the program.
# Sets the OPT_ variables and ARGS, the arguments that are no options.
# shellcheck disable=SC2034 # used by the other files
parse_options() {
    OPT_KERNEL=6.1 OPT_MEM=3072 OPT_SMP=2 OPT_DOM0_VCPUS=1 OPT_SLOW=1 OPT_TIMEOUT='' OPT_PAYLOAD=''
    OPT_LOGS='' OPT_CMDLINE='' OPT_XEN_CMDLINE='' OPT_GUESTS='' OPT_ENV=() ARGS=()
    while [ $# -gt 0 ]; do
        case $1 in
        --) shift && ARGS+=("$@") && break ;;
        --help | -h) usage && exit 0 ;;
        --*) [ $# -ge 2 ] || die "$1 needs a value" ;;&
        --kernel) OPT_KERNEL=$2 && shift ;;
        --mem) OPT_MEM=$2 && shift ;;
        --smp) OPT_SMP=$2 && shift ;;
        --dom0-vcpus) OPT_DOM0_VCPUS=$2 && shift ;;
        --slow) OPT_SLOW=$2 && shift ;;
        --timeout) OPT_TIMEOUT=$2 && shift ;;
        --payload) OPT_PAYLOAD=$2 && shift ;;
        --keep-logs) OPT_LOGS=$2 && shift ;;
        --cmdline) OPT_CMDLINE=$2 && shift ;;
        --xen-cmdline) OPT_XEN_CMDLINE=$2 && shift ;;
        --guest) OPT_GUESTS="$OPT_GUESTS $2" && shift ;;
        --env) OPT_ENV+=("$2") && shift ;;
        --*) die "no option '$1' (lab --help tells)" ;;
        *) ARGS+=("$1") ;;
        esac
        shift
    done
    OPT_GUESTS=${OPT_GUESTS:-pv pvh}
    check_options
}

check_options() {
    local number guest
    for number in "$OPT_MEM" "$OPT_SMP" "$OPT_DOM0_VCPUS" "$OPT_SLOW" "${OPT_TIMEOUT:-1}"; do
        [[ $number =~ ^[1-9][0-9]*$ ]] || die "'$number' is no positive number"
    done
    for guest in $OPT_GUESTS; do
        [[ $guest == pv || $guest == pvh ]] || die "--guest is pv or pvh, not '$guest'"
    done
    [[ $OPT_KERNEL == 6.1 || $OPT_KERNEL == 6.12 ]] || die "--kernel is 6.1 or 6.12"
    [ -z "$OPT_PAYLOAD" ] || [ -d "$OPT_PAYLOAD" ] || die "no folder '$OPT_PAYLOAD'"
    [ "$OPT_DOM0_VCPUS" -le "$OPT_SMP" ] || die "--dom0-vcpus is more than --smp"
}

# ---- the base images -------------------------------------------------------

kernel_release() {
    local meta=linux-image-amd64 name
    [ "$OPT_KERNEL" = 6.1 ] || meta=linux-image-$OPT_KERNEL-amd64
    name=$(apt-cache depends "$meta" 2>/dev/null | sed -n 's/.*Depends: linux-image-//p' | head -n 1)
    [ -n "$name" ] || broken "apt knows no $meta (apt-get update first?)"
    printf '%s\n' "$name"
}

base_packages() {
    sed 's/ *#.*//; /^$/d' "$LAB_DIR/packages.list"
    printf 'linux-image-%s\n' "$(kernel_release)"
}

# Where the base images are or will be: the name says what they were made from.
base_path() {
    if [ -n "${LAB_BASE:-}" ]; then
        printf '%s\n' "$LAB_BASE"
        return
    fi
    local packages key
    packages=$(base_packages) || exit
    # shellcheck disable=SC2086 # a list of names
    key=$({
        cat "$LAB_DIR/host/build.bash" "$LAB_DIR"/console/*
        apt-cache policy $packages | grep -E '^[a-z]|Candidate'
    } | sha256sum | cut -c 1-16)
    printf '%s/lab-%s-%s\n' "${VCUDA_CACHE:-$HOME/.cache/vcuda}" "$OPT_KERNEL" "$key"
}

# The base images, made if they are not there yet.
ensure_base() {
    BASE=$(base_path)
    if [ ! -e "$BASE/complete" ]; then
        . "$LAB_DIR/host/build.bash"
        (lab_build --kernel "$OPT_KERNEL")
    fi
}

lab_info() {
    parse_options "$@"
    local base
    base=$(base_path)
    [ -e "$base/complete" ] || die "not built yet: $base"
    printf 'base    %s\nkernel  %s\n' "$base" "$(cat "$base/release")"
    (cd "$base" && du -h --apparent-size xen vmlinuz dom0.cpio guest.cpio)
}
