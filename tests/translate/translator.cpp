#include "translate/translator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/error.h>
#include <heed/tensor/files/safetensors.h>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"
#include "tests/translate/small_translator.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TranslatorIn : public testing::TestWithParam<ModelKind> {
 protected:
  TranslatorIn() { small_translator(GetParam()).save(folder()); }

  fs::path folder() const { return scratch_.folder() / "model"; }

  /// The folder cannot be loaded, and one line says which and why.
  void expect_refused(const std::string& reason) const {
    const std::string message = message_of<FileError>([&] { Translator::load(folder()); });
    EXPECT_NE(message.find(folder().string()), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }

  void expect_config_refused(const char* key, const json& value, const std::string& reason) const {
    const std::string good = contents_of(folder() / "config.json");
    json bad = json::parse(good);
    bad[key] = value;
    write(folder() / "config.json", bad.dump());
    expect_refused(reason);
    write(folder() / "config.json", good);
  }

 private:
  Scratch scratch_;
};

INSTANTIATE_TEST_SUITE_P(Model, TranslatorIn, testing::Values(ModelKind::bahdanau, ModelKind::transformer),
                         [](const auto& kind) { return model_names().at(static_cast<int64_t>(kind.param)); });

TEST_P(TranslatorIn, comes_back_from_its_folder) {
  Translator saved = small_translator(GetParam()), loaded = Translator::load(folder());
  EXPECT_EQ(loaded.architecture(), saved.architecture());
  const auto weights = loaded.model().state_dict();
  for (const auto& [name, tensor] : saved.model().state_dict())
    EXPECT_TRUE(identical(tensor, weights.at(name))) << name;
  for (const fs::path& path : model_paths(folder())) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_P(TranslatorIn, refuses_a_configuration_that_no_model_has) {
  expect_config_refused("width", 16.9, "\"width\" to be a whole number from 1 to 65536, came 16.9");
  expect_config_refused("width", 65537, "came 65537");
  expect_config_refused("layers", 9223372036854775809U, "came 9223372036854775809");
  expect_config_refused("layers", true, "came boolean");
  expect_config_refused("heads", 0, "came 0");
  expect_config_refused("dropout", 1.5, "wanted \"dropout\" in [0, 1], came 1.5");
  expect_config_refused("norm", "two\nlines", "wanted pre or post, came \"two\\x0alines\"");
  write(folder() / "config.json", "[]");
  expect_refused("config.json: ");
  fs::remove(folder() / "config.json");
  expect_refused("came one without config.json");
  fs::create_directory(folder() / "config.json");
  expect_refused("wanted a plain file, came a folder");
}

TEST_P(TranslatorIn, compares_the_sizes_with_the_weights_before_a_model_is_made) {
  const std::string reason = "numbers or more for a model of these sizes, came ";
  expect_config_refused("width", 65536, reason);
  expect_config_refused("layers", 2000, reason);
  if (GetParam() == ModelKind::transformer) expect_config_refused("feed_forward", 65536, reason);
}

TEST_P(TranslatorIn, names_the_folder_of_sizes_that_do_not_go_together) {
  expect_config_refused("layers", 1, "cannot be loaded: [load_state_dict] unexpected: ");
  if (GetParam() == ModelKind::transformer)
    expect_config_refused("heads", 3, "cannot be loaded: [MultiHeadAttention] ");
}

TEST_P(TranslatorIn, refuses_weights_that_are_not_finite) {
  const std::string path = weights_path(folder()).string();
  for (const double bad : {double{NAN}, double{INFINITY}}) {
    auto weights = load_safetensors(path).tensors;
    weights.at("output.bias").fill(bad);
    save_safetensors(path, weights);
    expect_refused("wanted finite weights, came others in \"output.bias\"");
  }
}

TEST(expect_fitting, takes_the_weights_of_every_model) {
  for (const auto kind : {ModelKind::bahdanau, ModelKind::transformer})
    for (const auto score : {nn::ScoreKind::additive, nn::ScoreKind::dot})
      for (const int64_t layers : {1, 3})
        for (const bool attentive : {false, true}) {
          const Architecture architecture{.kind = kind,
                                          .width = 16,
                                          .feed_forward = 24,
                                          .heads = 2,
                                          .layers = layers,
                                          .length = 8,
                                          .score = score,
                                          .attentive = attentive,
                                          .position = nn::PositionKind::none};
          const auto weights = build_model(architecture, 5, 6)->state_dict();
          EXPECT_NO_THROW(expect_fitting(architecture, 5, 6, weights));
          Architecture deeper = architecture;
          deeper.layers = 3 * layers;
          EXPECT_THROW(expect_fitting(deeper, 5, 6, weights), ValueError);
          EXPECT_THROW(expect_fitting(architecture, 1000, 6, weights), ValueError);
          EXPECT_THROW(expect_fitting(architecture, 5, 1000, weights), ValueError);
        }
}

}  // namespace
}  // namespace heed::translate
