#include "translate/recipe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/translate/scratch.h"

using namespace heed;
using namespace heed::translate;
using nlohmann::json;

TEST(recipe, suits_the_model_the_preset_and_the_data) {
  const Recipe plain = make_recipe(json::object());
  EXPECT_EQ(plain.model, "transformer");
  EXPECT_EQ(plain.preset, "toy");
  EXPECT_EQ(plain.examples, 6000);
  EXPECT_GT(plain.holdout, 0);

  const Recipe recurrent = make_recipe({{"model", "bahdanau"}});
  EXPECT_EQ(recurrent.examples, 0) << "all of the corpus";
  EXPECT_GT(recurrent.epochs, plain.epochs);
  EXPECT_GT(recurrent.warmup_steps, 0);

  const Recipe file = make_recipe({{"model", "bahdanau"}, {"data", "pairs.tsv"}});
  EXPECT_EQ(file.examples, 600);
  EXPECT_EQ(file.holdout, 0);
  EXPECT_EQ(file.lr, 0.005);
  EXPECT_EQ(file.warmup_steps, 0);
  EXPECT_EQ(make_recipe({{"data", "reverse:10"}}).examples, 0);
}

TEST(recipe, takes_what_is_asked_for_before_what_suits) {
  const Recipe recipe = make_recipe({{"model", "bahdanau"}, {"lr", 0.25}, {"examples", 7}, {"steps", 3}});
  EXPECT_EQ(recipe.lr, 0.25);
  EXPECT_EQ(recipe.examples, 7);
  EXPECT_EQ(recipe.steps, 3);
  EXPECT_EQ(recipe.epochs, 0);
  EXPECT_THROW(make_recipe({{"score", "dot"}}), ValueError);
  EXPECT_THROW(make_recipe({{"model", "bahdanau"}, {"norm", "pre"}}), ValueError);
}

TEST(recipe, comes_back_from_its_file) {
  const Scratch scratch;
  const auto path = scratch.folder() / "recipe.json";
  const Recipe saved = make_recipe({{"model", "bahdanau"}, {"score", "dot"}, {"seed", 9}, {"strict", true}});
  save_recipe(path, saved);
  const Recipe loaded = load_recipe(path);
  EXPECT_EQ(loaded.score, "dot");
  EXPECT_EQ(loaded.seed, 9U);
  EXPECT_TRUE(loaded.strict);
  EXPECT_EQ(loaded.examples, saved.examples);
  EXPECT_EQ(loaded.epochs, saved.epochs);
}
