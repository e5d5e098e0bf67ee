#!/usr/bin/env bash
# Every source file is as clang-format leaves it.
set -euo pipefail
cd "$(dirname "$0")/../.."
git ls-files -z -- '*.h' '*.cpp' | xargs -0 clang-format --dry-run --Werror
