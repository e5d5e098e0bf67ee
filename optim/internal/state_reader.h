#pragma once

#include <map>
#include <set>
#include <string>

#include <heed/tensor/tensor.h>

namespace heed::optim::internal {

/// Takes a saved state apart, and knows in the end what nobody asked for. Its errors begin with `[owner]`.
class StateReader {
 public:
  StateReader(std::string owner, const std::map<std::string, Tensor>& state)
      : owner_(std::move(owner)), state_(state) {}

  bool has(const std::string& key) const { return state_.contains(key); }
  /// ValueError without such an entry.
  const Tensor& get(const std::string& key);
  /// The only element of an entry; ShapeError unless it is one element of this dtype.
  double number(const std::string& key, DType dtype);
  /// The same, ValueError unless it is in [low, high].
  double number(const std::string& key, DType dtype, double low, double high);
  /// A copy of an entry; ShapeError unless it has this shape and dtype.
  Tensor tensor(const std::string& key, const Tensor& like);
  /// ValueError if there is an entry that was not read.
  void expect_all_read() const;

 private:
  std::string owner_;
  const std::map<std::string, Tensor>& state_;
  std::set<std::string> read_;
};

}  // namespace heed::optim::internal
