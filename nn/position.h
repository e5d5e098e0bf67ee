#pragma once

#include <heed/nn/module.h>

namespace heed::nn {

struct PositionOptions {
  int64_t width = 0;
  int64_t max_length = 512;
};

/// Adds to x at place p the numbers
///   P(p, 2i) = sin(p / 10000^(2i / width)),  P(p, 2i + 1) = cos(p / 10000^(2i / width)),
/// also for an odd width, whose last column is a sine. Vaswani et al., "Attention is all you need" (2017).
class SinusoidalPosition : public Layer<SinusoidalPosition> {
 public:
  explicit SinusoidalPosition(const PositionOptions& options);
  /// x (batch, length, width); its first place is number `offset`. ShapeError when offset + length exceeds
  /// max_length.
  Variable forward(const Variable& x, int64_t offset = 0);

  /// The table P, (length, width).
  static Tensor table(int64_t length, int64_t width);

 private:
  Tensor table_;
};

/// Adds a trained row for each place. Parameter: weight (max_length, width), normal with deviation 0.02.
class LearnedPosition : public Layer<LearnedPosition> {
 public:
  explicit LearnedPosition(const PositionOptions& options);
  Variable forward(const Variable& x, int64_t offset = 0);

 private:
  Variable weight_;
};

/// Turns queries and keys by their place instead of adding to them: the numbers 2i and 2i + 1 of each head
/// are one point in the plane, and at place p it is turned by the angle p / 10000^(2i / width),
///   (a, b) -> (a cos - b sin, a sin + b cos).
/// The product of a query and a key that are turned depends on the distance of their places only. Su et al.,
/// "RoFormer" (2021).
class RotaryPosition : public Layer<RotaryPosition> {
 public:
  /// The width is that of one head: ValueError unless it is even.
  explicit RotaryPosition(const PositionOptions& options);
  /// x (batch, length, heads * width), heads side by side; its first place is number `offset`. ShapeError
  /// when offset + length exceeds max_length.
  Variable forward(const Variable& x, int64_t offset = 0);

 private:
  Tensor cosines_, sines_;  // (max_length, width / 2)
};

}  // namespace heed::nn
