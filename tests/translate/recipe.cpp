#include "translate/recipe.h"

#include <gtest/gtest.h>
#include <heed/tensor/threads.h>

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <heed/tensor/error.h>

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
  EXPECT_GT(plain.average, 0.9);
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
  EXPECT_EQ(file.average, 0);
  EXPECT_GT(make_recipe({{"preset", "small"}, {"data", "pairs.tsv"}}).average, 0.9);
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

TEST(recipe, of_a_file_from_before_there_were_shards_has_one) {
  const Scratch scratch;
  const auto path = scratch.folder() / "recipe.json";
  save_recipe(path, make_recipe({{"shards", 3}, {"seed", 18446744073709551615U}}));
  json old = json::parse(contents_of(path));
  old.erase("shards");
  const Recipe loaded = load_recipe(scratch.file(old.dump()));
  EXPECT_EQ(loaded.shards, 1);
  EXPECT_EQ(loaded.seed, 18446744073709551615U);
}

TEST(recipe, refuses_a_file_with_what_no_option_gives) {
  const Scratch scratch;
  const auto path = scratch.folder() / "recipe.json";
  save_recipe(path, make_recipe(json::object()));
  const json good = json::parse(contents_of(path));
  for (const auto& [key, value, reason] : std::vector<std::tuple<std::string, json, std::string>>{
           {"shards", 0, "\"shards\" to be a whole number from 1 to 1024, came 0"},
           {"shards", 1025, "came 1025"},
           {"epochs", 9223372036854775807, "\"epochs\" to be a whole number from 0 to 1000000000"},
           {"epochs", 9223372036854775809U, "came 9223372036854775809"},
           {"steps", 1.5, "came 1.5"},
           {"holdout", -1, "came -1"},
           {"examples", "all", "came string"},
           {"warmup_steps", nullptr, "came null"},
           {"seed", -1, "\"seed\" to be a whole number of 0 or more"},
           {"lr", 0, "\"lr\" above 0, came 0"},
           {"lr", "high", "must be number"},
           {"bucket", 1, "must be boolean"},
           {"data", 1, "must be string"},
           {"preset", "huge", "wanted one of toy, small, base, came \"huge\""},
           {"model", "two\nlines", "came \"two\\x0alines\""}}) {
    json bad = good;
    bad[key] = value;
    const auto file = scratch.file(bad.dump());
    const std::string message = message_of<FileError>([&] { load_recipe(file); });
    EXPECT_TRUE(message.starts_with(fmt::format("[train] {}: not a training's recipe: ", file.string())))
        << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(recipe, names_a_file_that_holds_none) {
  const Scratch scratch;
  for (const char* text : {"", "[]", "{", "{\"data\": \"\"}"}) {
    const auto file = scratch.file(text);
    EXPECT_TRUE(message_of<FileError>([&] {
                  load_recipe(file);
                }).starts_with(fmt::format("[train] {}: not a training's recipe: ", file.string())));
  }
  const auto place = [&](const std::filesystem::path& path) {
    return fmt::format("[train] \"{}\": ", path.string());
  };
  const auto large = scratch.file(std::string((1 << 20) + 1, ' '));
  EXPECT_EQ(message_of<FileError>([&] { load_recipe(large); }),
            place(large) + "wanted at most 1048576 bytes, came 1048577");
  EXPECT_EQ(message_of<FileError>([&] { load_recipe(scratch.folder()); }),
            place(scratch.folder()) + "wanted a plain file, came a folder");
  EXPECT_EQ(message_of<FileError>([&] { load_recipe(scratch.folder() / "none"); }),
            place(scratch.folder() / "none") + "cannot be opened: No such file or directory");
}
