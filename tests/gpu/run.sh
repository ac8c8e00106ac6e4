#!/usr/bin/env bash
# Measures on the NVIDIA H200 that is here: tests/gpu/run.sh [MINUTES] [--from FOLDER] [--dry-run [--compile]]
#   MINUTES        for everything (14)
#   --from FOLDER  go on from the results.jsonl of an earlier run, cut off or not
#   --dry-run      print the plan, read and fit every case, compile some (--compile: all), run some under glass
# Results go to $OUT, or tests/gpu/results-DATE. Exit codes: 0 done, 2 bad input, 4 no GPU here.
set -euo pipefail
start=$SECONDS
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=tests/gpu

say() { printf 'gpu: %s\n' "$*" >&2; }

minutes=14 from='' dry='' compile=''
while (($#)); do
    case $1 in
        --from) from=${2:?--from needs a folder} && shift ;;
        --dry-run) dry=yes ;;
        --compile) compile=--compile ;;
        [0-9]*) minutes=$1 ;;
        *) sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
    esac
    shift
done

# The program: packed by pack.sh, or built here before, or built now.
program=''
for candidate in "$here/packed/memwall_gpu" build/memwall_gpu build-gpu/memwall_gpu; do
    if [[ -x $candidate ]] && "$candidate" --cases "$here/cases" plan >/dev/null 2>&1; then program=$candidate && break; fi
done
if [[ -z $program ]]; then
    say "building memwall_gpu (tests/gpu/pack.sh does so beforehand)"
    "$here/pack.sh" --here >&2
    program=build-gpu/memwall_gpu
fi
gpu() { "$program" --cases "$here/cases" "$@"; }
if [[ -d $here/packed/cache ]]; then export XDG_CACHE_HOME=$PWD/$here/packed/cache; fi  # cubins made beforehand

if [[ -n $dry ]]; then
    gpu plan
    # shellcheck disable=SC2086  # a word or none
    gpu rehearse --seconds 30 $compile
    exit
fi

out=${OUT:-$here/results-$(date -u +%Y%m%d-%H%M)}
mkdir -p "$out"
if [[ -n $from ]]; then
    cp "$from/results.jsonl" "$out/results.jsonl"
    chmod u+w "$out/results.jsonl"
fi
seconds=$((minutes * 60))
left() { echo $((seconds - (SECONDS - start) - ${1:-0})); }

# campaign ARG...: runs the steps, again after a case that ended the process (twelve times at most).
campaign() {
    local status tries
    for ((tries = 0; tries < 12; tries++)); do
        status=0
        timeout -k 5 $(($(left) + 20)) "$program" --cases "$here/cases" run "$out" --seconds "$@" || status=$?
        case $status in
            0 | 2 | 4) return $status ;;
            *) say "the process ended with $status; the next goes on" ;;
        esac
        (($(left "$reserve") > 10)) || return 0
        set -- "$(left "$reserve")" "${@:2}"
    done
}

log=$out/log.txt
exec 3>&2 2> >(tee -a "$log" >&3)
report() { gpu report "$out" && cat "$out/numbers.md"; }
trap 'report || true' EXIT

reserve=$((seconds / 6 + 10))  # for the rivals and the report
status=0
campaign "$(left "$reserve")" || status=$?
if ((status == 4 || status == 2)); then
    trap - EXIT
    rmdir "$out" 2>/dev/null || { [[ -n $from ]] || rm -f "$out/log.txt" "$out/results.jsonl"; rmdir "$out" 2>/dev/null || true; }
    exit $status
fi
reserve=10
budget=$(($(left "$reserve") < seconds / 6 ? $(left "$reserve") : seconds / 6))
timeout -k 5 $((budget + 15)) python3 "$here/rivals.py" --program "$program" --cases "$here/cases" --out "$out" \
    --seconds "$budget" >&2 || say "rivals.py ended with $?"
if (($(left "$reserve") > 15)); then campaign "$(left "$reserve")" --no-shares || true; fi
say "$((SECONDS - start)) s in all; results in $out"
