#include "translate/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include <heed/nn/loss.h>
#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>

#include "tests/translate/scratch.h"
#include "tests/translate/small_translator.h"

namespace heed::translate {
namespace {

class TrainingOf : public testing::TestWithParam<ModelKind> {
 protected:
  static TrainingOptions options(int64_t shards = 1, double average = 0) {
    return {.batch = 4,
            .lr = optim::inverse_sqrt({.peak = 0.01, .warmup = 5}),
            .average = average,
            .shards = shards,
            .seed = 3};
  }
};

INSTANTIATE_TEST_SUITE_P(Model, TrainingOf, testing::Values(ModelKind::bahdanau, ModelKind::transformer),
                         [](const auto& kind) { return model_names().at(static_cast<int64_t>(kind.param)); });

void expect_same_snapshot(const optim::Snapshot& a, const optim::Snapshot& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [part, state] : a) {
    ASSERT_EQ(state.size(), b.at(part).size()) << part;
    for (const auto& [name, tensor] : state)
      EXPECT_TRUE(identical(tensor, b.at(part).at(name))) << part << " " << name;
  }
}

class TrainingInShards : public TrainingOf {};

INSTANTIATE_TEST_SUITE_P(Model, TrainingInShards,
                         testing::Values(ModelKind::bahdanau, ModelKind::transformer),
                         [](const auto& kind) { return model_names().at(static_cast<int64_t>(kind.param)); });

TEST_P(TrainingInShards, goes_on_from_any_step_to_the_same_bits) {
  const Scratch scratch;
  const std::string path = (scratch.folder() / "snapshot").string();
  Translator whole_translator = small_translator(GetParam());
  const auto examples = small_examples(whole_translator);
  Training whole(whole_translator.model(), examples, options(2, 0.5));
  std::vector<StepReport> reports;
  for (int64_t i = 0; i < 10; ++i) reports.push_back(whole.step());
  const double epoch_loss = whole.epoch_loss();
  const optim::Snapshot wanted = whole.snapshot();
  for (const int64_t stop : {0, 1, 3, 4, 9}) {  // three steps are an epoch
    Translator before = small_translator(GetParam());
    Training first(before.model(), examples, options(2, 0.5));
    for (int64_t i = 0; i < stop; ++i) first.step();
    optim::save_snapshot(path, first.snapshot());

    Translator after = small_translator(GetParam(), 77);
    Training second(after.model(), examples, options(2, 0.5));
    manual_seed(99);
    second.restore(optim::load_snapshot(path));
    EXPECT_EQ(second.steps(), stop);
    for (int64_t i = stop; i < 10; ++i) {
      const StepReport report = second.step();
      EXPECT_EQ(report.loss, reports[static_cast<size_t>(i)].loss) << stop << ", " << i;
      EXPECT_EQ(report.lr, reports[static_cast<size_t>(i)].lr);
      EXPECT_EQ(report.gradient_norm, reports[static_cast<size_t>(i)].gradient_norm);
    }
    EXPECT_EQ(second.epoch_loss(), epoch_loss);
    expect_same_snapshot(second.snapshot(), wanted);
  }
}

TEST_P(TrainingInShards, learns_what_the_whole_batch_teaches) {
  const auto trained = [&](int64_t shards) {
    Translator translator = small_translator(GetParam(), 1, 0);
    const auto examples = small_examples(translator);
    Training training(translator.model(), examples, options(shards));
    std::vector<double> losses;
    for (int64_t i = 0; i < 6; ++i) {  // the third batch of an epoch is a single row
      const StepReport report = training.step();
      EXPECT_EQ(report.tokens, i % 3 == 2 ? 4 : 16);
      losses.push_back(report.loss);
    }
    return losses;
  };
  const auto whole = trained(1);
  for (const int64_t shards : {2, 3, 4, 9}) {
    const auto parted = trained(shards);
    for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(parted[i], whole[i], 1e-4 * whole[i]) << shards;
  }
}

TEST_P(TrainingOf, has_the_average_of_every_tenth_step_while_that_is_asked_for) {
  Translator translator = small_translator(GetParam());
  const auto examples = small_examples(translator);
  Training training(translator.model(), examples, options(1, 0.75));
  const Tensor weight = training.named_parameters().front().second.data();
  std::vector<std::vector<double>> at{weight.to_vector<double>()};
  for (int64_t i = 1; i <= 25; ++i) {
    training.step();
    if (i % 10 == 0) at.push_back(weight.to_vector<double>());
  }
  const Tensor last = weight.clone();
  {
    const auto averaged = training.averaged();
    const auto got = weight.to_vector<double>();
    for (size_t i = 0; i < got.size(); ++i) {  // it keeps 1 / 10, and then 2 / 11
      const double first = 0.1 * at[0][i] + 0.9 * at[1][i];
      EXPECT_NEAR(got[i], 2.0 / 11 * first + 9.0 / 11 * at[2][i], 1e-6) << i;
    }
  }
  EXPECT_TRUE(identical(weight, last));
  EXPECT_EQ(Training(translator.model(), examples, options()).averaged(), nullptr);
}

TEST_P(TrainingOf, takes_sentences_of_one_length_together_where_asked) {
  Translator translator = small_translator(GetParam());
  auto examples = small_examples(translator);  // nine of four ids
  for (int i = 0; i < 7; ++i) examples.push_back({{4, Vocabulary::kEnd}, {4, Vocabulary::kEnd}});
  TrainingOptions bucketed = options();
  bucketed.bucket = true;
  Training training(translator.model(), examples, bucketed);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<int64_t> tokens;
    for (int i = 0; i < 4; ++i) tokens.insert(training.step().tokens);
    EXPECT_EQ(tokens, (std::multiset<int64_t>{8, 10, 16, 16}));  // of 2 2 2 2, 2 2 2 4, 4 4 4 4 and as many
    EXPECT_TRUE(training.at_epoch_end());
  }
}

