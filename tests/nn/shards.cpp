#include <heed/autograd/shards.h>

#include <thread>

#include <heed/nn/bahdanau.h>
#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>

#include "tests/nn/helpers.h"

/// Models whose batch is computed in parts, by several threads.
namespace heed::test {
namespace {

constexpr int64_t kRows = 6, kLength = 5, kWords = 9;

struct Kind {
  std::string name;
  std::function<std::unique_ptr<nn::EncoderDecoder>(double dropout)> make;
};

std::unique_ptr<nn::EncoderDecoder> recurrent(double dropout, bool attentive) {
  return std::make_unique<nn::Bahdanau>(nn::BahdanauOptions{.source_vocabulary = kWords,
                                                            .target_vocabulary = kWords,
                                                            .width = 8,
                                                            .layers = 2,
                                                            .dropout = dropout,
                                                            .attentive = attentive});
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"bahdanau", [](double dropout) { return recurrent(dropout, false); }},
      {"attentive", [](double dropout) { return recurrent(dropout, true); }},
      {"transformer", [](double dropout) -> std::unique_ptr<nn::EncoderDecoder> {
         return std::make_unique<nn::TransformerModel>(nn::TransformerModelOptions{
             .source_vocabulary = kWords,
             .target_vocabulary = kWords,
             .stack = {.width = 8, .feed_forward = 12, .heads = 2, .layers = 2, .dropout = dropout},
             .max_length = kLength});
       }}};
  return all;
}

class Shards : public testing::TestWithParam<size_t> {
 protected:
  std::unique_ptr<nn::EncoderDecoder> model(double dropout = 0) const {
    manual_seed(4);
    auto made = kinds().at(GetParam()).make(dropout);
    made->to(DType::f64);
    return made;
  }

  /// The sum of the losses of some rows, which are of several lengths.
  static Variable loss(nn::EncoderDecoder& model, int64_t begin, int64_t end) {
    Generator generator(8);
    const Tensor source = rand_integers({kRows, kLength}, 2, kWords, generator),
                 target = rand_integers({kRows, kLength}, 2, kWords, generator),
                 lengths = rand_integers({kRows}, 1, kLength + 1, generator);
    const auto part = [&](const Tensor& all) { return all.slice(0, begin, end); };
    return nn::cross_entropy(model(part(source), part(lengths), part(target)), part(target)) *
           static_cast<double>(end - begin);
  }
};

INSTANTIATE_TEST_SUITE_P(Model, Shards, testing::Range<size_t>(0, 3),
                         [](const auto& kind) { return kinds().at(kind.param).name; });

TEST_P(Shards, have_the_gradients_of_the_whole_batch) {
  const auto whole = model(), parted = model();
  loss(*whole, 0, kRows).backward();
  sharded_backward(parted->parameters(), 3, [&](int64_t i) { return loss(*parted, 2 * i, 2 * i + 2); });
  const auto wanted = whole->named_parameters();
  const auto got = parted->named_parameters();
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(close(got[i].second.grad().data(), wanted[i].second.grad().data(), kF64)) << got[i].first;
}

TEST_P(Shards, refuse_hooks_and_edits_which_one_shard_may_have) {
  const auto net = model();
  const auto backward = [&](int64_t shards) {
    sharded_backward(net->parameters(), shards, [&](int64_t) { return loss(*net, 0, 2); });
  };
  auto modules = net->named_modules();
  nn::Module& layer = *modules.at(1).second;
  const std::string name = "\"" + modules.at(1).first + "\"";
  {
    const auto hook = layer.register_point_hook([](const nn::Point&) {});
    backward(1);
    expect_error<GraphError>(
        [&] { backward(2); },
        "[sharded_backward] wanted no hooks or one shard, came a module with them: " + name);
  }
  {
    const auto hook = layer.register_forward_hook(
        [](nn::Module&, std::span<const Variable>, const Variable&) { return Variable(); });
    backward(1);
    expect_error<GraphError>([&] { backward(2); }, "came a module with them: " + name);
  }
  {
    const auto edit = layer.register_point_edit("output", [](const nn::Point& point) { return point.value; });
    backward(1);
    expect_error<GraphError>(
        [&] { backward(2); },
        "[sharded_backward] wanted no edits or one shard, came a module with them: " + name);
  }
  backward(2);
}

TEST_P(Shards, one_model_is_read_by_several_threads_at_once) {
  constexpr size_t kThreads = 4;
  const auto net = model(0.3);
  const std::vector<Variable> parameters = net->parameters();
  const auto gradients = [&](size_t number) {
    manual_seed(number);
    const Variable total = loss(*net, static_cast<int64_t>(number), static_cast<int64_t>(number) + 2);
    std::vector<Tensor> all;
    for (const Variable& one : grad({&total, 1}, parameters)) all.push_back(one.data());
    return all;
  };
  std::vector<std::vector<Tensor>> alone(kThreads), together(kThreads);
  for (size_t i = 0; i < kThreads; ++i) alone[i] = gradients(i);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) together[i] = gradients(i);
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kThreads; ++i)
    for (size_t j = 0; j < alone[i].size(); ++j) EXPECT_TRUE(identical(together[i][j], alone[i][j])) << i;
}

}  // namespace
}  // namespace heed::test
