#include "translate/recipe.h"

#include <gtest/gtest.h>
#include <heed/tensor/threads.h>

#include <nlohmann/json.hpp>

#include "tests/translate/scratch.h"
#include "translate/commands/options.h"
#include "translate/data/split.h"

using namespace heed;
using namespace heed::translate;
using nlohmann::json;

TEST(recipe, suits_the_model_the_preset_and_the_data) {
  const Recipe plain = make_recipe(json::object());
  EXPECT_EQ(plain.model, "transformer");
  EXPECT_EQ(plain.preset, "toy");
  EXPECT_EQ(plain.examples, 6000);
  EXPECT_GT(plain.holdout, 0);

  EXPECT_EQ(plain.dropout, 0.1);
  EXPECT_EQ(plain.score, "dot");

  const Recipe recurrent = make_recipe({{"model", "bahdanau"}});
  EXPECT_EQ(recurrent.examples, 0) << "all of the corpus";
  EXPECT_GT(recurrent.warmup_steps, 0);
  EXPECT_TRUE(architecture_of(recurrent).attentive);
  EXPECT_EQ(recurrent.score, "additive");

  const Recipe file = make_recipe({{"model", "bahdanau"}, {"data", "pairs.tsv"}});
  EXPECT_EQ(file.examples, 600);
  EXPECT_EQ(file.holdout, 0);
  EXPECT_EQ(file.lr, 0.005);
  EXPECT_EQ(file.warmup_steps, 0);
  EXPECT_EQ(file.dropout, 0.1);
  EXPECT_FALSE(file.attentive) << "as the model to compare with";
  EXPECT_EQ(file.length, 10);
}

TEST(recipe, suits_made_up_languages) {
  for (const char* model : {"bahdanau", "transformer"}) {
    const Recipe recipe = make_recipe({{"data", "reverse:12"}, {"model", model}});
    EXPECT_EQ(recipe.examples, 0) << "all of them";
    EXPECT_EQ(recipe.dropout, 0);
    EXPECT_EQ(recipe.length, 13) << "with the end marker";
    EXPECT_GT(recipe.warmup_steps, 0);
  }
  EXPECT_EQ(make_recipe({{"data", "copy:4"}, {"preset", "small"}}).lr, 0.001)
      << "that of a model of this size";
}

TEST(recipe, is_the_same_for_any_number_of_threads) {
  const int before = num_threads();
  for (const int threads : {1, 3, 64}) {
    set_num_threads(threads);
    EXPECT_EQ(make_recipe(json::object()).shards, 2);
  }
  set_num_threads(before);
  EXPECT_EQ(make_recipe({{"shards", 5}}).shards, 5);
}

TEST(recipe, keeps_what_an_alignment_is_chosen_on_out_of_the_training) {
  const Recipe recipe = make_recipe({{"examples", 500}});
  const Split data = load_data(recipe);
  EXPECT_EQ(data.training.size() + data.validation.size() + data.test.size(), 500U);
  EXPECT_GT(data.validation.size(), 20U);
  for (const SentencePair& pair : data.training) EXPECT_GT(source_checksum(pair.source) % recipe.holdout, 1U);
  for (const SentencePair& pair : data.test) EXPECT_EQ(source_checksum(pair.source) % recipe.holdout, 0U);
  EXPECT_TRUE(load_data(make_recipe({{"holdout", 0}, {"examples", 50}})).validation.empty());
}

TEST(recipe, takes_what_is_asked_for_before_what_suits) {
  const Recipe recipe = make_recipe({{"model", "bahdanau"},
                                     {"lr", 0.25},
                                     {"examples", 7},
                                     {"steps", 3},
                                     {"dropout", 0.3},
                                     {"length", 20},
                                     {"bucket", true}});
  EXPECT_EQ(architecture_of(recipe).dropout, 0.3);
  EXPECT_EQ(architecture_of(recipe).length, 20);
  EXPECT_TRUE(recipe.bucket);
  EXPECT_EQ(recipe.lr, 0.25);
  EXPECT_EQ(recipe.examples, 7);
  EXPECT_EQ(recipe.steps, 3);
  EXPECT_EQ(recipe.epochs, 0);
  EXPECT_THROW(make_recipe({{"model", "bahdanau"}, {"norm", "pre"}}), ValueError);
  EXPECT_THROW(make_recipe({{"attentive", true}}), ValueError);
}

TEST(recipe, comes_back_from_its_file) {
  const Scratch scratch;
  const auto path = scratch.folder() / "recipe.json";
  const Recipe saved = make_recipe({{"model", "bahdanau"},
                                    {"score", "dot"},
                                    {"seed", 9},
                                    {"strict", true},
                                    {"bucket", true},
                                    {"dropout", 0.2},
                                    {"shards", 3},
                                    {"length", 24}});
  save_recipe(path, saved);
  const Recipe loaded = load_recipe(path);
  EXPECT_EQ(loaded.score, "dot");
  EXPECT_EQ(loaded.seed, 9U);
  EXPECT_TRUE(loaded.strict);
  EXPECT_TRUE(loaded.bucket);
  EXPECT_EQ(loaded.dropout, 0.2);
  EXPECT_EQ(loaded.shards, 3);
  EXPECT_EQ(loaded.length, 24);
  EXPECT_EQ(loaded.examples, saved.examples);
  EXPECT_EQ(loaded.epochs, saved.epochs);
}
