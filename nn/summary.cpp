#include <heed/nn/summary.h>

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <typeinfo>

namespace heed::nn {
namespace {

constexpr size_t kColumns = 5, kWidth = 100, kTypeWidth = 24, kGap = 2;
using Row = std::array<std::string, kColumns>;  // name, type, shape, parameters, bytes

/// The type of a module without namespaces.
std::string type_of(const Module& module) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(typeid(module).name(), nullptr, nullptr, &status), std::free);
  const std::string_view full = text ? text.get() : typeid(module).name();
  std::string plain;
  for (size_t i = 0; i < full.size(); ++i) {
    if (full.substr(i, 2) != "::") {
      plain += full[i];
      continue;
    }
    // what stands before belongs to the namespace
    constexpr std::string_view kNameless = "(anonymous namespace)";
    plain.resize(plain.ends_with(kNameless) ? plain.size() - kNameless.size()
                                            : plain.find_last_of("<, ") + 1);
    ++i;
  }
  return plain;
}

std::string without_beginning(const std::string& text, size_t width) {
  return text.size() <= width ? text : "..." + text.substr(text.size() - (width - 3));
}

std::string without_end(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::array<size_t, kColumns> column_widths(const std::vector<Row>& rows) {
  std::array<size_t, kColumns> widths{};
  for (const Row& row : rows)
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  const size_t others = widths[1] + widths[2] + widths[3] + widths[4] + (kColumns - 1) * kGap;
  widths[0] = std::min(widths[0], kWidth - std::min(others, kWidth - 16));
  return widths;
}

/// Words to the left, numbers to the right.
std::string print(const Row& row, const std::array<size_t, kColumns>& widths) {
  return fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>{}}  {:>{}}\n", without_beginning(row[0], widths[0]),
                     widths[0], row[1], widths[1], row[2], widths[2], row[3], widths[3], row[4], widths[4]);
}

}  // namespace

std::string summary(Module& model) {
  std::vector<Row> rows{{"name", "type", "shape", "parameters", "bytes"}};
  std::vector<Variable> seen;
  int64_t count = 0, bytes = 0, frozen = 0;
  for (const auto& [path, module] : model.named_modules())
    for (const auto& [own_name, value] : module->own_parameters()) {
      if (std::ranges::any_of(seen, [&v = value](const Variable& other) { return other.is_same(v); }))
        continue;
      seen.push_back(value);
      const int64_t size = value.numel() * size_of(value.dtype());
      rows.push_back(
          {fmt::format("{}{}{}{}", path, path.empty() ? "" : ".", own_name, value.requires_grad() ? "" : "*"),
           without_end(type_of(*module), kTypeWidth), to_string(value.shape()),
           fmt::format("{}", value.numel()), fmt::format("{}", size)});
      count += value.numel(), bytes += size;
      if (!value.requires_grad()) frozen += value.numel();
    }
  rows.push_back({"total", "", "", fmt::format("{}", count), fmt::format("{}", bytes)});
  if (frozen > 0) rows.push_back({"* frozen", "", "", fmt::format("{}", frozen), ""});

  const auto widths = column_widths(rows);
  std::string text;
  for (const Row& row : rows) text += print(row, widths);
  return text;
}

}  // namespace heed::nn
