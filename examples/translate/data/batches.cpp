#include "translate/data/batches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <heed/tensor/error.h>

#include "translate/data/shuffle.h"

namespace heed::translate {
namespace {

std::vector<int64_t> encode_side(const Sentence& sentence, const Vocabulary& vocabulary, int64_t length) {
  std::vector<int64_t> ids = vocabulary.encode(sentence);
  ids.resize(std::min(ids.size(), static_cast<size_t>(length - 1)));
  ids.push_back(Vocabulary::kEnd);
  return ids;
}

const Encoded& example_at(std::span<const Encoded> examples, int64_t index) {
  if (index < 0 || static_cast<size_t>(index) >= examples.size()) {
    raise<IndexError>("[make_batch] wanted an index below {}, came {}", examples.size(), index);
  }
  return examples[static_cast<size_t>(index)];
}

void check_example(const Encoded& example, int64_t index, int64_t length) {
  if (length_of(example) > length) {
    raise<ValueError>("[make_batch] wanted examples of at most {} ids, came {} in example {}", length,
                      length_of(example), index);
  }
}

/// Appends `ids` to the rows, filled up with <pad> to `length`; returns how many of them are real.
int64_t append_row(std::vector<int64_t>& rows, const std::vector<int64_t>& ids, int64_t length) {
  const size_t end = rows.size() + static_cast<size_t>(length);
  rows.insert(rows.end(), ids.begin(), ids.end());
  rows.resize(end, Vocabulary::kPadding);
  return static_cast<int64_t>(ids.size());
}

/// Each row one place to the right, behind <bos>; what was last falls out.
std::vector<int64_t> shifted_right(const std::vector<int64_t>& rows, int64_t length) {
  std::vector<int64_t> shifted(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    shifted[i] = i % static_cast<size_t>(length) == 0 ? Vocabulary::kBegin : rows[i - 1];
  }
  return shifted;
}

/// A tree of all sequences seen: one node for each prefix, and on each edge how often it was taken.
class PrefixTree {
 public:
  struct Edge {
    size_t child;
    int64_t count = 0;
  };
  using Edges = std::map<int64_t, Edge>;

  /// Takes the edge `token` out of `node`, which is made when it is new, and returns where it leads.
  size_t step(size_t node, int64_t token) {
    const auto [found, added] = nodes_[node].try_emplace(token, Edge{nodes_.size()});
    const size_t child = found->second.child;
    ++found->second.count;
    if (added) nodes_.emplace_back();
    return child;
  }

  size_t size() const { return nodes_.size(); }
  const Edges& edges(size_t node) const { return nodes_[node]; }

 private:
  std::vector<Edges> nodes_{1};
};

/// n(c) H(next | c), for the context whose continuations are `edges`.
double total_entropy(const PrefixTree::Edges& edges) {
  int64_t all = 0;
  for (const auto& [token, edge] : edges) all += edge.count;
  double nats = 0;
  for (const auto& [token, edge] : edges) {
    const auto count = static_cast<double>(edge.count);
    nats += count * std::log(static_cast<double>(all) / count);
  }
  return nats;
}

}  // namespace

Encoded encode_pair(const SentencePair& pair, const Vocabulary& source, const Vocabulary& target,
                    int64_t length) {
  if (length < 1) raise<ValueError>("[encode_pair] wanted a length of 1 or more, came {}", length);
  return {.source = encode_side(pair.source, source, length),
          .target = encode_side(pair.target, target, length)};
}

std::vector<Encoded> encode_pairs(std::span<const SentencePair> pairs, const Vocabulary& source,
                                  const Vocabulary& target, int64_t length) {
  std::vector<Encoded> examples;
  examples.reserve(pairs.size());
  for (const SentencePair& pair : pairs) examples.push_back(encode_pair(pair, source, target, length));
  return examples;
}

Batch make_batch(std::span<const Encoded> examples, std::span<const int64_t> indices, int64_t length) {
  if (length < 1) raise<ValueError>("[make_batch] wanted a length of 1 or more, came {}", length);
  Batch batch;
  batch.rows = static_cast<int64_t>(indices.size());
  batch.length = length;
  for (const int64_t index : indices) {
    const Encoded& example = example_at(examples, index);
    check_example(example, index, length);
    batch.source_lengths.push_back(append_row(batch.source, example.source, length));
    batch.target_lengths.push_back(append_row(batch.target_out, example.target, length));
    batch.target_tokens += batch.target_lengths.back();
  }
  batch.target_in = shifted_right(batch.target_out, length);
  return batch;
}

int64_t length_of(const Encoded& example) {
  return static_cast<int64_t>(std::max(example.source.size(), example.target.size()));
}

int64_t longest_of(std::span<const Encoded> examples, std::span<const int64_t> indices) {
  int64_t longest = 1;
  for (const int64_t index : indices) longest = std::max(longest, length_of(example_at(examples, index)));
  return longest;
}

EpochOrder::EpochOrder(int64_t examples, int64_t batch_size, uint64_t seed, int64_t epoch)
    : order_(shuffled(examples, seed, static_cast<uint64_t>(epoch))), batch_size_(batch_size) {
  if (batch_size < 1) raise<ValueError>("[EpochOrder] wanted a batch size of 1 or more, came {}", batch_size);
}

EpochOrder EpochOrder::bucketed(std::span<const Encoded> examples, int64_t batch_size, uint64_t seed,
                                int64_t epoch) {
  EpochOrder order(static_cast<int64_t>(examples.size()), batch_size, seed, epoch);
  std::stable_sort(order.order_.begin(), order.order_.end(), [&](int64_t a, int64_t b) {
    return length_of(examples[static_cast<size_t>(a)]) < length_of(examples[static_cast<size_t>(b)]);
  });
  // A stream of its own, which no epoch has.
  order.runs_ = shuffled(order.batches(), seed, ~static_cast<uint64_t>(epoch));
  return order;
}

int64_t EpochOrder::batches() const {
  const auto examples = static_cast<int64_t>(order_.size());
  return examples / batch_size_ + (examples % batch_size_ != 0 ? 1 : 0);
}

std::span<const int64_t> EpochOrder::batch(int64_t number) const {
  if (number < 0 || number >= batches()) {
    raise<IndexError>("[EpochOrder::batch] wanted a number below {}, came {}", batches(), number);
  }
  const int64_t run = runs_.empty() ? number : runs_[static_cast<size_t>(number)];
  const std::span<const int64_t> rest = std::span(order_).subspan(static_cast<size_t>(run * batch_size_));
  return rest.first(std::min(rest.size(), static_cast<size_t>(batch_size_)));
}

double loss_floor(std::span<const Encoded> examples) {
  PrefixTree sources;
  PrefixTree contexts;  // below its root one node for each source, below that the target prefixes
  int64_t tokens = 0;
  double nats = 0;
  for (const Encoded& example : examples) {
    size_t source = 0;
    for (const int64_t id : example.source) source = sources.step(source, id);
    size_t context = contexts.step(0, static_cast<int64_t>(source));
    for (const int64_t id : example.target) context = contexts.step(context, id);
    tokens += static_cast<int64_t>(example.target.size());
  }
  for (size_t node = 1; node < contexts.size(); ++node) nats += total_entropy(contexts.edges(node));
  return tokens == 0 ? 0.0 : nats / static_cast<double>(tokens);
}

}  // namespace heed::translate
