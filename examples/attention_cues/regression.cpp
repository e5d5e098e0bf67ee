#include "attention_cues/regression.h"

#include <fmt/format.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops.h>
#include <heed/nn/loss.h>
#include <heed/nn/pooling.h>
#include <heed/optim/adam.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/random.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace cues {
namespace {

using namespace heed;
using nn::AttentionPooling;

Tensor truth(const Tensor& x) {
  Tensor y = x.clone();
  for (float& number : y.mutable_span<float>()) number = 2 * std::sin(number) + std::pow(number, 0.8F);
  return y;
}

double root_mean_square(const Variable& a, const Variable& b) { return std::sqrt(nn::mse_loss(a, b).item()); }

/// Each training point sees all others: its own value would be the best guess, and teach nothing.
nn::Mask others() {
  return nn::Mask::valid_pairs(kernels::logical_not(eye(kPoints, kPoints, DType::boolean)));
}

template <class Score>
void train(AttentionPooling<Score>& pooling, const Variable& queries, const Data& data) {
  optim::Adam optimizer(pooling.named_parameters(), {.lr = 0.05});
  for (int step = 0; step < 300; ++step) {
    const Variable loss = nn::mse_loss(pooling(queries, data.x, data.y, others()), data.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

template <class Score>
Result ask(const std::string& name, AttentionPooling<Score>& pooling, const Variable& queries,
           const Data& data) {
  const NoGrad guard;
  const auto [output, weights] = pooling.attend(queries, data.x, data.y);
  return {name, root_mean_square(output, data.wanted), output.data().reshape({kPoints}),
          weights.data().squeeze(0)};
}

Inside look_inside(AttentionPooling<nn::GaussianScore>& kernel, const Data& data) {
  const Tensor open = kernel.attend(data.x, data.x, data.y).weights.data();
  std::map<std::string, std::shared_ptr<const Tensor>> gradients;
  const HookHandle watch = kernel.register_point_hook(
      [&](const nn::Point& point) { gradients[std::string(point.name)] = point.watch_grad(); });
  const nn::Attended attended = kernel.attend(data.x, data.x, data.y, others());
  nn::mse_loss(attended.output, data.y).backward();
  return {.open = open.squeeze(0),
          .masked = attended.weights.data().squeeze(0),
          .weight_gradient = gradients.at("weights")->squeeze(0),
          .score_gradient = gradients.at("scores")->squeeze(0)};
}

/// (1, points, 1) -> (1, points, 2): a 1 beside each number takes the place of a bias.
Variable with_one(const Variable& x) { return concat({x, ones_like(x.data())}, 2); }

}  // namespace

Data make_data() {
  std::vector<float> places = rand_uniform({kPoints}, 0, kFarthest).to_vector<float>();
  std::ranges::sort(places);
  const Tensor x = from_values<float>(places, {1, kPoints, 1});
  const Tensor asked = arange(0, kFarthest, kFarthest / kPoints).reshape({1, kPoints, 1});
  const Variable y = truth(x) + Variable(rand_normal(x.shape(), 0, kNoise));
  return {.x = x, .y = y.data(), .asked = asked, .wanted = truth(asked)};
}

Results compare_poolings(const Data& data) {
  AttentionPooling<nn::UniformScore> average;
  AttentionPooling<nn::KeyScore> key({.score = {.key_width = 1}});
  AttentionPooling<nn::GaussianScore> fixed({.score = {.w = 1}});
  AttentionPooling<nn::GaussianScore> learned({.score = {.w = 1, .learnable = true}});
  AttentionPooling<nn::AdditiveScore> additive({.score = {.query_width = 2, .key_width = 1, .hidden = 16}});
  train(key, data.x, data);
  train(learned, data.x, data);
  train(additive, with_one(data.x), data);
  const double w = learned.parameters()[0].item();
  return {.average = ask("average", average, data.asked, data),
          .key = ask("keys alone, learned", key, data.asked, data),
          .fixed = ask("kernel, w = 1", fixed, data.asked, data),
          .learned = ask(fmt::format("kernel, learned w = {:.2f}", w), learned, data.asked, data),
          .additive = ask("additive, learned", additive, with_one(data.asked), data),
          .learned_inside = look_inside(learned, data)};
}

Sweep sweep_widths(const Data& data) {
  Sweep sweep;
  constexpr int kSteps = 20;  // from one power of ten to the next: 0.1 ... 100
  for (int step = -kSteps; step <= 2 * kSteps; ++step) {
    const double w = std::pow(10, static_cast<double>(step) / kSteps);
    AttentionPooling<nn::GaussianScore> pooling({.score = {.w = w}});
    const Result test = ask("", pooling, data.asked, data);
    const Variable scores = Variable(nn::GaussianScore({.w = w})(data.x, data.x).data(), true);
    const Variable weights = masked_softmax(scores, others());
    const Variable loss = nn::mse_loss(weights.matmul(data.y), data.y);
    loss.backward();
    const auto as_float = [](double number) { return static_cast<float>(number); };
    sweep.w.push_back(as_float(w));
    sweep.test_error.push_back(as_float(test.error));
    sweep.training_error.push_back(as_float(std::sqrt(loss.item())));
    sweep.largest_weight.push_back(as_float(max(weights, {2}).mean().item()));
    sweep.score_gradient.push_back(as_float(scores.grad().pow(2).sum().sqrt().item()));
  }
  return sweep;
}

}  // namespace cues
