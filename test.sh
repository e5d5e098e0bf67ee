#!/usr/bin/env bash
# Builds heed and runs every test through CTest: ./test.sh [release|debug|asan ...], release when none is named.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh

install_packages
for preset in "${@:-release}"; do
  build "$preset"
  say "Testing ($preset)"
  ctest --preset "$preset" --parallel "$(nproc)"
done
