#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// Which keys a query may see. Every part that is there must agree; an empty mask hides nothing. In all of
/// heed, true means "may be seen".
struct Mask {
  Tensor lengths = {};  ///< i64 (batch) or (batch, queries): key j is seen if j < length
  Tensor keep = {};     ///< bool, 4 axes, each of (batch, heads, queries, keys) or 1
  Tensor bias = {};     ///< float, the same axes: added to the scores; -infinity hides
  bool causal = false;  ///< query i sees key j if j <= i + keys - queries: both ends are aligned

  /// The first `lengths[b]` keys of sample b; i64 (batch) or (batch, queries).
  static Mask valid_lengths(Tensor lengths);
  /// Keys by sample, the same for every query: bool (batch, keys).
  static Mask valid_keys(const Tensor& keep);
  /// Pairs of query and key: bool (queries, keys), (batch, queries, keys) or (batch, heads, queries, keys).
  static Mask valid_pairs(const Tensor& keep);
  /// Numbers that are added to the scores, laid out as in valid_pairs.
  static Mask additive(const Tensor& bias);
  static Mask causal_order();
  /// What both let through. ValueError where both have lengths or an additive part.
  Mask operator&(const Mask& other) const;
};

}  // namespace heed::kernels
