#pragma once

#include <vector>

#include <heed/autograd/variable.h>

namespace heed::internal {

/// A gradient that is not yet multiplied out: left^T right, from left (rows, m) and right (rows, n). Neither
/// may be edited until it is.
struct GradientProduct {
  GradientProduct(Tensor l, Tensor r)
      : left(std::move(l)),
        right(std::move(r)),
        left_version(left.version()),
        right_version(right.version()) {}

  Tensor left, right;
  uint64_t left_version, right_version;
};

/// The gradient of one output while it is gathered from its consumers.
class Gathering {
 public:
  void add(Variable grad, bool create_graph);
  /// Products of few rows wait until there are enough for one large product: a matrix that takes part in each
  /// step of a sequence would otherwise be written and added once a step.
  void add(GradientProduct product);
  /// The sum of all; undefined if there were none. GraphError, as add() of a product, if a factor was edited.
  Variable take();

 private:
  void multiply();

  Variable sum_;
  bool is_ours_ = false;  // the sum was made here, so it may be added to in place
  std::vector<GradientProduct> waiting_;
  int64_t rows_ = 0;  // of the products that wait
};

}  // namespace heed::internal
