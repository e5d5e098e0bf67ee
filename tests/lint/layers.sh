#!/usr/bin/env bash
# A lower folder that includes a higher one must not compile: tries it for each such pair, and the other way round
# as a check of the check. Arguments: the build folder, the compiler.
set -euo pipefail
build=$1 compiler=$2
file=$(mktemp --suffix=.cpp)
trap 'rm -f "$file"' EXIT

compiles() {  # from which component, which header, the include roots that the component sees
  printf '#include <heed/%s>\n' "$2" >"$file"
  local roots=() root
  for root in $3; do roots+=(-I "$build/include/$root"); done
  "$compiler" -std=c++20 -fsyntax-only "${roots[@]}" "$file" 2>/dev/null
}

check() {  # wanted: yes or no
  local came=no
  if compiles "$2" "$3" "$4"; then came=yes; fi
  if [ "$came" != "$1" ]; then
    echo "$2 including heed/$3: wanted it to compile: $1, came: $came" >&2
    exit 1
  fi
}

check no tensor autograd/variable.h "tensor"
check no autograd nn/module.h "tensor autograd"
check no autograd optim/adam.h "tensor autograd"
check no optim nn/module.h "tensor autograd optim"
check no nn study/report.h "tensor autograd nn"
check yes autograd tensor/tensor.h "tensor autograd"
check yes nn autograd/variable.h "tensor autograd nn"
check yes study nn/module.h "tensor autograd nn study"
check yes optim autograd/variable.h "tensor autograd optim"
