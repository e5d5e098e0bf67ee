#pragma once

#include <string>

#include <heed/tensor/tensor.h>

namespace heed {

/// Reads one array in NumPy's .npy format, versions 1 to 3: <f4, <f8, <i8 and |b1 as they are, and <f2 into
/// f32. An array in Fortran order comes out row-major, like every other. Throws FileError, with the path,
/// when the file cannot be read, breaks the format, or holds another type or more than 8 axes.
Tensor load_npy(const std::string& path);

/// Writes one array as version 1.0, in the way of write_file_atomically. Throws DTypeError for bf16, which
/// the format does not know, ValueError for an undefined tensor, and FileError when the file cannot be
/// written.
void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace heed