TEST_P(TrainingOf, counts_its_epochs_and_their_loss) {
  Translator translator = small_translator(GetParam());
  const auto examples = small_examples(translator);
  Training training(translator.model(), examples, options());
  EXPECT_EQ(training.steps_per_epoch(), 3);
  EXPECT_EQ(training.epoch(), 0);
  EXPECT_FALSE(training.at_epoch_end());
  for (int64_t epoch = 1; epoch <= 2; ++epoch) {
    double sum = 0;
    int64_t tokens = 0;
    for (int64_t i = 0; i < 3; ++i) {
      const StepReport report = training.step();
      sum += report.loss * static_cast<double>(report.tokens);
      tokens += report.tokens;
      EXPECT_EQ(training.epoch(), epoch);
      EXPECT_EQ(training.at_epoch_end(), i == 2);
    }
    EXPECT_EQ(tokens, 9 * 4);
    EXPECT_DOUBLE_EQ(training.epoch_loss(), sum / static_cast<double>(tokens));
  }
}

TEST_P(TrainingOf, names_the_step_and_the_parameter_that_is_not_finite) {
  Translator translator = small_translator(GetParam());
  const auto examples = small_examples(translator);
  Training training(translator.model(), examples, options());
  training.step();
  auto parameters = translator.model().named_parameters();
  const auto& [name, parameter] = parameters.at(parameters.size() / 2);
  Tensor values = parameter.data();
  values.fill(std::numeric_limits<double>::quiet_NaN());
  const std::string message = message_of<ValueError>([&] { training.step(); });
  EXPECT_TRUE(message.starts_with("[train] the loss of step 2 is nan")) << message;
  EXPECT_EQ(training.steps(), 1);
  EXPECT_EQ(message_of<ValueError>([&] { training.snapshot(); }),
            "[train] step 1 left \"" + name + "\" with values that are not finite; try a lower --lr");
}

