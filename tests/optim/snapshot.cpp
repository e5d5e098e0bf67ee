#include <heed/optim/snapshot.h>

#include <limits>

#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>
#include <heed/optim/average.h>
#include <heed/optim/clip.h>
#include <heed/optim/rmsprop.h>
#include <heed/optim/schedule.h>
#include <heed/optim/sgd.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

/// Training with all that has a state: dropout, an optimizer with a group, a schedule and a plateau, an
/// average, and data drawn by a generator of their own.
class Run {
 public:
  template <class O, class Options>
  Run(std::in_place_type_t<O>, const Options& options, uint64_t seed)
      : seeded_(seed),
        optimizer_(std::make_unique<O>(model_.named_parameters(), options)),
        average_(model_.named_parameters(), {.decay = 0.8}),
        data_(seed) {
    optimizer_->add_group(
        {.name = "plain", .parameters = {"*.bias"}, .options = {{"weight_decay", 0}, {"lr_scale", 0.5}}});
  }

  void train(int64_t last) {
    const optim::Schedule schedule = optim::warmup(3, optim::cosine({.lr = 0.02, .steps = 9}));
    for (; step_ < last; ++step_) {
      const Tensor source = rand_integers({8, 5}, 0, 20, data_), target = rand_integers({8, 5}, 0, 15, data_);
      const Tensor lengths = rand_integers({8}, 1, 6, data_);
      optimizer_->set_lr(schedule(step_) * plateau_.factor());
      optimizer_->zero_grad();
      const Variable loss = nn::cross_entropy(model_(source, lengths, target), target);
      loss.backward();
      optim::clip_grad_norm(model_.parameters(), 1);
      optimizer_->step();
      average_.update();
      plateau_.step(loss.item());
    }
  }

  optim::Snapshot snapshot() const {
    return {{"model", model_.state_dict()},
            {"optimizer", optimizer_->state_dict()},
            {"average", average_.state_dict()},
            {"plateau", plateau_.state_dict()},
            {"data", optim::state_of(data_)},
            {"random", optim::state_of(default_generator())},
            {"place", {{"step", full({}, static_cast<double>(step_), DType::i64)}}}};
  }
  void resume(const optim::Snapshot& snapshot) {
    model_.load_state_dict(snapshot.at("model"));
    optimizer_->load_state_dict(snapshot.at("optimizer"));
    average_.load_state_dict(snapshot.at("average"));
    plateau_.load_state_dict(snapshot.at("plateau"));
    optim::restore(data_, snapshot.at("data"));
    optim::restore(default_generator(), snapshot.at("random"));
    step_ = static_cast<int64_t>(snapshot.at("place").at("step").item());
  }

 private:
  /// Sets the generator that the model's first weights come from.
  struct Seeded {
    explicit Seeded(uint64_t seed) { manual_seed(seed); }
  };

  Seeded seeded_;
  nn::TransformerModel model_{
      {.source_vocabulary = 20,
       .target_vocabulary = 15,
       .stack = {.width = 8, .feed_forward = 16, .heads = 2, .layers = 1, .dropout = 0.2}}};
  std::unique_ptr<optim::Optimizer> optimizer_;
  optim::WeightAverage average_;
  optim::Plateau plateau_{{.factor = 0.5, .patience = 1}};
  Generator data_;
  int64_t step_ = 0;
};

void expect_same(const optim::Snapshot& a, const optim::Snapshot& b) {
  for (const auto& [part, state] : a) EXPECT_TRUE(same_numbers(state, b.at(part))) << part;
  EXPECT_EQ(a.size(), b.size());
}

/// Twelve steps at once, and with a stop after each of some numbers of them.
template <class O, class Options>
void expect_resumes_to_the_last_bit(const Options& options) {
  const TempDir folder;
  const std::in_place_type_t<O> kind;
  Run straight(kind, options, 1);
  straight.train(12);
  const optim::Snapshot wanted = straight.snapshot();
  for (const int64_t stop : {0, 2, 7}) {
    {
      Run stopped(kind, options, 1);
      stopped.train(stop);
      optim::save_snapshot(folder.file("run"), stopped.snapshot());
    }
    Options others = options;
    others.lr = 3;
    others.weight_decay = 0.7;
    Run resumed(kind, others, 2);
    resumed.train(1);
    resumed.resume(optim::load_snapshot(folder.file("run")));
    resumed.train(12);
    expect_same(resumed.snapshot(), wanted);
  }
}

}  // namespace

