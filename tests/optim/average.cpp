#include <heed/optim/average.h>

#include <cmath>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;
using optim::WeightAverage;

namespace {

Tensor average_of(const WeightAverage& average, const std::string& name) {
  return average.state_dict().at(name + "/average");
}

}  // namespace

TEST(WeightAverage, is_the_sum_with_falling_weights) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Variable p(ones({2}, dtype), true);
    WeightAverage average({{"p", p}}, {.decay = 0.9});
    double wanted = 1;
    for (int step = 0; step < 30; ++step) {
      Tensor numbers = p.data();
      numbers.fill(std::sin(step));
      average.update();
      wanted = 0.9 * wanted + 0.1 * std::sin(step);
      EXPECT_TRUE(close(average_of(average, "p"), {wanted, wanted}, dtype == DType::f64 ? kF64 : kF32));
    }
  }
}

TEST(WeightAverage, forgets_its_start_soon_if_it_warms_up) {
  Variable p(full({2}, 1000.0, DType::f64), true);
  WeightAverage average({{"p", p}}, {.decay = 0.5, .warm_up = true});
  WeightAverage taken_up({{"p", p}}, {.decay = 0.5, .warm_up = true});
  double wanted = 1000;
  Tensor numbers = p.data();
  for (int n = 0; n < 12; ++n) {
    numbers.fill(n);
    const double kept = n < 8 ? (n + 1.0) / (n + 10.0) : 0.5;  // from 9 / 18 on
    wanted = kept * wanted + (1 - kept) * n;
    average.update();
    EXPECT_TRUE(close(average_of(average, "p"), {wanted, wanted}, kF64)) << n;
    if (n == 4) taken_up.load_state_dict(average.state_dict());
    if (n > 4) taken_up.update();
  }
  EXPECT_TRUE(same_numbers(taken_up.state_dict(), average.state_dict()));
  StateDict state = average.state_dict();
  state.at("updates") = scalar(-1, DType::i64);
  expect_error<ValueError>([&] { average.load_state_dict(state); }, "[average] wanted \"updates\" in [0, ");
  state.erase("updates");
  expect_error<ValueError>([&] { average.load_state_dict(state); }, "[average] its state lacks \"updates\"");
}

TEST(WeightAverage, lends_its_numbers_to_the_model_for_a_while) {
  const Variable a(random_tensor({3}), true), b(random_tensor({2, 2}, 2), true);
  WeightAverage average({{"a", a}, {"b", b}, {"tied", a}}, {.decay = 0.5});
  EXPECT_EQ(average.state_dict().size(), 3u);
  const Tensor first = a.data().clone();
  Tensor numbers = a.data();
  numbers.copy_from(random_tensor({3}, 3));
  average.update();
  const Tensor before = a.data().clone(), mean = average_of(average, "a").clone();
  {
    const optim::AveragedWeights averaged(average);
    EXPECT_TRUE(identical(a.data(), mean));
    EXPECT_TRUE(identical(b.data(), average_of(average, "b")));
    EXPECT_FALSE(a.data().shares_memory(average_of(average, "a")));
    const optim::AveragedWeights again(average);
    EXPECT_TRUE(identical(a.data(), mean));
  }
  EXPECT_TRUE(identical(a.data(), before));
  EXPECT_TRUE(identical(average_of(average, "a"), mean));
  EXPECT_FALSE(identical(first, before));
}

TEST(WeightAverage, lends_them_until_an_exception_too) {
  const Variable p(ones({2}), true);
  WeightAverage average({{"p", p}});
  Tensor numbers = p.data();
  numbers.fill(5);
  EXPECT_THROW(
      {
        const optim::AveragedWeights averaged(average);
        raise<ValueError>("[evaluate] {}", p.data().at({0}));
      },
      ValueError);
  EXPECT_TRUE(close(p.data(), {5, 5}, kExact));
}

TEST(WeightAverage, goes_on_from_a_state) {
  Variable p(ones({2}), true);
  WeightAverage saved({{"p", p}}, {.decay = 0.5});
  Tensor numbers = p.data();
  numbers.fill(3);
  saved.update();
  WeightAverage loaded({{"p", p}}, {.decay = 0.1});
  loaded.load_state_dict(saved.state_dict());
  loaded.update();
  EXPECT_TRUE(close(average_of(loaded, "p"), {2.5, 2.5}, kExact));
  EXPECT_TRUE(close(average_of(saved, "p"), {2, 2}, kExact));
}

TEST(WeightAverage, refuses_a_state_that_does_not_fit_and_keeps_its_own) {
  const Variable p(ones({2}), true);
  WeightAverage average({{"p", p}}, {.decay = 0.5});
  const StateDict before = average.state_dict();
  const auto with = [&](const std::string& key, const Tensor& value) {
    StateDict state{{"decay", scalar(0.25, DType::f64)}, {"p/average", zeros({2})}};
    state.erase(key);
    if (value.defined()) state.emplace(key, value);
    return state;
  };
  const auto load = [&](const StateDict& state) {
    return [&average, state] { average.load_state_dict(state); };
  };
  expect_error<ValueError>(load(with("decay", {})), "[average] its state lacks \"decay\"");
  expect_error<ValueError>(load(with("decay", scalar(1, DType::f64))),
                           "[average] wanted decay in [0, 1), came 1");
  expect_error<ShapeError>(load(with("decay", scalar(0.5))), "wanted \"decay\" to be one f64, came f32()");
  expect_error<ValueError>(load(with("p/average", {})), "[average] its state lacks \"p/average\"");
  expect_error<ShapeError>(load(with("p/average", ones({3}))),
                           "wanted \"p/average\" as f32(2,), came f32(3,)");
  expect_error<ValueError>(load(with("q/average", ones({2}))), "has an unexpected \"q/average\"");
  EXPECT_TRUE(same_numbers(average.state_dict(), before));
}

TEST(WeightAverage, names_what_it_cannot_average) {
  const Variable a(ones({1}), true), b(ones({1}), true), half(ones({1}, DType::bf16), true);
  for (const double decay : {-0.1, 1.0, static_cast<double>(NAN)})
    expect_error<ValueError>(
        [&] {
          WeightAverage({{"a", a}}, {.decay = decay});
        },
        fmt::format("[average] wanted decay in [0, 1), came {}", decay));
  expect_error<ValueError>(
      [&] {
        WeightAverage({{"w", a}, {"w", b}});
      },
      "[average] two parameters have the name \"w\"");
  WeightAverage average({{"half", half}});
  expect_error<DTypeError>([&] { average.update(); }, "[average] wanted f32 or f64, came bf16(1,)");
}
