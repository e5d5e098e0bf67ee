#include <heed/nn/init.h>

#include <cmath>

namespace heed::nn {

Tensor xavier_uniform(const Shape& shape, Generator& generator) {
  if (shape.rank() != 2) raise<ShapeError>("[xavier_uniform] wanted (fan_out, fan_in), came {}", shape);
  const double bound = std::sqrt(6.0 / static_cast<double>(std::max<int64_t>(shape[0] + shape[1], 1)));
  return rand_uniform(shape, -bound, bound, DType::f32, generator);
}

Tensor fan_in_uniform(const Shape& shape, int64_t fan_in, Generator& generator) {
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(fan_in, 1)));
  return rand_uniform(shape, -bound, bound, DType::f32, generator);
}

}  // namespace heed::nn
