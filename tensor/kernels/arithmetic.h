#pragma once

#include <heed/tensor/tensor.h>

/// Elementwise arithmetic; shapes broadcast. Both operands have one dtype: f32, f64, i64 or bf16, which
/// is computed in f32 and rounded once. An i64 result that does not fit wraps around, and a plain number
/// beside i64 has to be whole (ValueError). A result goes into `*into` when that is given, which may be one
/// of the operands.
namespace heed::kernels {

Tensor add(const Tensor& a, const Tensor& b, Tensor* into = nullptr);
Tensor sub(const Tensor& a, const Tensor& b, Tensor* into = nullptr);
Tensor mul(const Tensor& a, const Tensor& b, Tensor* into = nullptr);
/// a / b; floats follow IEEE; i64 is cut towards zero, and divided by 0 it is a ValueError.
Tensor div(const Tensor& a, const Tensor& b, Tensor* into = nullptr);
Tensor maximum(const Tensor& a, const Tensor& b, Tensor* into = nullptr);
Tensor minimum(const Tensor& a, const Tensor& b, Tensor* into = nullptr);

/// a * factor + term with plain numbers.
Tensor scale(const Tensor& a, double factor, double term = 0);
/// a ^ exponent, as std::pow; floats only.
Tensor pow(const Tensor& a, double exponent);

/// target += factor * source, in place; the source is broadcast to the target's shape.
void add_into(Tensor& target, const Tensor& source, double factor = 1);
/// target *= factor, in place.
void scale_into(Tensor& target, double factor);

}  // namespace heed::kernels
