#!/usr/bin/env bash
# Builds heed (Release) and trains a small English-French translator. Arguments go to `translate train`.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh

install_packages
build release
out=${HEED_OUT:-out/first-light}
say "Training a small Transformer on the embedded corpus; the model goes to $out"
build/release/bin/translate train --out "$out" "$@"
say "Translating sentences that it has not seen"
build/release/bin/translate infer --dir "$out" --unseen 8
