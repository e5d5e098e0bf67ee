#!/usr/bin/env bash
# A translated page, NAME.zh.md, has the code, formulas, commands and pictures of NAME.md, in the same order, and the
# two link to each other. Arguments: the translated pages.
set -euo pipefail

common() {  # blocks with their fences, and the targets of pictures
  awk '/^```/ { inside = !inside; print; next } inside || /^!\[/ { sub(/^!\[.*\]/, "![]"); print }' "$1"
}

links() {  # from, to
  grep -qF "]($(basename "$2"))" "$1" || { echo "$1: wanted a link to $2" >&2; exit 1; }
}

for translation in "$@"; do
  page=${translation%.zh.md}.md
  diff <(common "$page") <(common "$translation") || { echo "$translation: wanted the blocks of $page" >&2; exit 1; }
  links "$page" "$translation"
  links "$translation" "$page"
done
