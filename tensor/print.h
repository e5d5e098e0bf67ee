#pragma once

#include <ostream>
#include <string>

#include <heed/tensor/tensor.h>

namespace heed {

/// The numbers in nested brackets, columns aligned, then dtype and shape:
///
///     [[ 1.0000, -2.5000],
///      [ 0.3333,     inf]]
///     f32(2, 2)
///
/// A scalar is shown in full, other floats with four decimals (in scientific notation when they are very
/// large, very small or far apart). Of more than 1000 elements, each axis shows its first and last three.
std::string to_string(const Tensor& tensor);

/// Writes to_string(tensor).
std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

}  // namespace heed
