#!/usr/bin/env bash
# What Markdown files link to or show is there, unless it is on the web. Arguments: the files.
set -euo pipefail
for page in "$@"; do
  awk '/^```/ { inside = !inside; next } !inside' "$page" |
    { grep -oE '\]\([^)#]+' || true; } | cut -c3- | sort -u | while read -r target; do
      case $target in http://* | https://*) continue ;; esac
      [ -e "$(dirname "$page")/$target" ] || { echo "$page: wanted a file or a folder, came $target" >&2; exit 1; }
    done
done
