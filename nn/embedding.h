#pragma once

#include <optional>

#include <heed/nn/module.h>

namespace heed::nn {

struct EmbeddingOptions {
  int64_t rows = 0;  ///< how many ids there are
  int64_t width = 0;
  std::optional<int64_t> padding = std::nullopt;  ///< an id whose row is zeros and stays so
};

/// A row of numbers for each id: ids i64 (...) -> (..., width). Parameter: weight (rows, width), Xavier.
/// Point: output.
class Embedding : public Layer<Embedding> {
 public:
  explicit Embedding(const EmbeddingOptions& options);
  Variable forward(const Tensor& ids);

  const Variable& weight() const { return weight_; }

 private:
  std::optional<int64_t> padding_;
  Variable weight_;
};

}  // namespace heed::nn
