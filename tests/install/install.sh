#!/usr/bin/env bash
# Installs heed into a folder of its own, moves the folder, and builds and runs a program against it.
# Arguments: the build folder, the compiler, flags for the linker.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 compiler=$2 linker_flags=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
if [ -e "$work/moved/include/heed/tensor/internal" ]; then
  echo "wanted no internal headers in the installed copy" >&2
  exit 1
fi
cmake -S "$here/consumer" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_EXE_LINKER_FLAGS="$linker_flags" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/consumer"
