#include <heed/autograd/gathering.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/join.h>
#include <heed/tensor/kernels/matmul.h>

namespace heed::internal {
namespace {

/// With so many rows a product of matrices costs far more than writing it down and adding it, and what waits
/// is still small.
constexpr int64_t kEnoughRows = 256;

void expect_unedited(const Tensor& factor, uint64_t version) {
  if (factor.version() != version)
    raise<GraphError>("[backward] a factor of a gradient was edited in place before it was multiplied: {}",
                      describe(factor));
}

Tensor one_below_another(const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts[0] : kernels::concat(parts, 0);
}

}  // namespace

void Gathering::add(Variable grad, bool create_graph) {
  if (!sum_.defined()) {
    sum_ = std::move(grad);
  } else if (is_ours_ && !create_graph) {
    Tensor total = sum_.data();
    kernels::add_into(total, grad.data());
  } else {
    sum_ = sum_ + grad;
    is_ours_ = true;
  }
}

void Gathering::add(GradientProduct product) {
  rows_ += product.left.size(0);
  waiting_.push_back(std::move(product));
  if (rows_ >= kEnoughRows) multiply();
}

void Gathering::multiply() {
  std::vector<Tensor> lefts, rights;
  for (GradientProduct& product : waiting_) {
    expect_unedited(product.left, product.left_version);
    expect_unedited(product.right, product.right_version);
    lefts.push_back(std::move(product.left));
    rights.push_back(std::move(product.right));
  }
  waiting_.clear();
  rows_ = 0;
  const bool is_first = !sum_.defined();
  add(kernels::matmul(one_below_another(lefts).transpose(0, 1), one_below_another(rights)), false);
  is_ours_ = is_ours_ || is_first;
}

Variable Gathering::take() {
  if (!waiting_.empty()) multiply();
  return std::move(sum_);
}

}  // namespace heed::internal
