#pragma once

#include <memory>
#include <vector>

#include <heed/nn/module.h>

namespace heed::nn {

struct DecodingOptions {
  bool attention = false;  ///< keep the weights of each step for Decoding::attention()
};

/// Translations in progress, one in each row: one call of step() per target place.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// The logits (batch, vocabulary) of the word after `ids`, i64 (batch): those chosen by the step before, or
  /// the begin marker.
  virtual Variable step(const Tensor& ids) = 0;
  /// How the last step looked at the source: weights (batch, heads, source length), one for each layer that
  /// attends to it. Asking for them in the options changes no bit of the logits. ValueError when they were
  /// not asked for, and before the first step.
  virtual std::vector<Tensor> attention() const = 0;
  /// Goes on with the rows at these places, i64 (new batch), in this order: a row may be left out, or come
  /// several times, as beams do. The weights of the last step stay what they were. IndexError for a row that
  /// is not there.
  virtual void select(const Tensor& rows) = 0;
};

/// For attention(): the weights of a step, or ValueError where there are none.
Tensor kept_weights(const Variable& weights);

/// x (batch, length, width) at `places`, as forward() takes them -> (count, width); x itself if undefined.
Variable at_places(const Variable& x, const Tensor& places);

/// A model that reads a source sequence and writes a target sequence.
class EncoderDecoder : public Layer<EncoderDecoder> {
 public:
  /// Teacher forcing: source ids i64 (batch, source length) with lengths i64 (batch), target ids shifted
  /// right i64 (batch, target length) -> logits (batch, target length, vocabulary). With `places`, i64
  /// (count), only the logits of these of the batch * target length places, row by row -> (count,
  /// vocabulary): a loss that leaves out padding need not pay for the vocabulary there.
  virtual Variable forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in,
                           const Tensor& places = {}) = 0;
  /// Reads the source and stands ready for the first step. The model must outlive the decoding.
  virtual std::unique_ptr<Decoding> start(const Tensor& source, const Tensor& source_lengths,
                                          const DecodingOptions& options = {}) = 0;
};

}  // namespace heed::nn
