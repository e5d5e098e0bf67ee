#include "gradient_flow/memory.h"

#include <gtest/gtest.h>
#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

#include "gradient_flow/plain_encoder_decoder.h"
#include "tests/translate/scratch.h"

namespace heed::gradient_flow {
namespace {

TEST(MemoryTest, attention_brings_the_gradient_to_letters_that_were_read_long_ago) {
  const MemoryResult result = measure_memory({.longest = 12, .width = 16, .steps = 1, .sentences = 8});
  const auto &plain = result.plain.before, &attention = result.attention.before;
  ASSERT_EQ(plain.size(), 12);
  ASSERT_EQ(attention.size(), 12);
  for (size_t i = 1; i < plain.size(); ++i)
    EXPECT_LT(plain[i], 0.8 * plain[i - 1]) << i << " letters before the end";
  EXPECT_LT(plain.back() / plain.front(), 0.02);
  for (const double norm : attention) EXPECT_GT(norm / attention.front(), 0.4);
  EXPECT_GT(attention.back() / attention.front(), 20 * plain.back() / plain.front());
}

/// Far longer than one state of this width can hold.
TEST(MemoryTest, attention_learns_to_copy_what_one_state_cannot_hold) {
  const MemoryResult result = measure_memory({.longest = 8, .width = 24, .steps = 300, .sentences = 100});
  ASSERT_EQ(result.up_to, (std::vector<int64_t>{2, 4, 6, 8}));
  ASSERT_EQ(result.attention.bleu.size(), 4);
  EXPECT_LT(result.attention.loss, 0.7 * result.plain.loss);
  EXPECT_GT(result.attention.bleu.back(), 2 * result.plain.bleu.back());
  for (const double score : result.plain.bleu) EXPECT_LE(score, 1);
  EXPECT_EQ(findings_of(result).page.charts.size(), 2);
}

/// The two ways to run the model, in which teacher forcing knows all of the target at once.
TEST(PlainEncoderDecoderTest, step_by_step_it_says_what_it_says_at_once) {
  manual_seed(5);
  PlainEncoderDecoder model({.source_vocabulary = 9, .target_vocabulary = 7, .width = 6});
  const Tensor source = rand_integers({3, 5}, 0, 9), target = rand_integers({3, 4}, 0, 7);
  const Tensor lengths = tensor_of({5, 2, 1}, DType::i64);
  const Tensor at_once = model(source, lengths, target).data();
  ASSERT_EQ(at_once.shape(), Shape({3, 4, 7}));
  const auto decoding = model.start(source, lengths);
  for (int64_t place = 0; place < 4; ++place)
    EXPECT_TRUE(allclose(decoding->step(target.select(1, place).contiguous()).data(),
                         at_once.select(1, place).contiguous()))
        << place;
}

TEST(PlainEncoderDecoderTest, goes_on_with_the_rows_that_are_selected) {
  PlainEncoderDecoder model({.source_vocabulary = 9, .target_vocabulary = 7, .width = 6});
  const Tensor source = rand_integers({2, 5}, 0, 9), lengths = tensor_of({5, 5}, DType::i64);
  const auto both = model.start(source, lengths), swapped = model.start(source, lengths);
  swapped->select(tensor_of({1, 0}, DType::i64));
  const Tensor ids = tensor_of({3, 3}, DType::i64);
  const Tensor straight = both->step(ids).data(), crossed = swapped->step(ids).data();
  EXPECT_TRUE(allclose(straight.select(0, 0), crossed.select(0, 1)));
  EXPECT_TRUE(allclose(straight.select(0, 1), crossed.select(0, 0)));
  EXPECT_FALSE(allclose(straight.select(0, 0), crossed.select(0, 0)));
}

TEST(PlainEncoderDecoderTest, has_no_attention_to_tell_of) {
  PlainEncoderDecoder model({.source_vocabulary = 9, .target_vocabulary = 7, .width = 6});
  const Tensor source = rand_integers({1, 5}, 0, 9);
  const auto decoding = model.start(source, tensor_of({5}, DType::i64), {.attention = true});
  decoding->step(tensor_of({3}, DType::i64));
  EXPECT_EQ(translate::message_of<ValueError>([&] { decoding->attention(); }).substr(0, 21),
            "[Decoding::attention]");
}

}  // namespace
}  // namespace heed::gradient_flow
