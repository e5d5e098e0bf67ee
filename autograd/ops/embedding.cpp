#include <heed/autograd/ops/embedding.h>

#include <heed/autograd/record.h>
#include <heed/tensor/kernels/embedding.h>
#include <heed/tensor/kernels/masked_fill.h>

namespace heed {
namespace {

/// The adjoint of embedding, itself differentiable: its adjoint reads the rows back, zeros for the padding.
Variable scatter_rows(const Variable& grad, const Tensor& ids, int64_t rows, std::optional<int64_t> padding);

/// embedding with zeros in place of the padding row.
Variable gather_rows(const Variable& table, const Tensor& ids, std::optional<int64_t> padding) {
  Tensor rows = kernels::embedding(table.data(), ids);
  if (padding) {
    Tensor is_padding = Tensor::empty(ids.shape(), DType::boolean);
    const Tensor all = ids.contiguous();
    bool* to = is_padding.mutable_data<bool>();
    for (int64_t i = 0; i < ids.numel(); ++i) to[i] = all.data<int64_t>()[i] == *padding;
    rows = kernels::masked_fill(rows, is_padding.unsqueeze(-1), 0);
  }
  return record("gather_rows", std::move(rows), {&table},
                [padding, ids = SavedTensor(ids), count = table.size(0)](Backward& back) {
                  back.give(0, [&] { return scatter_rows(back.grad(), back.value(ids), count, padding); });
                });
}

Variable scatter_rows(const Variable& grad, const Tensor& ids, int64_t rows, std::optional<int64_t> padding) {
  return record("scatter_rows", kernels::embedding_backward(grad.data(), ids, rows, padding), {&grad},
                [padding, ids = SavedTensor(ids)](Backward& back) {
                  back.give(0, [&] { return gather_rows(back.grad(), back.value(ids), padding); });
                });
}

}  // namespace

Variable embedding(const Variable& table, const Tensor& ids, std::optional<int64_t> padding) {
  return record("embedding", kernels::embedding(table.data(), ids), {&table},
                [padding, ids = SavedTensor(ids), rows = table.size(0)](Backward& back) {
                  back.give(0, [&] { return scatter_rows(back.grad(), back.value(ids), rows, padding); });
                });
}

}  // namespace heed