TEST(Snapshot, training_goes_on_to_the_last_bit_with_sgd) {
  expect_resumes_to_the_last_bit<optim::SGD>(optim::SGDOptions{.weight_decay = 0.1});
  expect_resumes_to_the_last_bit<optim::SGD>(optim::SGDOptions{.momentum = 0.9, .dampening = 0.5});
  expect_resumes_to_the_last_bit<optim::SGD>(optim::SGDOptions{.momentum = 0.9, .nesterov = true});
}

TEST(Snapshot, training_goes_on_to_the_last_bit_with_adam) {
  expect_resumes_to_the_last_bit<optim::Adam>(optim::AdamOptions{.weight_decay = 0.1});
  expect_resumes_to_the_last_bit<optim::Adam>(optim::AdamOptions{.amsgrad = true});
  expect_resumes_to_the_last_bit<optim::AdamW>(optim::AdamWOptions{});
}

TEST(Snapshot, training_goes_on_to_the_last_bit_with_rmsprop) {
  expect_resumes_to_the_last_bit<optim::RMSprop>(optim::RMSpropOptions{.weight_decay = 0.1});
  expect_resumes_to_the_last_bit<optim::RMSprop>(optim::RMSpropOptions{.momentum = 0.9, .centered = true});
}

TEST(Snapshot, keeps_all_bits_of_a_generator) {
  const TempDir folder;
  const uint64_t large = std::numeric_limits<uint64_t>::max() - 6;
  Generator saved, loaded;
  saved.restore(large, large - 1);
  optim::save_snapshot(folder.file("run"), {{"random", optim::state_of(saved)}});
  optim::restore(loaded, optim::load_snapshot(folder.file("run")).at("random"));
  EXPECT_EQ(loaded.seed(), large);
  EXPECT_EQ(loaded.position(), large - 1);
}

TEST(Snapshot, a_generator_refuses_another_state_and_stays_where_it_is) {
  Generator generator(5);
  generator.take(3);
  const Tensor one = ones({}, DType::i64);
  expect_error<ValueError>(
      [&] {
        optim::restore(generator, {{"seed", one}});
      },
      "[generator] its state lacks \"position\"");
  expect_error<ShapeError>(
      [&] {
        optim::restore(generator, {{"seed", one}, {"position", ones({})}});
      },
      "[generator] wanted \"position\" as i64(), came f32()");
  expect_error<ValueError>(
      [&] {
        optim::restore(generator, {{"seed", one}, {"position", one}, {"speed", one}});
      },
      "[generator] its state has an unexpected \"speed\"");
  EXPECT_EQ(generator.seed(), 5u);
  EXPECT_EQ(generator.position(), 3u);
}

TEST(Snapshot, refuses_parts_that_it_could_not_read_again) {
  const TempDir folder;
  const std::string path = folder.file("run");
  const StateDict state{{"x", ones({1})}};
  expect_error<ValueError>(
      [&] {
        optim::save_snapshot(path, {{"a/b", state}});
      },
      "[snapshot] wanted a part's name without \"/\", came \"a/b\"");
  expect_error<ValueError>([&] { optim::save_snapshot(path, {{"", state}}); }, "came \"\"");
  expect_error<ValueError>(
      [&] {
        optim::save_snapshot(path, {{"a", {}}});
      },
      "[snapshot] the part \"a\" has no entries");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Snapshot, refuses_a_file_that_is_none) {
  const TempDir folder;
  const std::string path = folder.file("weights");
  save_safetensors(path, {{"weight", ones({1})}});
  expect_error<FileError>([&] { optim::load_snapshot(path); },
                          "[snapshot] " + path + ": \"weight\" is no entry of a part");
  save_safetensors(path, {{"/weight", ones({1})}});
  expect_error<FileError>([&] { optim::load_snapshot(path); }, "\"/weight\" is no entry of a part");
}
