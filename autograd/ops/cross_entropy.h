#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/cross_entropy.h>

namespace heed {

using kernels::CrossEntropyOptions;

/// loss_i = -sum_c target_ic log(softmax(x_i))_c for each target that counts, 0 for each ignored one: logits
/// (..., classes), targets i64 (...) -> (...). With label smoothing s the target distribution is 1 - s on
/// the class plus s spread over all.
Variable cross_entropy_losses(const Variable& logits, const Tensor& targets,
                              const CrossEntropyOptions& options = {});

/// The mean of those losses over the targets that count; 0 with gradient 0 if none does.
Variable cross_entropy(const Variable& logits, const Tensor& targets,
                       const CrossEntropyOptions& options = {});

}  // namespace heed
