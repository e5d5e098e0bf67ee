#!/usr/bin/env bash
# Builds heed (Release), trains a small English-French translator and asks it for translations.
# Arguments go to `translate train`, as in ./run.sh --model bahdanau
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh

install_packages "${packages[@]}"
build release -DHEED_TESTS=OFF -DHEED_BENCHMARKS=OFF

translate=build/release/bin/translate
out=${HEED_OUT:-out/translator}
say "Training on the embedded corpus"
"$translate" train --out "$out" "$@"
say "Now ask it yourself, as in"
say "$translate infer --dir $out \"the old woman sees a small cat .\""
"$translate" infer --dir "$out" "the old woman sees a small cat ."
