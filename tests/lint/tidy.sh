#!/usr/bin/env bash
# clang-tidy has nothing to say about our sources. Arguments: the build folder (its compile_commands.json), and the
# sources if not all of them.
set -euo pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
if [ $# -eq 0 ]; then
  mapfile -t sources < <(git ls-files -- 'tensor/*.cpp' 'autograd/*.cpp' 'nn/*.cpp' 'optim/*.cpp' 'study/*.cpp' \
    'examples/*.cpp')
  set -- "${sources[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$build" --quiet 2> >(grep -v 'warnings generated' >&2)
