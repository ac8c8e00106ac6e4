#!/usr/bin/env bash
# Builds memwall_gpu so that it runs on a machine that has none of our libraries: tests/gpu/pack.sh [--cubins | --here]
#   (no word)  into tests/gpu/packed, which the machine with the GPU gets beside the tree
#   --cubins   and compiles every kernel of the plan into tests/gpu/packed/cache (minutes)
#   --here     into build-gpu only
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
case ${1:-} in '' | --cubins | --here) ;; *) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;; esac

export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake -S . -B build-gpu "${generator[@]}" "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release -DMEMWALL_GUI=OFF \
    -DMEMWALL_SELF_CONTAINED=ON >/dev/null
cmake --build build-gpu --target memwall_gpu
if [[ ${1:-} == --here ]]; then exit; fi

packed=tests/gpu/packed
mkdir -p "$packed"
cp build-gpu/memwall_gpu "$packed/memwall_gpu"
strip "$packed/memwall_gpu"
if [[ ${1:-} == --cubins ]]; then
    rm -rf "$packed/cache"
    mkdir -p "$packed/cache"
    XDG_CACHE_HOME=$PWD/$packed/cache "$packed/memwall_gpu" rehearse --compile
fi
ldd "$packed/memwall_gpu"
du -sh "$packed"
