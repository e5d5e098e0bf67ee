#include <heed/nn/eval_mode.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <heed/nn/dropout.h>
#include <heed/nn/transformer_model.h>
#include <heed/tensor/compare.h>

#include "tests/nn/helpers.h"

using namespace heed;

namespace {

/// A part that belongs to two others, and a part of its own.
struct Parts : nn::Module {
  struct Holder : nn::Module {
    explicit Holder(nn::Module& part) { child("part", part); }
  };
  Parts() {
    child("first", first);
    child("second", second);
    child("own", own);
  }
  nn::Dropout shared{0.5}, own{0.5};
  Holder first{shared}, second{shared};
};

std::vector<bool> modes(nn::Module& module) {
  std::vector<bool> all;
  for (const auto& [name, part] : module.named_modules()) all.push_back(part->is_training());
  return all;
}

}  // namespace

TEST(EvalMode, gives_every_part_its_own_mode_back) {
  EXPECT_TRUE(rc::check([] {
    Parts parts;
    for (const auto& [name, part] : parts.named_modules()) part->train(*rc::gen::arbitrary<bool>());
    const std::vector<bool> before = modes(parts);
    {
      const nn::EvalMode evaluation(parts);
      RC_ASSERT(modes(parts) == std::vector<bool>(5, false));
    }
    RC_ASSERT(modes(parts) == before);
  }));
}

TEST(EvalMode, gives_it_back_when_an_exception_passes) {
  Parts parts;
  parts.own.eval();
  const std::vector<bool> before = modes(parts);
  try {
    const nn::EvalMode evaluation(parts);
    parts.train();  // whatever the mode has become meanwhile
    raise<ValueError>("[test] stop");
  } catch (const ValueError&) {
  }
  EXPECT_EQ(modes(parts), before);
}

TEST(EvalMode, of_one_part_leaves_the_others_alone_and_nests) {
  Parts parts;
  const nn::EvalMode outer(parts.first);
  EXPECT_EQ(modes(parts), (std::vector<bool>{true, false, false, true, true}));
  { const nn::EvalMode inner(parts); }
  EXPECT_EQ(modes(parts), (std::vector<bool>{true, false, false, true, true}));
}

TEST(EvalMode, a_model_drops_nothing_in_it) {
  nn::TransformerModel model(
      {.source_vocabulary = 7,
       .target_vocabulary = 7,
       .stack = {.width = 8, .feed_forward = 16, .heads = 2, .layers = 1, .dropout = 0.5}});
  const auto run = [&] { return model(test::ids({{1, 2, 3}}), test::ids({3}), test::ids({{1, 2}})).data(); };
  EXPECT_FALSE(identical(run(), run()));
  {
    const nn::EvalMode evaluation(model);
    EXPECT_TRUE(identical(run(), run()));
  }
  EXPECT_FALSE(identical(run(), run()));
}
