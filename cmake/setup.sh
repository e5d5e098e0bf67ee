# Shared by run.sh and test.sh: what heed needs from the system, and how a preset is built.

packages=(
  g++ cmake ninja-build libdnnl-dev ocl-icd-opencl-dev libspdlog-dev libfmt-dev libgtest-dev libcli11-dev
  nlohmann-json3-dev libutf8proc-dev pkg-config libbenchmark-dev librapidcheck-dev
)

say() { printf '== %s\n' "$*"; }

install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "No apt here. heed needs, by Debian's names: ${packages[*]}; going on with what CMake finds."
    return
  fi
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  say "Installing: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "Installing packages needs root or sudo. Wanted: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

build() {
  local preset=$1 options=()
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  if [ -n "${CI:-}" ]; then options+=(-DHEED_WARNINGS_AS_ERRORS=ON); fi
  say "Building ($preset)"
  cmake --preset "$preset" "${options[@]}" >build-configure.log 2>&1 || { cat build-configure.log >&2; exit 1; }
  rm -f build-configure.log
  cmake --build --preset "$preset"
}
