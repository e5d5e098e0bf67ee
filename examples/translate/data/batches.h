#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "translate/data/pairs.h"
#include "translate/data/vocabulary.h"

namespace heed::translate {

/// A sentence pair as ids, each side closed by an end marker.
struct Encoded {
  std::vector<int64_t> source;
  std::vector<int64_t> target;
};

/// Encodes both sides in at most `length` ids each. A sentence that must be cut keeps its first length - 1
/// words *and* the end marker, so that every target teaches the model to stop. Throws ValueError when
/// `length` is below one.
Encoded encode_pair(const SentencePair& pair, const Vocabulary& source, const Vocabulary& target,
                    int64_t length);

/// encode_pair() for all of them.
std::vector<Encoded> encode_pairs(std::span<const SentencePair> pairs, const Vocabulary& source,
                                  const Vocabulary& target, int64_t length);

/// Some examples side by side, filled up with <pad>: every array of ids is rows x length, row by row.
struct Batch {
  int64_t rows = 0;
  int64_t length = 0;
  std::vector<int64_t> source;
  /// What the decoder is fed: <bos>, then target_out shifted right by one place.
  std::vector<int64_t> target_in;
  /// What it is to predict: the words and the end marker.
  std::vector<int64_t> target_out;
  /// Real ids in each row, the end marker included: rows numbers.
  std::vector<int64_t> source_lengths;
  std::vector<int64_t> target_lengths;
  /// The sum of target_lengths: how many predictions count in the loss.
  int64_t target_tokens = 0;
};

/// The examples at `indices`, in that order; no index at all makes a batch of no rows. Throws IndexError for
/// an index that has no example, ValueError for an example longer than `length`.
Batch make_batch(std::span<const Encoded> examples, std::span<const int64_t> indices, int64_t length);

/// The number of ids in the longer side of an example: what a batch must be long enough for.
int64_t length_of(const Encoded& example);

/// The shortest length at which these examples make a batch: that of the longest. No index at all: 1.
int64_t longest_of(std::span<const Encoded> examples, std::span<const int64_t> indices);

/// The batches of one epoch: all examples in an order that is a pure function of (seed, epoch), cut into runs
/// of `batch_size`; the last one may be shorter. (epoch, number of the next batch) is thus all that is needed
/// to go on where a training stopped.
class EpochOrder {
 public:
  /// Throws ValueError for a negative number of examples or a batch size below one.
  EpochOrder(int64_t examples, int64_t batch_size, uint64_t seed, int64_t epoch);

  /// Batches of examples of about the same length, to be padded to their longest only: the examples in the
  /// same random order, but the short ones first, are cut into runs, and the runs are put in a random order.
  /// So the short batch, if there is one, holds the longest examples, and may stand anywhere. A pure function
  /// of (seed, epoch, the lengths).
  static EpochOrder bucketed(std::span<const Encoded> examples, int64_t batch_size, uint64_t seed,
                             int64_t epoch);

  /// The number of batches.
  int64_t batches() const;

  /// The indices of the examples in one of them. Throws IndexError when there is none of this number.
  std::span<const int64_t> batch(int64_t number) const;

 private:
  std::vector<int64_t> order_;  // of the examples
  int64_t batch_size_;
  std::vector<int64_t> runs_;  // which run of the order each batch is; empty: one after the other
};

/// The lowest mean cross entropy, in nats per target token (end markers included), that a model which sees
/// the source and the target so far can have on these examples. Above zero when a source has several
/// translations:
///
///   floor = sum over contexts c of n(c) H(next | c) / sum over c of n(c)
///
/// with a context = (source, target prefix), n its count, and H the entropy of what follows it. No examples:
/// 0.
double loss_floor(std::span<const Encoded> examples);

}  // namespace heed::translate
