#include <heed/autograd/ops/join.h>

#include <heed/autograd/record.h>
#include <heed/tensor/kernels/join.h>

namespace heed {
namespace {

std::vector<Tensor> data_of(std::span<const Variable> parts) {
  std::vector<Tensor> tensors;
  tensors.reserve(parts.size());
  for (const Variable& part : parts) tensors.push_back(part.data());
  return tensors;
}

std::vector<const Variable*> pointers_to(std::span<const Variable> parts) {
  std::vector<const Variable*> pointers;
  pointers.reserve(parts.size());
  for (const Variable& part : parts) pointers.push_back(&part);
  return pointers;
}

std::vector<Variable> all_grads(Backward& back, size_t count) {
  std::vector<Variable> grads;
  grads.reserve(count);
  for (size_t i = 0; i < count; ++i) grads.push_back(back.grad(i));
  return grads;
}

}  // namespace

Variable concat(std::span<const Variable> parts, int64_t axis) {
  Tensor joined = kernels::concat(data_of(parts), axis);
  std::vector<int64_t> sizes;
  for (const Variable& part : parts) sizes.push_back(part.size(axis));
  return record_all("concat", {std::move(joined)}, pointers_to(parts), [axis, sizes](Backward& back) {
    auto grads = split(back.grad(), sizes, axis);
    for (size_t i = 0; i < grads.size(); ++i) back.give(i, [&] { return std::move(grads[i]); });
  })[0];
}

Variable concat(std::initializer_list<Variable> parts, int64_t axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}

Variable stack(std::span<const Variable> parts, int64_t axis) {
  return record_all("stack", {kernels::stack(data_of(parts), axis)}, pointers_to(parts),
                    [axis](Backward& back) {
                      auto grads = unstack(back.grad(), axis);
                      for (size_t i = 0; i < grads.size(); ++i)
                        back.give(i, [&] { return std::move(grads[i]); });
                    })[0];
}

std::vector<Variable> split(const Variable& x, std::span<const int64_t> sizes, int64_t axis) {
  const Variable* input = &x;
  return record_all("split", kernels::split(x.data(), sizes, axis), {&input, 1},
                    [axis, count = sizes.size()](Backward& back) {
                      back.give(0, [&] { return concat(all_grads(back, count), axis); });
                    });
}

std::vector<Variable> unstack(const Variable& x, int64_t axis) {
  const Variable* input = &x;
  std::vector<Tensor> slices = kernels::unstack(x.data(), axis);
  const size_t count = slices.size();
  return record_all("unstack", std::move(slices), {&input, 1}, [axis, count](Backward& back) {
    back.give(0, [&] { return stack(all_grads(back, count), axis); });
  });
}

}  // namespace heed
