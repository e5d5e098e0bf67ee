#include <heed/tensor/kernels/update.h>

#include <atomic>

#include <heed/optim/rmsprop.h>
#include <heed/optim/sgd.h>
#include <heed/tensor/threads.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

/// Sizes from none to several chunks, more than one thread's work in all.
const std::vector<int64_t> kSizes{3, 0, 70001, 1, 64, 32768, 100003, 17, 32769, 5};

struct Model {
  NamedVariables parameters;

  Model() {
    for (const int64_t size : kSizes)
      parameters.emplace_back(fmt::format("p{}", parameters.size()), Variable(random_tensor({size}), true));
  }
  void set_grads(uint64_t seed) {
    for (auto& [name, parameter] : parameters) parameter.set_grad(random_tensor(parameter.shape(), seed));
  }
};

/// All parameters after three steps, by one optimizer or by one for each.
template <class O>
std::vector<Tensor> moved(bool together) {
  Model model;
  std::vector<std::unique_ptr<O>> optimizers;
  if (together) optimizers.push_back(std::make_unique<O>(model.parameters));
  for (const auto& parameter : model.parameters)
    if (!together) optimizers.push_back(std::make_unique<O>(NamedVariables{parameter}));
  for (uint64_t step = 1; step <= 3; ++step) {
    model.set_grads(step);
    for (const auto& optimizer : optimizers) optimizer->step();
  }
  std::vector<Tensor> values;
  for (const auto& [name, parameter] : model.parameters) values.push_back(parameter.data());
  return values;
}

void expect_identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(identical(a[i], b[i])) << i;
}

template <class O>
void expect_same_however_it_is_done() {
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Tensor> alone = moved<O>(false), one_thread = moved<O>(true);
  set_num_threads(2);
  const std::vector<Tensor> two_threads = moved<O>(true);
  set_num_threads(before);
  expect_identical(one_thread, alone);
  expect_identical(two_threads, alone);
  EXPECT_FALSE(identical(alone[2], Model().parameters[2].second.data()));
}

}  // namespace

TEST(UpdateList, does_every_element_once_and_forgets) {
  kernels::UpdateList updates;
  std::vector<std::vector<std::atomic<int>>> seen;
  for (const int64_t size : kSizes) seen.emplace_back(static_cast<size_t>(size));
  for (auto& counts : seen)
    updates.add(static_cast<int64_t>(counts.size()), [&counts](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++counts[static_cast<size_t>(i)];
    });
  updates.run();
  updates.run();
  for (const auto& counts : seen)
    EXPECT_TRUE(std::ranges::all_of(counts, [](int count) { return count == 1; }));
}

TEST(UpdateList, can_be_cleared) {
  kernels::UpdateList updates;
  updates.add(1, [](int64_t, int64_t) { ADD_FAILURE() << "done after all"; });
  updates.clear();
  updates.run();
}

TEST(UpdateList, an_optimizer_of_all_parameters_is_one_for_each_to_the_last_bit) {
  expect_same_however_it_is_done<optim::SGD>();
  expect_same_however_it_is_done<optim::Adam>();
  expect_same_however_it_is_done<optim::AdamW>();
  expect_same_however_it_is_done<optim::RMSprop>();
}

TEST(Update, names_what_is_not_like_the_parameter) {
  kernels::UpdateList updates;
  Tensor p = ones({2}), other = ones({3}), fine = ones({2}), precise = ones({2}, DType::f64);
  const std::string message = " wanted f32(2,) for gradient and state, came f32(3,)";
  expect_error<ShapeError>([&] { kernels::sgd_update(updates, p, other, {}, {}); }, "[sgd]" + message);
  expect_error<ShapeError>([&] { kernels::sgd_update(updates, p, fine, other, {}); }, "[sgd]" + message);
  expect_error<ShapeError>([&] { kernels::adam_update(updates, p, fine, fine, other, {}, {}); },
                           "[adam]" + message);
  expect_error<ShapeError>([&] { kernels::adam_update(updates, p, fine, fine, fine, other, {}); },
                           "[adam]" + message);
  expect_error<ShapeError>([&] { kernels::rmsprop_update(updates, p, fine, fine, other, {}, {}); },
                           "[rmsprop]" + message);
  expect_error<ShapeError>([&] { kernels::average_update(updates, p, precise, 0.5); },
                           "[average] wanted f32(2,) for gradient and state, came f64(2,)");
}

TEST(Update, refuses_other_dtypes) {
  const Variable p = with_grad(ones({2}, DType::bf16), ones({2}, DType::bf16));
  optim::Adam adam({{"w", p}});
  expect_error<DTypeError>([&] { adam.step(); }, "[adam] wanted f32 or f64, came bf16(2,)");
}

TEST(Update, takes_a_gradient_in_any_layout) {
  const Tensor gradient = random_tensor({3, 4});
  const auto step = [](const Tensor& grad) {
    const Variable p = with_grad(random_tensor({4, 3}, 2), grad);
    optim::Adam adam({{"p", p}});
    adam.step();
    return p.data();
  };
  EXPECT_TRUE(identical(step(gradient.transpose(0, 1)), step(gradient.transpose(0, 1).clone())));
  EXPECT_TRUE(identical(step(zeros({1}).expand({4, 3})), step(zeros({4, 3}))));
}

TEST(Update, a_step_that_fails_changes_nothing_and_does_not_count) {
  Variable p(tensor_of({1, 2}), true), half(ones({2}, DType::bf16), true), twin(tensor_of({1, 2}), true);
  optim::Adam adam({{"p", p}, {"half", half}}), other({{"p", twin}});
  p.set_grad(tensor_of({3, 4}));
  half.set_grad(ones({2}, DType::bf16));
  EXPECT_THROW(adam.step(), DTypeError);
  EXPECT_TRUE(close(p.data(), {1, 2}, kExact));
  half.zero_grad();
  for (const double value : {0.5, -2.0}) {
    p.set_grad(full({2}, value)), twin.set_grad(full({2}, value));
    adam.step(), other.step();
  }
  EXPECT_TRUE(identical(p.data(), twin.data()));
  EXPECT_TRUE(same_numbers(adam.state_dict(), other.state_dict()));
}
