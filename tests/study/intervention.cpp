#include <heed/study/intervention.h>

#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/nn/bahdanau.h>
#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>
#include <heed/study/recorder.h>

#include "tests/nn/helpers.h"

namespace heed::study {
namespace {

using namespace heed::test;

TEST(InterventionTest, a_head_that_is_off_adds_nothing) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  const Variable x = random_tensor({2, 5, 8});
  const auto state = layer.state_dict();
  // The output of one head alone: the columns of out_proj that are the other's count for nothing.
  const Variable whole = layer(x);
  Variable sum_of_heads;
  for (const int64_t head : {0, 1}) {
    const Intervention off = switch_off_head(layer, "", head);
    const Variable output = layer(x);
    EXPECT_TRUE(off.was_used());
    EXPECT_FALSE(identical(output.data(), whole.data()));
    sum_of_heads = sum_of_heads.defined() ? sum_of_heads + output : output;
  }
  EXPECT_TRUE(close(sum_of_heads.data(), (whole + state.at("out_proj.bias")).data(), kF32));
  EXPECT_TRUE(identical(layer(x).data(), whole.data())) << "afterwards all is as before";
}

TEST(InterventionTest, a_value_of_one_run_is_patched_into_another) {
  nn::TransformerModel model({.source_vocabulary = 11,
                              .target_vocabulary = 13,
                              .stack = {.width = 8, .feed_forward = 16, .heads = 2, .layers = 1}});
  const Tensor clean = ids({{1, 2, 3}}), corrupt = ids({{1, 9, 3}}), lengths = ids({3}),
               target = ids({{1, 2}});
  const auto loss = [&](const Tensor& source) {
    return nn::cross_entropy(model(source, lengths, target), ids({{2, 3}})).item();
  };
  Recorder recorder(model, {"encoder.layers.0.feed_forward_residual"});
  const double clean_loss = loss(clean);
  const auto points = recorder.record().points;
  Tensor value;
  for (const PointRecord& point : points)
    if (point.name == "encoder.layers.0.feed_forward_residual.residual") value = point.values.at(0);
  const Effect effect =
      effect_of([&] { return loss(corrupt); },
                [&] { return overwrite(model, "encoder.layers.0.feed_forward_residual.residual", value); });
  EXPECT_EQ(effect.before, loss(corrupt));
  EXPECT_NEAR(effect.after, clean_loss, 1e-6) << "all that the decoder sees of the source was patched";
  EXPECT_NE(effect.change(), 0);
}

TEST(InterventionTest, the_effect_of_each_head_is_listed_in_order) {
  nn::TransformerModel model({.source_vocabulary = 11,
                              .target_vocabulary = 13,
                              .stack = {.width = 8, .feed_forward = 16, .heads = 2, .layers = 2}});
  const auto run = [&] {
    return nn::cross_entropy(model(ids({{1, 2, 3}}), ids({3}), ids({{1, 2}})), ids({{2, 3}})).item();
  };
  const auto effects = head_effects(model, {"decoder.*.cross_attention"}, run);
  ASSERT_EQ(effects.size(), 4);
  EXPECT_EQ(effects[3].layer, "decoder.layers.1.cross_attention");
  EXPECT_EQ(effects[3].head, 1);
  for (const HeadEffect& one : effects) {
    EXPECT_EQ(one.effect.before, run());
    const Intervention off = switch_off_head(model, one.layer, one.head);
    EXPECT_EQ(one.effect.after, run());
  }
}

TEST(InterventionTest, additive_attention_has_one_head) {
  nn::Bahdanau model({.source_vocabulary = 11, .target_vocabulary = 13, .width = 8});
  const auto effects = head_effects(model, {"*"}, [&] {
    return sum(model(ids({{1, 2, 3}}), ids({3}), ids({{1, 2}}))).item();
  });
  ASSERT_EQ(effects.size(), 1);
  EXPECT_EQ(effects[0].layer, "attention");
  EXPECT_NE(effects[0].effect.change(), 0);
}

TEST(InterventionTest, heads_are_switched_off_whatever_their_score) {
  nn::MultiHeadAttention layer(
      {.width = 8, .heads = 2, .score = nn::each_head<nn::AdditiveScore>({.hidden = 3})});
  const Variable x = random_tensor({2, 5, 8});
  const auto effects = head_effects(layer, {""}, [&] { return sum(layer(x)).item(); });
  ASSERT_EQ(effects.size(), 2);
  // The biases are 0, so that each head adds what the sum lacks without it.
  EXPECT_NEAR(effects[0].effect.after + effects[1].effect.after, effects[0].effect.before, 1e-4);
  EXPECT_NE(effects[0].effect.change(), 0);
}

TEST(InterventionTest, says_what_was_wanted) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  const Variable x = random_tensor({1, 3, 8});
  const auto run = [&] { return sum(layer(x)).item(); };
  expect_error<ValueError>(
      [&] { return overwrite(layer, "q_porj.weights", zeros({1})); },
      "[get_submodule] no module is called \"q_porj\"; the nearest names are \"q_proj\", "
      "\"k_proj\", \"v_proj\"");
  expect_error<ValueError>([&] { effect_of(run, [&] { return overwrite(layer, "wieghts", zeros({1})); }); },
                           "[effect_of] the run does not come by a point called \"wieghts\"");
  expect_error<IndexError>([&] { effect_of(run, [&] { return switch_off_head(layer, "", 2); }); },
                           "[switch_off_head] wanted a head in [0, 2), came 2");
  expect_error<ValueError>([&] { head_effects(layer, {"q_proj"}, run); },
                           "[head_effects] the run comes by none of the attention layers asked for");
}

}  // namespace
}  // namespace heed::study
