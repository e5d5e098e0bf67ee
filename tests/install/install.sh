#!/usr/bin/env bash
# Installs heed into a folder of its own, moves the folder, and builds and runs a program against it.
# Arguments: static or shared, the build folder, the compiler, its launcher (may be empty), flags for it.
# The static libraries are those of the build folder. The shared ones are built inside it for this test, without
# optimization: how they are found and linked is what is tested.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kind=$1 build=$2 compiler=$3 launcher=$4 flags=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() {  # shows what a command said only where it fails
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

same=(-G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags"
      -Ddnnl_DIR="$(sed -n 's/^dnnl_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")")
suffix=a
if [ "$kind" = shared ]; then
  suffix=so build=$build/shared
  quietly cmake -S "$here/../.." -B "$build" "${same[@]}" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DHEED_WARNINGS_AS_ERRORS=ON \
    -DBUILD_SHARED_LIBS=ON -DHEED_TESTS=OFF -DHEED_EXAMPLES=OFF -DHEED_BENCHMARKS=OFF
  quietly cmake --build "$build"
fi

quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/moved"
if [ -e "$work/moved/include/heed/tensor/internal" ]; then
  echo "wanted no internal headers in the installed copy" >&2
  exit 1
fi
for name in tensor autograd nn optim study; do
  if [ -z "$(find "$work/moved" -name "libheed_$name.$suffix")" ]; then
    echo "wanted libheed_$name.$suffix in the installed copy, came $(find "$work/moved" -name 'libheed_*')" >&2
    exit 1
  fi
done
quietly cmake -S "$here/consumer" -B "$work/build" "${same[@]}" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/moved"
quietly cmake --build "$work/build"
"$work/build/consumer"
