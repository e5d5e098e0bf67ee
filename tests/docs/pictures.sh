#!/usr/bin/env bash
# attention_cues still makes the pictures of docs/images/attention_cues: the same files, whole and of finite numbers.
# Their last digits depend on the processor, so they are not compared byte by byte. Argument: the program.
set -euo pipefail
program=$1
wanted=$(cd "$(dirname "$0")/../.." && pwd)/docs/images/attention_cues
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$program" --out "$made/new/folder" >/dev/null
diff <(ls "$wanted") <(ls "$made/new/folder")
for picture in "$wanted"/*.svg "$made"/new/folder/*.svg; do
  head -c 4 "$picture" | grep -q '<svg' && [ "$(tail -n 1 "$picture")" = '</svg>' ] && ! grep -qiE '[" (,-](nan|inf)' "$picture" ||
    { echo "$picture: wanted a whole picture of finite numbers" >&2; exit 1; }
done

fails() {  # the wanted exit code, and arguments
  local code=0
  "$program" "${@:2}" >/dev/null 2>&1 || code=$?
  [ "$code" = "$1" ] || { echo "attention_cues ${*:2}: wanted exit code $1, came $code" >&2; exit 1; }
}
fails 1 --out /dev/null/folder
fails 2 --no-such-option
fails 0 --help
