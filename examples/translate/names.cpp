#include "translate/names.h"

#include <fmt/format.h>
#include <heed/tensor/error.h>
#include <heed/tensor/files/quote.h>

#include <algorithm>

namespace heed::translate {

int64_t Names::place(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) raise<ValueError>("[{}] wanted {}, came {}", what_, listed(), in_quotes(name));
  return found - names_.begin();
}

std::string Names::listed() const {
  std::string all;
  for (size_t i = 0; i < names_.size(); ++i) {
    const char* between = i == 0 ? "" : i + 1 == names_.size() ? " or " : ", ";
    all += fmt::format("{}{}", between, names_[i]);
  }
  return all;
}

}  // namespace heed::translate
