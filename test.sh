#!/usr/bin/env bash
# Builds heed and runs every test through CTest: ./test.sh [release|debug|asan|tsan ...], release when none is named.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh

install_packages "${packages[@]}" "${test_packages[@]}"
for preset in "${@:-release}"; do
  build "$preset" -DHEED_TESTS=ON -DHEED_BENCHMARKS=ON
  say "Testing ($preset)"
  ctest --preset "$preset" --parallel "$(nproc)"
done
