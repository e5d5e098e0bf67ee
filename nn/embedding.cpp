#include <heed/nn/embedding.h>

#include <heed/autograd/ops/embedding.h>
#include <heed/nn/init.h>

namespace heed::nn {

Embedding::Embedding(const EmbeddingOptions& options) : padding_(options.padding) {
  if (options.rows < 1 || options.width < 1)
    raise<ValueError>("[Embedding] wanted 1 row and column or more, came {} and {}", options.rows,
                      options.width);
  if (padding_ && (*padding_ < 0 || *padding_ >= options.rows))
    raise<IndexError>("[Embedding] padding id {} is outside the {} rows", *padding_, options.rows);
  Tensor table = xavier_uniform({options.rows, options.width});
  if (padding_) table.select(0, *padding_).fill(0);
  weight_ = parameter("weight", std::move(table));
}

Variable Embedding::forward(const Tensor& ids) { return point("output", embedding(weight_, ids, padding_)); }

}  // namespace heed::nn
