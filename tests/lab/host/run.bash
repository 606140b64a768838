# SPDX-License-Identifier: Apache-2.0
# `lab run`: boots, follows the results while they come, ends QEMU within the bound, sums up.

# add_test PATH: one script into TESTS, its bound (a line "# bound: SECONDS") into BOUNDS.
add_test() {
    local path=$1 bound
    [ -f "$path" ] || path=$LAB_DIR/tests/$1.sh
    [ -f "$path" ] || die "no test '$1'"
    bound=$(sed -n 's/^# bound: \([0-9]*\)$/\1/p' "$path" | head -n 1)
    TESTS+=("$path")
    BOUNDS+=("$((${bound:-60} * OPT_SLOW))")
}

collect_tests() {
    local argument name
    TESTS=() BOUNDS=()
    [ $# -gt 0 ] || die "run what? (names, scripts or lists)"
    for argument; do
        if [[ $argument == *.list ]]; then
            [ -f "$argument" ] || die "no list '$argument'"
            while read -r name; do
                if [ -f "$(dirname "$argument")/$name" ]; then
                    name=$(dirname "$argument")/$name
                fi
                add_test "$name"
            done < <(sed 's/ *#.*//; /^$/d' "$argument")
        else
            add_test "$argument"
        fi
    done
}

# place_tests RUN: the scripts and their list, for dom0.
place_tests() {
    local i name
    mkdir -p "$1/overlay/lab/tests"
    for i in "${!TESTS[@]}"; do
        name=$(basename "${TESTS[i]}" .sh)
        cp "${TESTS[i]}" "$1/overlay/lab/tests/$name.sh"
        printf '%s %s\n' "$name" "${BOUNDS[i]}"
    done >"$1/overlay/lab/tests.list"
}

# follow RUN QEMU BOUND: shows new results each second until QEMU ends; ends it, by its id, when the
# bound is over or when a test or the boot has long been silent. ENDED says why.
follow() {
    local run=$1 qemu=$2 bound=$3 shown=0 quiet_until=$((SECONDS + 90 * OPT_SLOW)) lines
    ENDED=''
    while kill -0 "$qemu" 2>/dev/null; do
        sleep 0.5
        lines=$(wc -l <"$run/share/results")
        if [ "$lines" -gt "$shown" ]; then
            show "$run" "$shown" "$lines"
            shown=$lines
            quiet_until=$((SECONDS + 60 + $(current_bound "$run")))
        fi
        if [ $SECONDS -ge "$bound" ]; then
            ENDED="the run's bound of $bound s is over"
        elif [ $SECONDS -ge $quiet_until ]; then
            ENDED="dom0 has been silent for too long"
        else
            continue
        fi
        kill -9 "$qemu" || true # it may just have ended by itself
        break
    done
    wait "$qemu" 2>/dev/null || true
    lines=$(wc -l <"$run/share/results")
    [ "$lines" -le "$shown" ] || show "$run" "$shown" "$lines"
}

# The bound of the test that runs now.
current_bound() {
    local bound
    bound=$(sed -n 's/^# test .* bound \([0-9]*\) s$/\1/p' "$1/share/results" | tail -n 1)
    echo "${bound:-30}"
}

show() {
    sed -n "$(($2 + 1)),$3p" "$1/share/results" | while IFS= read -r line; do
        printf '[%4ds] %s\n' "$SECONDS" "$line"
    done
}

# The test that had started and not ended when dom0 went silent.
unfinished_test() {
    awk '/^# test .* starts/ { name = $3 } /^# test .* ends/ { name = "" } END { print name }' "$1"
}

# complete_results RUN: what a dead dom0 could not write itself.
complete_results() {
    local results=$1/share/results name why=${ENDED:-dom0 went down}
    grep -q '^# all tests ran$' "$results" && return
    name=$(unfinished_test "$results")
    [ -n "$name" ] || return 0
    printf 'not ok %s - %s\n' "$name" "$why" | tee -a "$results"
}

count() { grep -cE "^$1 " "$2" || true; }

# Why a run came to no end, from the serial console.
show_last_words() {
    printf 'lab: the last lines of the console:\n'
    tail -n 25 "$1/share/logs/console.log" | sed 's/^/    /'
}

lab_run() {
    parse_options "$@"
    collect_tests "${ARGS[@]}"
    ensure_base
    check_payload
    local run bound=$((90 * OPT_SLOW)) i qemu status=0
    run=$(mktemp -d "${TMPDIR:-/tmp}/lab.XXXXXX")
    for i in "${BOUNDS[@]}"; do bound=$((bound + i)); done
    bound=${OPT_TIMEOUT:-$bound}
    place_tests "$run"
    mkdir -p "$run/share/logs"
    : >"$run/share/results"
    prepare_host "$run"
    say "Xen boots with kernel $(cat "$BASE/release"); ${#TESTS[@]} test(s), bound $bound s"
    SECONDS=0
    (qemu_in "$run" run -monitor none -serial file:share/logs/console.log) >"$run/qemu.log" 2>&1 &
    qemu=$!
    # shellcheck disable=SC2064 # an interrupted run leaves no QEMU behind
    trap "kill -9 $qemu 2>/dev/null || true; rm -rf '$run'" EXIT
    follow "$run" "$qemu" "$bound"
    trap - EXIT
    finish "$run" || status=$?
    return $status
}

# finish RUN: summary, logs, exit status.
finish() {
    local run=$1 results=$1/share/results status=0 failed summary
    cat "$run/qemu.log"
    complete_results "$run"
    failed=$(count 'not ok' "$results")
    if ! grep -q '^# all tests ran$' "$results"; then
        [ -z "$ENDED" ] || say "QEMU was ended: $ENDED"
        show_last_words "$run"
        status=3
    fi
    [ "$failed" -eq 0 ] || status=1
    summary="$(count ok "$results") passed, $failed failed, $(count skip "$results") skipped"
    store_logs "$run" "$status"
    say "$summary"
    return "$status"
}

store_logs() {
    local run=$1
    cp "$run/share/results" "$run/share/logs/results"
    if [ -n "$OPT_LOGS" ]; then
        mkdir -p "$OPT_LOGS"
        cp -r "$run/share/logs/." "$OPT_LOGS/"
        say "logs are in $OPT_LOGS"
    elif [ "$2" -ne 0 ]; then
        say "logs are in $run/share/logs"
        rm -f "$run/initrd"
        return
    fi
    rm -rf "$run"
}
