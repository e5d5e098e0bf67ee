#pragma once

#include <cstdint>

#include <heed/tensor/files/file_reader.h>
#include <heed/tensor/tensor.h>

namespace heed {

/// An element type as a file holds it, and the dtype that takes it in memory.
struct StoredType {
  DType dtype;
  int64_t bytes;      // of one element, in the file
  bool half = false;  // half precision, which becomes f32
};

/// A new tensor of this shape with the file's next numbers, in row-major order. The caller has made sure that
/// the file holds as many. FileError for a bool that is neither 0 nor 1.
Tensor read_values(FileReader& file, const Shape& shape, const StoredType& type);

}  // namespace heed
