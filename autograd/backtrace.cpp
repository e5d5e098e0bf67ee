#include <heed/autograd/backtrace.h>

#include <cxxabi.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace heed::internal {
namespace {

struct Freed {
  void operator()(void* pointer) const { std::free(pointer); }
};

/// What backtrace_symbols says is "file(function+offset) [address]", the function mangled or missing.
std::string readable(std::string_view symbol) {
  const size_t open = symbol.find('('), plus = symbol.find('+', open);
  if (open == std::string_view::npos || plus == std::string_view::npos) return std::string(symbol);
  const std::string mangled(symbol.substr(open + 1, plus - open - 1));
  if (mangled.empty()) {
    const std::string_view file = symbol.substr(0, open);
    const std::string_view offset = symbol.substr(plus, symbol.find(')', plus) - plus);
    return std::string(file.substr(file.rfind('/') + 1)) + std::string(offset);
  }
  int status = 0;
  const std::unique_ptr<char, Freed> name(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status));
  return name == nullptr ? mangled : name.get();
}

/// True for what lies between an op and the place where its backtrace is taken, where a few functions have no
/// name outside of their file.
bool is_machinery(const std::string& line) {
  return line.find("heed::internal::") != std::string::npos ||
         line.find("heed::record") != std::string::npos || line.find("+0x") != std::string::npos;
}

}  // namespace

Backtrace::Backtrace() : count_(::backtrace(frames_.data(), static_cast<int>(frames_.size()))) {}

std::vector<std::string> Backtrace::lines() const {
  const std::unique_ptr<char*, Freed> symbols(::backtrace_symbols(frames_.data(), count_));
  std::vector<std::string> lines;
  for (int i = 0; symbols != nullptr && i < count_; ++i) lines.push_back(readable(symbols.get()[i]));
  const auto first = std::ranges::find_if_not(lines, is_machinery);
  if (first != lines.end()) lines.erase(lines.begin(), first);
  return lines;
}

}  // namespace heed::internal
