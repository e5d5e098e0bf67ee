#!/usr/bin/env bash
# Headers are named by their component, never by a way up: a path with ".." would dodge the include roots that
# keep a lower folder from including a higher one.
set -euo pipefail
cd "$(dirname "$0")/../.."
if git grep -nE '#include "([^"]*/)?\.\./' -- '*.h' '*.cpp'; then
  echo 'wanted includes without "..", came the lines above' >&2
  exit 1
fi
