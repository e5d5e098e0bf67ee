#!/usr/bin/env bash
# Builds heed (Release), trains a small English-French translator and asks it for translations; a model from
# before is replaced. Arguments go to `translate train`, as in ./run.sh --model bahdanau
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh

install_packages "${packages[@]}"
build release -DHEED_TESTS=OFF -DHEED_BENCHMARKS=OFF

translate=build/release/bin/translate
out=${HEED_OUT:-out/translator}
case " $* " in *" --resume "*) ;; *) set -- --overwrite "$@" ;; esac
say "Training on the embedded corpus"
"$translate" train --out "$out" "$@"
say "What it makes of new sentences"
"$translate" infer --dir "$out" "The old woman sees a small cat." "Is your sister tired?" "We eat three red apples."
say "Where it looked: a row for each word that it wrote, a column for each that it read, weights in percent"
"$translate" infer --dir "$out" --show-attention "The old woman sees a small cat."
say "What to try next"
cat <<NEXT
   $translate infer --dir $out --beam 4 "I read your red books."
   $translate infer --dir $out        one translation for each line that you type, until Ctrl-D
   $translate train --help            your own data, other models and sizes, --resume after Ctrl-C
   less $out/metrics.jsonl            how the training went
NEXT
