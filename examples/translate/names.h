#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::translate {

/// The names of an enumeration's values, in their order, as options and files spell them.
class Names {
 public:
  Names(std::string what, std::vector<std::string> names)
      : what_(std::move(what)), names_(std::move(names)) {}

  /// The place of a name. ValueError that lists them all when it is none of them.
  int64_t place(const std::string& name) const;
  const std::string& at(int64_t place) const { return names_.at(static_cast<size_t>(place)); }
  /// "additive or dot"
  std::string listed() const;

 private:
  std::string what_;
  std::vector<std::string> names_;
};

}  // namespace heed::translate