TEST_P(TrainingOf, names_the_first_gradient_that_is_not_finite) {
  Translator translator = small_translator(GetParam());
  const auto examples = small_examples(translator);
  Training training(translator.model(), examples, options());
  auto parameters = translator.model().named_parameters();
  const auto handle = parameters.back().second.register_hook(
      [](const Variable& gradient) { return Variable(full(gradient.shape(), INFINITY)); });
  EXPECT_EQ(message_of<ValueError>([&] { training.step(); }),
            "[train] the gradient's norm of step 1 is inf: first in \"" + parameters.back().first +
                "\"; try a lower --lr");
}

TEST_P(TrainingOf, refuses_what_is_no_snapshot_of_it) {
  Translator translator = small_translator(GetParam());
  auto examples = small_examples(translator);
  Training training(translator.model(), examples, options());
  training.step();
  const optim::Snapshot snapshot = training.snapshot();

  auto without = snapshot;
  without.erase("random");
  EXPECT_EQ(message_of<ValueError>([&] { training.restore(without); }),
            "[training] wanted a snapshot of a training, came one without \"random\"");
  Training average(translator.model(), examples, options(1, 0.9));
  EXPECT_EQ(message_of<ValueError>([&] { average.restore(snapshot); }),
            "[training] wanted a snapshot of a training, came one without \"average\"");

  std::swap(examples.front(), examples.back());
  Training other(translator.model(), examples, options());
  EXPECT_EQ(message_of<ValueError>([&] { other.restore(snapshot); }),
            "[training] wanted the 9 examples that it was begun with, came others");
  EXPECT_EQ(message_of<ValueError>([&] { Training nothing(translator.model(), {}, options()); }),
            "[training] wanted examples, came none");
  EXPECT_EQ(message_of<ValueError>([&] { Training none(translator.model(), examples, options(0)); }),
            "[training] wanted 1 shard or more, came 0");
}

TEST_P(TrainingOf, refuses_a_place_that_no_training_comes_to) {
  Translator translator = small_translator(GetParam());
  const auto examples = small_examples(translator);
  Training training(translator.model(), examples, options());
  training.step();
  const optim::Snapshot good = training.snapshot();
  constexpr auto kLargest = std::numeric_limits<int64_t>::max();
  const auto number = [](int64_t value) { return from_values<int64_t>(std::vector<int64_t>{value}, {}); };
  const auto refused = [&](const char* key, const Tensor& value, const std::string& reason) {
    optim::Snapshot bad = good;
    bad.at("place")[key] = value;
    for (auto& [name, tensor] : bad.at("model")) tensor = zeros(tensor.shape());
    EXPECT_EQ(message_of<ValueError>([&] { training.restore(bad); }), "[training] wanted " + reason);
    expect_same_snapshot(training.snapshot(), good);
  };
  refused("step", number(-5), "\"step\" in [0, 1000000000000000000], came -5");
  refused("step", number(kLargest), "\"step\" in [0, 1000000000000000000], came 9223372036854775807");
  refused("step", zeros({}), "a place with the i64 \"step\", came one without");
  refused("step", zeros({2}, DType::i64), "a place with the i64 \"step\", came one without");
  refused("tokens", number(-1), "\"tokens\" in [0, 36], came -1");
  refused("tokens", number(37), "\"tokens\" in [0, 36], came 37");
  refused("loss_sum", number(1), "a place with the f64 \"loss_sum\", came one without");
  refused("loss_sum", full({}, NAN, DType::f64),
          "\"loss_sum\" in [-1.7976931348623157e+308, 1.7976931348623157e+308], came nan");
  refused("data", number(-1), "\"data\" in [0, 4294967295], came -1");
  optim::Snapshot without = good;
  without.at("place").erase("tokens");
  EXPECT_EQ(message_of<ValueError>([&] { training.restore(without); }),
            "[training] wanted a place with the i64 \"tokens\", came one without");
}

