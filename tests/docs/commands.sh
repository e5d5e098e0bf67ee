#!/usr/bin/env bash
# What the ```sh blocks of Markdown files name is there: scripts, presets, programs that are built, options of CMake.
# Arguments: the build folder, the files.
set -euo pipefail
build=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)

exists() {
  case $1 in
    ./*) [ -x "$root/$1" ] ;;
    build/*) [ -x "$build/bin/${1##*/}" ] && exists "--preset $(cut -d/ -f2 <<<"$1")" ;;
    --preset*) grep -q "\"name\": \"${1#--preset }\"" "$root/CMakePresets.json" ;;
    -D*) grep -qE "(option\(${1#-D} |\"${1#-D}\":)" "$root/CMakeLists.txt" "$root/CMakePresets.json" ;;
  esac
}

for page in "$@"; do
  awk '/^```/ { inside = $0 == "```sh"; next } inside' "$page" |
    { grep -oE '\./[a-z_/]+\.sh|build/[a-z]+/bin/[a-z_]+|--preset [a-z]+|-D(HEED|BUILD)_[A-Z_]+' || true; } |
    sort -u | while read -r named; do
      exists "$named" || { echo "$page: wanted a thing that exists, came $named" >&2; exit 1; }
    done
done
