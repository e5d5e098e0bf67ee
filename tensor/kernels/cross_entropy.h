#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

struct CrossEntropyOptions {
  int64_t ignore_index = -100;  ///< a target that does not count; may lie inside the range of classes
  double label_smoothing = 0;   ///< this share of the target is spread evenly over all classes
};

struct CrossEntropy {
  Tensor losses;        ///< one per target, 0 where it is ignored
  Tensor logsumexp;     ///< one per target, for the backward
  int64_t counted = 0;  ///< targets that are not ignored
};

/// loss_i = logsumexp(x_i) - (1 - s) x_i[t_i] - s mean(x_i) for logits x (..., classes), targets t (...) i64
/// and label smoothing s; infinity where no class is possible, for all of its logits are -infinity.
/// IndexError naming the target and the number of classes when one is out of range.
CrossEntropy cross_entropy(const Tensor& logits, const Tensor& targets,
                           const CrossEntropyOptions& options = {});

/// dx_i = g_i (softmax(x_i) - target distribution), 0 where ignored, with a softmax of 0 where no class is
/// possible; g: one per target, or one for all.
Tensor cross_entropy_backward(const Tensor& grad, const Tensor& logits, const Tensor& targets,
                              const Tensor& logsumexp, const CrossEntropyOptions& options);

/// The distribution that each target stands for, times -1; zeros for ignored ones: (..., classes).
Tensor negative_target_distribution(const Tensor& targets, int64_t classes,
                                    const CrossEntropyOptions& options, DType dtype);

}  // namespace heed::kernels