TEST_P(TrainingOf, refuses_weights_that_are_not_finite) {
  Translator translator = small_translator(GetParam());
  const auto examples = small_examples(translator);
  Training training(translator.model(), examples, options());
  const optim::Snapshot good = training.snapshot();
  optim::Snapshot bad;
  for (const auto& [part, state] : good)
    for (const auto& [name, tensor] : state) bad[part].emplace(name, tensor.clone());
  bad.at("model").at("output.bias").fill(INFINITY);
  EXPECT_EQ(message_of<ValueError>([&] { training.restore(bad); }),
            "wanted finite weights, came others in \"output.bias\"");
  expect_same_snapshot(training.snapshot(), good);
}

/// Logits of `words` words for which the loss of `word` is `loss`: ln(1 + (words - 1) e^-x) with x on it.
std::vector<float> logits_of(double loss, int64_t word, int64_t words) {
  std::vector<float> logits(static_cast<size_t>(words));
  logits[static_cast<size_t>(word)] =
      static_cast<float>(std::log(static_cast<double>(words - 1) / (std::exp(loss) - 1)));
  return logits;
}

TEST(case_C35, padding_does_not_count_in_the_loss) {
  const std::vector<Encoded> examples{{{4, Vocabulary::kEnd}, {4, 5, Vocabulary::kEnd}}};
  const Batch batch = make_batch(examples, std::vector<int64_t>{0}, 4);
  EXPECT_EQ(batch.target_in, (std::vector<int64_t>{Vocabulary::kBegin, 4, 5, Vocabulary::kEnd}));
  EXPECT_EQ(batch.target_out, (std::vector<int64_t>{4, 5, Vocabulary::kEnd, Vocabulary::kPadding}));
  EXPECT_EQ(batch.target_tokens, 3);
  std::vector<float> logits;
  const std::vector<double> losses{1, 2, 3, 9};
  for (size_t i = 0; i < 4; ++i)
    for (const float x : logits_of(losses[i], batch.target_out[i], 6)) logits.push_back(x);
  const Variable loss =
      nn::cross_entropy(from_values<float>(logits, {1, 4, 6}), from_values<int64_t>(batch.target_out, {1, 4}),
                        {.ignore_index = Vocabulary::kPadding});
  EXPECT_NEAR(loss.item(), 2, 1e-5);
}

TEST_P(TrainingOf, case_C35_what_is_fed_behind_the_end_changes_nothing) {
  Translator translator = small_translator(GetParam());
  nn::EncoderDecoder& model = translator.model();
  model.eval();
  const Tensor source = from_values<int64_t>(std::vector<int64_t>{4, 5, 3}, {1, 3}),
               lengths = from_values<int64_t>(std::vector<int64_t>{3}, {1}),
               target = from_values<int64_t>(std::vector<int64_t>{4, 5, 3, 1}, {1, 4});
  const auto loss_and_gradients = [&](int64_t last) {
    model.zero_grad();
    const Tensor fed = from_values<int64_t>(std::vector<int64_t>{2, 4, 5, last}, {1, 4});
    const Variable loss =
        nn::cross_entropy(model(source, lengths, fed), target, {.ignore_index = Vocabulary::kPadding});
    loss.backward();
    std::vector<Tensor> all{loss.data().clone()};
    for (const Variable& parameter : model.parameters()) all.push_back(parameter.grad().data().clone());
    return all;
  };
  const auto with_end = loss_and_gradients(Vocabulary::kEnd), with_another = loss_and_gradients(6);
  ASSERT_EQ(with_end.size(), with_another.size());
  for (size_t i = 0; i < with_end.size(); ++i)
    for (size_t j = 0; j < with_end[i].span<float>().size(); ++j)
      EXPECT_EQ(with_end[i].span<float>()[j], with_another[i].span<float>()[j]) << i << ", " << j;
}

}  // namespace
}  // namespace heed::translate
