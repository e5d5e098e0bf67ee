#pragma once

#include <memory>
#include <string>
#include <vector>

#include <heed/nn/linear.h>

namespace heed::study::internal {

/// A value that was shown, and where its gradient comes to stand.
struct Entry {
  std::string point;
  Tensor value;
  std::shared_ptr<const Tensor> gradient_place;
  uint64_t order = 0;       ///< among all entries of a recorder
  bool recomputed = false;  ///< in the second run of a checkpoint

  /// Undefined before the backward pass, and where none came.
  Tensor gradient() const { return gradient_place == nullptr ? Tensor() : *gradient_place; }
};

/// Counts the entries of a recorder.
using Clock = std::shared_ptr<uint64_t>;

/// What the points of one module showed, in order.
class PointLog {
 public:
  PointLog(std::string name, nn::Module& module, Clock clock);
  PointLog(const PointLog&) = delete;
  PointLog& operator=(const PointLog&) = delete;

  const std::string& name() const { return name_; }
  /// Of a checkpointed pass the second run, which is the one that gradients come to.
  std::vector<Entry> entries() const;
  void clear() { entries_.clear(); }

 private:
  std::string name_;
  std::vector<Entry> entries_;
  HookHandle hook_;
};

/// What one linear layer was given, with the gradients of what it made of that.
class ProjectionLog {
 public:
  ProjectionLog(nn::Linear& linear, Clock clock);
  ProjectionLog(const ProjectionLog&) = delete;
  ProjectionLog& operator=(const ProjectionLog&) = delete;

  const Tensor& weight() const { return weight_.data(); }
  /// The last call before a time, or null.
  const Entry* last_before(uint64_t order) const;
  void clear() { entries_.clear(); }

 private:
  Variable weight_;
  std::vector<Entry> entries_;
  HookHandle hook_;
};

}  // namespace heed::study::internal
