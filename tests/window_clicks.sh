#!/usr/bin/env bash
# Real clicks in a real window: welcome card, first lesson, its first question; the answer must reach the journal.
# usage: window_clicks.sh PROGRAM    (needs DISPLAY and xdotool; says what went wrong and exits 1)
set -euo pipefail
program=$1
home=$(mktemp -d)
export XDG_STATE_HOME=$home/state XDG_CONFIG_HOME=$home/config XDG_CACHE_HOME=$home/cache XDG_DATA_HOME=$home/data
export LANG=C.UTF-8
"$program" >"$home/out" 2>&1 &
lab=$!
trap 'kill "$lab" 2>/dev/null || true; wait "$lab" 2>/dev/null || true; rm -rf "$home"' EXIT

fail() {
    echo "window_clicks: $1" >&2
    cat "$home/out" >&2
    exit 1
}

window=''
for _ in $(seq 100); do
    window=$(xdotool search --onlyvisible --pid "$lab" 2>/dev/null | tail -1 || true)
    [[ -n $window ]] && break
    kill -0 "$lab" 2>/dev/null || fail "the lab ended before its window was there"
    sleep 0.2
done
[[ -n $window ]] || fail "no window within 20 s"
eval "$(xdotool getwindowgeometry --shell "$window")" # WIDTH HEIGHT X Y
sleep 2

# click PATTERN OPTION...: the middle of the box whose text fits, in a picture of the same size and state.
click() {
    local box left top right bottom
    "$program" screenshot "${@:2}" --size "${WIDTH}x$HEIGHT" -o "$home/seen.png" --text "$home/seen.txt"
    box=$(grep -- "$1" "$home/seen.txt" | tail -1) || fail "nothing fits \"$1\" to click on in: ${*:2}"
    read -r left top right bottom _ <<<"$box"
    xdotool mousemove --window "$window" $(((left + right) / 2)) $(((top + bottom) / 2))
    sleep 0.5
    xdotool click 1
    sleep 1.5
}

click ' Learn$' --welcome
click ' The memory wall$' --view learn
click ' Next$' --lesson 1 --step 1
click ' d$' --lesson 1 --step 2
click ' Lock in$' --lesson 1 --step 2
journal=$XDG_STATE_HOME/memwall/lessons.jsonl
for _ in $(seq 50); do
    grep -qs '"ridge"' "$journal" && break
    sleep 0.2
done
grep -s '"ridge"' "$journal" || fail "no answer reached the journal"
