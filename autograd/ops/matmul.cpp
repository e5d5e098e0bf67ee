#include <heed/autograd/ops/matmul.h>

#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/matmul.h>

namespace heed {
namespace {

/// (..., width) -> (rows, width)
Variable flat_rows(const Variable& x) {
  const int64_t width = x.size(-1);
  int64_t rows = 1;
  for (int64_t axis = 0; axis + 1 < x.rank(); ++axis) rows *= x.size(axis);
  return reshape(x, {rows, width});
}

}  // namespace

Variable matmul(const Variable& a, const Variable& b) {
  return record(
      "matmul", kernels::matmul(a.data(), b.data()), {&a, &b},
      [left = a.shape(), right = b.shape(), x = Saved(a, b.requires_grad()),
       y = Saved(b, a.requires_grad())](Backward& back) {
        back.give(0, [&] { return sum_to(matmul(back.grad(), transpose(back.value(y), -2, -1)), left); });
        if (!back.wants(1)) return;
        // One matrix against many: the sum over the batch is part of the inner axis.
        if (right.rank() == 2) return back.give_product(1, flat_rows(back.value(x)), flat_rows(back.grad()));
        back.give(1, [&] { return sum_to(matmul(transpose(back.value(x), -2, -1), back.grad()), right); });
      });
}

Variable linear(const Variable& x, const Variable& weight, const Variable& bias) {
  return record(
      "linear", kernels::linear(x.data(), weight.data(), bias.defined() ? bias.data() : Tensor()),
      {&x, &weight, &bias},
      [in = Saved(x, weight.requires_grad()), w = Saved(weight, x.requires_grad())](Backward& back) {
        const Variable& grad = back.grad();  // (..., outputs)
        back.give(0, [&] { return matmul(grad, back.value(w)); });
        if (back.wants(1)) back.give_product(1, flat_rows(grad), flat_rows(back.value(in)));
        back.give(2, [&] { return sum(flat_rows(grad), {0}); });
      });
}

}  // namespace heed
