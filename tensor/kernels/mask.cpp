#include <heed/tensor/kernels/mask.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {
namespace {

/// (queries, keys), (batch, queries, keys) or all four axes -> four axes.
Tensor four_axes(const char* op, const Tensor& x) {
  if (x.rank() == 2) return x.unsqueeze(0).unsqueeze(0);
  if (x.rank() == 3) return x.unsqueeze(1);
  if (x.rank() == 4) return x;
  raise<ShapeError>(
      "[{}] wanted (queries, keys), (batch, queries, keys) or (batch, heads, queries, keys), came {}", op,
      x.shape());
}

void expect_dtype(const char* op, const Tensor& x, DType wanted) {
  if (x.dtype() != wanted) raise<DTypeError>("[{}] wanted {}, came {}", op, name_of(wanted), describe(x));
}

Tensor both(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  Tensor out = Tensor::empty(broadcast_shapes("mask", a.shape(), b.shape()), DType::boolean);
  internal::map_into<bool, bool>(out, a, b, [](bool x, bool y) { return x && y; });
  return out;
}

}  // namespace

Mask Mask::valid_lengths(Tensor lengths) {
  expect_dtype("valid_lengths", lengths, DType::i64);
  if (lengths.rank() != 1 && lengths.rank() != 2)
    raise<ShapeError>("[valid_lengths] wanted (batch) or (batch, queries), came {}", lengths.shape());
  return {.lengths = std::move(lengths)};
}

Mask Mask::valid_keys(const Tensor& keep) {
  expect_dtype("valid_keys", keep, DType::boolean);
  if (keep.rank() != 2) raise<ShapeError>("[valid_keys] wanted (batch, keys), came {}", keep.shape());
  return {.keep = keep.unsqueeze(1).unsqueeze(1)};
}

Mask Mask::valid_pairs(const Tensor& keep) {
  expect_dtype("valid_pairs", keep, DType::boolean);
  return {.keep = four_axes("valid_pairs", keep)};
}

Mask Mask::additive(const Tensor& bias) {
  if (!is_floating(bias.dtype())) raise<DTypeError>("[additive] wanted floats, came {}", describe(bias));
  return {.bias = four_axes("additive", bias)};
}

Mask Mask::causal_order() { return {.causal = true}; }

Mask Mask::operator&(const Mask& other) const {
  if ((lengths.defined() && other.lengths.defined()) || (bias.defined() && other.bias.defined()))
    raise<ValueError>("[mask] wanted lengths and an additive part at most once each, came twice");
  return {.lengths = lengths.defined() ? lengths : other.lengths,
          .keep = both(keep, other.keep),
          .bias = bias.defined() ? bias : other.bias,
          .causal = causal || other.causal};
}

}  // namespace heed::kernels
