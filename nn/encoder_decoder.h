#pragma once

#include <memory>

#include <heed/nn/module.h>

namespace heed::nn {

/// A translation in progress: one call of step() per target place.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// The logits (batch, vocabulary) of the word after `ids`, i64 (batch): those chosen by the step before, or
  /// the begin marker.
  virtual Variable step(const Tensor& ids) = 0;
};

/// A model that reads a source sequence and writes a target sequence.
class EncoderDecoder : public Layer<EncoderDecoder> {
 public:
  /// Teacher forcing: source ids i64 (batch, source length) with lengths i64 (batch), target ids shifted
  /// right i64 (batch, target length) -> logits (batch, target length, vocabulary).
  virtual Variable forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in) = 0;
  /// Reads the source and stands ready for the first step. The model must outlive the decoding.
  virtual std::unique_ptr<Decoding> start(const Tensor& source, const Tensor& source_lengths) = 0;
};

}  // namespace heed::nn
