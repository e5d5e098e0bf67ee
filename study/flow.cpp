#include <heed/study/flow.h>

#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/layer_norm.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/unary.h>

namespace heed::study {
namespace {

/// (batch, places, heads * d) -> (heads, batch * places, d)
Tensor heads_first(const Tensor& x, int64_t heads) {
  const int64_t d = x.size(2) / heads;
  return x.reshape({x.size(0) * x.size(1), heads, d}).transpose(0, 1).contiguous();
}

/// f of each head's (batch, places, width), put together again.
template <class F>
Tensor for_each_head(const Tensor& x, F&& f) {
  Tensor result = Tensor::empty(x.shape(), x.dtype());
  for (int64_t h = 0; h < x.size(0); ++h) result.select(0, h).copy_from(f(x.select(0, h).contiguous()));
  return result;
}

/// <a, b> over the last axis.
Tensor dot(const Tensor& a, const Tensor& b) { return kernels::sum(kernels::mul(a, b), {-1}); }

/// a / b, and 0 where b is 0.
Tensor ratio(const Tensor& a, const Tensor& b) {
  const Tensor zero = zeros({}, a.dtype());
  return kernels::where(kernels::eq(b, zero), zero, kernels::div(a, b));
}

}  // namespace

FlowPart flow_part(const FlowSource& source, int64_t heads) {
  if (!source.weight.defined()) return {source.path, source.grad.unsqueeze(0), {}, {}};
  const int64_t outputs = source.weight.size(0), inputs = source.weight.size(1);
  if (heads < 1 || outputs % heads != 0)
    raise<ValueError>("[flow] wanted heads that divide the {} columns of the {}, came {}", outputs,
                      source.path, heads);
  const Tensor weight = source.weight.reshape({heads, outputs / heads, inputs});
  const Tensor part = kernels::matmul(heads_first(source.grad, heads), weight);  // (heads, places, inputs)
  return {source.path, part.reshape({heads, source.grad.size(0), source.grad.size(1), inputs}), {}, {}};
}

void pass_residual(Flow& flow, const ResidualSource& residual) {
  if (const Tensor& weight = residual.norm_weight; weight.defined()) {
    const auto norm = kernels::layer_norm(residual.input, weight, zeros_like(weight), residual.norm_epsilon);
    for (FlowPart& part : flow.parts)
      part.gradient = for_each_head(part.gradient, [&](const Tensor& grad) {
        return kernels::layer_norm_backward(grad, residual.input, weight, norm.mean, norm.deviation).x;
      });
  }
  flow.parts.push_back({"residual", residual.sum_grad.unsqueeze(0), {}, {}});
}

void complete(Flow& flow) {
  flow.whole = {};
  for (const FlowPart& part : flow.parts) {
    const Tensor sum = kernels::sum(part.gradient, {0});
    flow.whole = flow.whole.defined() ? kernels::add(flow.whole, sum) : sum;
  }
  if (!flow.whole.defined()) return;
  const Tensor squares = dot(flow.whole, flow.whole);  // (batch, places)
  const double total = kernels::sum(squares).item();
  for (FlowPart& part : flow.parts) {
    const Tensor along = dot(part.gradient, flow.whole);  // (heads, batch, places)
    part.share = ratio(along, squares);
    part.norm = kernels::sqrt(dot(part.gradient, part.gradient));
    part.total_share = kernels::sum(along, {1, 2}).to_vector<double>();
    for (double& share : part.total_share) share = total > 0 ? share / total : 0;
  }
}

}  // namespace heed::study
