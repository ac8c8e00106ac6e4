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
        --from)
            if [[ ! -f ${2:-}/results.jsonl ]]; then say "--from: expected a folder with results.jsonl" && exit 2; fi
            from=$2 && shift
            ;;
        --dry-run) dry=yes ;;
        --compile) compile=--compile ;;
        [1-9] | [1-9][0-9] | [1-9][0-9][0-9]) minutes=$1 ;;
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

gpu here || exit  # 4: there is no H200

out=${OUT:-$here/results-$(date -u +%Y%m%d-%H%M)}
mkdir -p "$out"
if [[ -n $from ]]; then
    cp "$from/results.jsonl" "$out/results.jsonl"
    chmod u+w "$out/results.jsonl"
fi
seconds=$((minutes * 60))
rivals=$((seconds / 6))  # for the rivals
reserve=$((rivals + 10))
left() { echo $((seconds - (SECONDS - start) - reserve)); }

# campaign ARG...: runs steps, again after a case that ended the process (twelve times at most).
campaign() {
    local status tries
    for ((tries = 0; tries < 12 && $(left) > 5; tries++)); do
        status=0
        timeout -k 5 $(($(left) + 20)) "$program" --cases "$here/cases" run "$out" --seconds "$(left)" \
            --of "$seconds" "$@" || status=$?
        ((status)) || return 0
        say "the process ended with $status; the next goes on"
    done
}

exec 3>&2 2> >(tee -a "$out/log.txt" >&3)
trap 'gpu report "$out" && cat "$out/numbers.md"' EXIT

# The counters have processes of their own: what a profiler leaves behind is in no time.
for steps in check,sanitize counters constants bytes time,sweep,train,mask,log; do campaign --steps "$steps"; done
reserve=10
budget=$(($(left) < rivals ? $(left) : rivals))
timeout -k 5 $((budget + 15)) python3 "$here/rivals.py" --program "$program" --cases "$here/cases" --out "$out" \
    --seconds "$budget" >&2 || say "rivals.py ended with $?"
for steps in check,sanitize counters constants bytes time,sweep,train,mask,log; do
    campaign --steps "$steps" --no-shares
done
say "$((SECONDS - start)) s in all; results in $out"
