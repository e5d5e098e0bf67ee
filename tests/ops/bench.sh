#!/usr/bin/env bash
# The benchmark of the op cases: a line for the op that is named, an error for one that there is none of. Argument:
# the program.
set -euo pipefail
program=$1

line='^additive_score +\([0-9]+, [0-9]+, [0-9]+\) .*( +[0-9]+\.[0-9]){3} +[0-9]+\.[0-9]{2}$'
table=$("$program" --bench=additive_score)
if ! grep -Eq "$line" <<<"$table"; then
  echo "wanted a line for additive_score, came:" "$table" >&2
  exit 1
fi

status=0
message=$("$program" --bench=no_such_op 2>&1) || status=$?
if [ "$status" != 2 ] || [ "$message" != '[bench] wanted a part of a case'"'"'s name, came "no_such_op"' ]; then
  echo "wanted one line and 2, came $status:" "$message" >&2
  exit 1
fi
