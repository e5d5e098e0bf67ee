#!/usr/bin/env bash
# Opens pages in a headless Chromium and uses them as a reader would. Argument: the program that writes the pages.
# Skipped (77) where Chromium or Python is missing, except in CI.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

for program in chromium python3; do
  if command -v "$program" >/dev/null; then continue; fi
  echo "wanted $program to look at the page, came none" >&2
  if [ "${CI:-}" = true ]; then exit 1; fi
  exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$work"
python3 -B "$here/report_page.py" "$work"
