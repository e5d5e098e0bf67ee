#pragma once

#include <heed/nn/linear.h>
#include <heed/nn/mask.h>

/// How well each key answers each query: a(q, k) for queries (batch, queries, query width) and keys (batch,
/// keys, key width), as scores (batch, queries, keys). A score is a small layer with `Options` and
/// `forward(q, k)`; AttentionPooling and MultiHeadAttention take any of them. ShapeError for wrong widths.
namespace heed::nn {

struct UniformScoreOptions {};

/// a(q, k) = 0: every key is as good as another, whatever is asked. Pooling with it is the average.
class UniformScore : public Layer<UniformScore> {
 public:
  using Options = UniformScoreOptions;
  explicit UniformScore(const Options& options = {});
  Variable forward(const Variable& q, const Variable& k);
};

struct KeyScoreOptions {
  int64_t key_width = 0;
};

/// a(q, k) = w^T k: a fully connected layer looks at the key alone. What stands out is seen, whatever is
/// asked. Only the number of queries counts; a bias would change no weight. Parameter: weight (1, key_width),
/// Xavier.
class KeyScore : public Layer<KeyScore> {
 public:
  using Options = KeyScoreOptions;
  explicit KeyScore(const Options& options);
  Variable forward(const Variable& q, const Variable& k);

 private:
  Variable weight_;
};

struct GaussianScoreOptions {
  double w = 1;            ///< one over the width of the kernel
  bool learnable = false;  ///< w is a parameter, (1), that starts there
};

/// a(q, k) = -|(q - k) w|^2 / 2, for queries and keys of one width: pooling with it is kernel regression,
/// with weights that fall with the distance as a Gaussian does. Nadaraya (1964), Watson (1964).
class GaussianScore : public Layer<GaussianScore> {
 public:
  using Options = GaussianScoreOptions;
  explicit GaussianScore(const Options& options = {});
  Variable forward(const Variable& q, const Variable& k);

 private:
  double fixed_w_;
  Variable w_;
};

struct DotScoreOptions {
  bool scaled = true;  ///< divide by sqrt(width)
};

/// a(q, k) = q . k / sqrt(width), or q . k unscaled, for queries and keys of one width.
class DotScore : public Layer<DotScore> {
 public:
  using Options = DotScoreOptions;
  explicit DotScore(const Options& options = {});
  Variable forward(const Variable& q, const Variable& k);

 private:
  bool scaled_;
};

struct BilinearScoreOptions {
  int64_t query_width = 0;
  int64_t key_width = 0;
};

/// a(q, k) = q^T W k: a product of queries and keys whose widths may differ. Parameter: weight (query_width,
/// key_width), Xavier. Luong, Pham, Manning, "Effective approaches to attention-based neural machine
/// translation" (2015).
class BilinearScore : public Layer<BilinearScore> {
 public:
  using Options = BilinearScoreOptions;
  explicit BilinearScore(const Options& options);
  Variable forward(const Variable& q, const Variable& k);

 private:
  Variable weight_;
};

struct AdditiveScoreOptions {
  int64_t query_width = 0;
  int64_t key_width = 0;
  int64_t hidden = 0;
};

/// a(q, k) = w_v^T tanh(W_q q + W_k k), without biases. Parameters: q_proj.weight (hidden, query_width),
/// k_proj.weight (hidden, key_width), w_v (hidden). Bahdanau, Cho, Bengio (2014).
class AdditiveScore : public Layer<AdditiveScore> {
 public:
  using Options = AdditiveScoreOptions;
  explicit AdditiveScore(const Options& options);
  Variable forward(const Variable& q, const Variable& k);
  /// W_k k: once, where the same keys are asked many times.
  Variable project_keys(const Variable& k);
  /// The same as forward with keys that were projected before, and scores_of_seen where there is a mask.
  Variable score_projected(const Variable& q, const Variable& projected_keys, const Mask& mask = {});

 private:
  Linear q_proj_, k_proj_;
  Variable w_v_;
};

/// 1 / sqrt(width of queries and keys); of no width, all scores are 0 whatever they are divided by.
double dot_product_scale(int64_t width);

}  // namespace heed::nn
