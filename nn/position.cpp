#include <heed/nn/position.h>

#include <cmath>

#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/views.h>
#include <heed/tensor/random.h>

namespace heed::nn {
namespace {

void check(const char* name, const PositionOptions& options) {
  if (options.width < 1 || options.max_length < 1)
    raise<ValueError>("[{}] wanted a width and a max_length of 1 or more, came {} and {}", name,
                      options.width, options.max_length);
}

/// Rows [offset, offset + length) of a table, for the places of x (batch, length, any).
Variable rows_for(const char* name, const Variable& x, const Variable& table, int64_t offset) {
  if (offset < 0 || offset > table.size(0) - x.size(1))
    raise<ShapeError>("[{}] wanted at most {} places, came {} from place {} on", name, table.size(0),
                      x.size(1), offset);
  return slice(table, 0, offset, offset + x.size(1)).to(x.dtype());
}

Variable add_rows(const char* name, const Variable& x, const Variable& table, int64_t offset) {
  if (x.rank() != 3 || x.size(2) != table.size(1))
    raise<ShapeError>("[{}] wanted x (batch, length, {}), came {}", name, table.size(1), x.shape());
  return x + rows_for(name, x, table, offset);
}

}  // namespace

Tensor SinusoidalPosition::table(int64_t length, int64_t width) {
  Tensor table = Tensor::empty({length, width});
  float* out = table.mutable_data<float>();
  for (int64_t place = 0; place < length; ++place)
    for (int64_t column = 0; column < width; ++column) {
      const double pair = static_cast<double>(column - column % 2) / static_cast<double>(width);
      const double angle = static_cast<double>(place) / std::pow(10000.0, pair);
      *out++ = static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return table;
}

SinusoidalPosition::SinusoidalPosition(const PositionOptions& options) {
  check("SinusoidalPosition", options);
  table_ = table(options.max_length, options.width);
}

Variable SinusoidalPosition::forward(const Variable& x, int64_t offset) {
  return add_rows("SinusoidalPosition", x, table_, offset);
}

LearnedPosition::LearnedPosition(const PositionOptions& options) {
  check("LearnedPosition", options);
  weight_ = parameter("weight", rand_normal({options.max_length, options.width}, 0, 0.02));
}

Variable LearnedPosition::forward(const Variable& x, int64_t offset) {
  return add_rows("LearnedPosition", x, weight_, offset);
}

RotaryPosition::RotaryPosition(const PositionOptions& options) {
  check("RotaryPosition", options);
  if (options.width % 2 != 0)
    raise<ValueError>("[RotaryPosition] wanted an even head width, for numbers are turned in pairs, came {}",
                      options.width);
  // The sinusoids have these angles: sines in the even columns, cosines in the odd ones.
  const Tensor table = SinusoidalPosition::table(options.max_length, options.width);
  sines_ = table.slice(1, 0, options.width, 2).contiguous();
  cosines_ = table.slice(1, 1, options.width, 2).contiguous();
}

Variable RotaryPosition::forward(const Variable& x, int64_t offset) {
  const int64_t half = cosines_.size(1);
  if (x.rank() != 3 || x.size(2) % (2 * half) != 0)
    raise<ShapeError>("[RotaryPosition] wanted x (batch, length, heads * {}), came {}", 2 * half, x.shape());
  const int64_t heads = x.size(2) / (2 * half);
  const Variable cosine = rows_for("RotaryPosition", x, cosines_, offset).unsqueeze(1);  // (length, 1, half)
  const Variable sine = rows_for("RotaryPosition", x, sines_, offset).unsqueeze(1);
  const Variable pairs = x.reshape({x.size(0), x.size(1), heads, half, 2});
  const Variable a = pairs.select(-1, 0), b = pairs.select(-1, 1);  // (batch, length, heads, half)
  const Variable turned[]{a * cosine - b * sine, a * sine + b * cosine};
  return stack(turned, 4).reshape(x.shape());
}

}  // namespace heed::nn
