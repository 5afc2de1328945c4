# shellcheck shell=bash disable=SC2154 # whoever sources it sets $ran, and fail()
# Runs the manual's lines: tests/packages and tests/containers source this file. The folder is that of the source.
# SPDX-License-Identifier: Apache-2.0

# block PAGE HEADING N: prints the Nth block of shell lines below a heading. Of tabs, it sees only the one named $tab.
block() {
    in_tab "docs/$1" | awk -v heading="$2" -v wanted="$3" '
        /^```/ { fenced = !fenced; printing = fenced && here && $0 == "```sh" && ++count == wanted; next }
        !fenced && /^#/ { here = $0 == heading }
        printing'
}
in_tab() {
    awk -v tab="${tab-}" '
        /^<!-- tabs -->$/ { in_tabs = 1; next }
        /^<!-- \/tabs -->$/ { in_tabs = 0; next }
        in_tabs && /^#### / { shown = substr($0, 6) == tab; next }
        !in_tabs || shown' "$1"
}

# run_block PAGE HEADING N [COMMAND…]: runs it in folder $in, or here; COMMAND… starts its shell. $edit is for sed: what
# readers put in place of an example.
# The file $ran gets a line for it.
run_block() {
    local lines
    lines=$(block "$1" "$2" "$3" | sed "${edit-}")
    [ -n "$lines" ] || fail "docs/$1 has no block $3 below \"$2\""
    printf '%s: %s: %s\n' "$1" "$2" "$3" >>"$ran"
    printf '== docs/%s: %s\n%s\n' "$1" "$2" "$lines" >&2
    shift 3
    (cd "${in-.}" && "$@" bash -euo pipefail -c "$lines")
}

# ran_all_blocks PAGE [HEADING]: every block of docs/PAGE, or of what follows the heading, was run.
ran_all_blocks() {
    local all run
    all=$(sed -n "/^${2-}/,\$p" "docs/$1" | grep -c '^```sh$')
    run=$(grep "^$1: " "$ran" | sort -u | wc -l)
    [ "$all" = "$run" ] || fail "$run of the $all blocks of docs/$1 were run"
}

# until_it COMMAND…: tries for two minutes; then `explain` prints what may tell why.
until_it() {
    local tries=0 output
    output=$(mktemp)
    until "$@" >"$output" 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 240 ] || { cat "$output"; explain; fail "without success: $*"; }
        sleep 0.5
    done
    rm "$output"
}

# visit URL: opens a page in a Chromium of its own, which runs until `end_visit`.
visit() {
    profile=$(mktemp -d)
    chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$profile" "$1" >"$profile/log" 2>&1 &
    browser=$!
}
end_visit() {
    kill "$browser"
    wait "$browser" || true
    until_it rm -rf "$profile" # its other processes end a little later, and write until then
}
