#include <heed/tensor/files/stored_values.h>

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include <heed/tensor/files/half.h>

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

/// In pieces, so that no second copy of the file is held.
void read_half(FileReader& file, std::span<float> values) {
  std::vector<uint16_t> buffer(size_t{1} << 16);
  while (!values.empty()) {
    const std::span part = std::span(buffer).first(std::min(buffer.size(), values.size()));
    file.read(std::as_writable_bytes(part));
    std::ranges::transform(part, values.begin(), half_to_float);
    values = values.subspan(part.size());
  }
}

}  // namespace

Tensor read_values(FileReader& file, const Shape& shape, const StoredType& type) {
  Tensor tensor = Tensor::empty(shape, type.dtype);
  if (type.half) {
    read_half(file, tensor.mutable_span<float>());
    return tensor;
  }
  const std::span bytes(tensor.mutable_bytes(), static_cast<size_t>(tensor.numel() * type.bytes));
  file.read(bytes);
  const auto is_no_bool = [](std::byte value) { return value > std::byte{1}; };
  if (type.dtype == DType::boolean && std::ranges::any_of(bytes, is_no_bool))
    file.fail("wanted bytes of 0 and 1 as bools, came others");
  return tensor;
}

}  // namespace heed
