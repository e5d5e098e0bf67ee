# Shared by run.sh and test.sh: what heed needs from the system, and how a preset is built.

packages=(
  g++ cmake ninja-build pkg-config libdnnl-dev ocl-icd-opencl-dev libspdlog-dev libfmt-dev libcli11-dev
  nlohmann-json3-dev libutf8proc-dev zlib1g-dev
)
test_packages=(
  git clang-format libgtest-dev librapidcheck-dev libbenchmark-dev chromium graphviz python3 python3-numpy
)

say() { printf '== %s\n' "$*"; }

# install_packages NAME ...: those that are missing, and nothing at all where none is.
install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "No apt here. heed needs, by Debian's names: $*. Going on with what CMake finds."
    return
  fi
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "Wanted root or sudo to install: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  say "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null
}

# build PRESET [CMAKE OPTION ...]: configures and builds, quietly unless something fails.
build() {
  local preset=$1 log
  shift
  if command -v ccache >/dev/null; then set -- "$@" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  if [ -n "${CI:-}" ]; then set -- "$@" -DHEED_WARNINGS_AS_ERRORS=ON; fi
  say "Building ($preset); the first time takes some minutes"
  if ! log=$(cmake --preset "$preset" "$@" 2>&1); then
    printf '%s\n' "$log" >&2
    exit 1
  fi
  # On a terminal Ninja's one status line shows how far it is; elsewhere only what goes wrong is worth a line.
  if [ -t 1 ]; then cmake --build --preset "$preset"; else cmake --build --preset "$preset" -- --quiet; fi
}
