#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

OpFunction expand_to(const Shape& shape) {
  return [=](In x, Args) { return Variables{x[0].expand(shape)}; };
}

std::vector<OpCase> cases() {
  return {
      {"reshape",
       [](In x, Args) {
         return Variables{x[0].reshape({-1, x[0].size(-1)})};
       },
       nullptr,
       {{{{1, 1}}}, {{{2, 0, 4}}}}},
      {"reshape_copy",
       [](In x, Args) {
         return Variables{x[0].transpose(0, 2).reshape({x[0].size(2), -1})};
       }},
      {"transpose",
       [](In x, Args) { return Variables{x[0].transpose(-1, 0)}; },
       nullptr,
       {{{{1}}}, {{{1, 1}}}, {{{2, 0}}}}},
      {"permute",
       [](In x, Args) {
         return Variables{x[0].permute({1, 2, 0})};
       },
       nullptr,
       {{{{1, 1, 1}}}, {{{2, 0, 3}}}}},
      timed({"expand", expand_to({2, 3, 4}), nullptr, {{{{}}}, {{{1}}}}},
            {{{128, 1}}, {}, expand_to({64, 128, 128})}),
      {"slice",
       [](In x, Args) { return Variables{x[0].slice(1, 1, x[0].size(1) < 6 ? x[0].size(1) : 6, 2)}; },
       nullptr,
       {{{{1, 1}}}, {{{1, 2}}}, {{{0, 7}}}}},
      {"slice_from_the_end", [](In x, Args) { return Variables{x[0].slice(-1, -4, -1)}; }},
      {"select", [](In x, Args) { return Variables{x[0].select(1, -1)}; }, nullptr, {{{{1, 1}}}, {{{0, 2}}}}},
      timed({"squeeze",
             [](In x, Args) { return Variables{x[0].squeeze(1)}; },
             nullptr,
             {{{{1, 1}}}, {{{0, 1}}}}},
            {{{512, 1, 1024}}}),
      {"unsqueeze", [](In x, Args) { return Variables{x[0].unsqueeze(-1)}; }, nullptr, {{{{}}}, {{{0}}}}},
  };
}

INSTANTIATE_TEST_SUITE_P(views, OpTest, op_cases(with_bf16(cases()), {{{64, 128, 128}}}), case_name);

TEST(views, what_does_not_fit_is_named) {
  const Variable x = zeros({2, 3});
  expect_error<ShapeError>([&] { return x.reshape({4}); }, "[reshape] sizes do not match: (2, 3) to (4,)");
  expect_error<ShapeError>(
      [&] {
        return x.expand({2, 4});
      },
      "[expand] shape (2, 3) does not expand to (2, 4)");
  expect_error<ShapeError>([&] { return x.permute({0}); },
                           "[permute] wanted 2 axes for shape (2, 3), came (0,)");
  expect_error<ShapeError>([&] { return x.squeeze(1); }, "[squeeze] wanted an axis of size 1, came axis 1");
  expect_error<IndexError>([&] { return x.transpose(0, 2); },
                           "[transpose] wanted an axis in [-2, 2), came 2");
  expect_error<IndexError>([&] { return x.select(1, 3); },
                           "[select] index 3 is outside axis 1 of shape (2, 3)");
  expect_error<IndexError>([&] { return x.slice(1, 2, 5); }, "[slice] wanted 0 <= begin <= end <= 3");
}

TEST(views, share_the_memory_of_what_they_are_made_from) {
  const Variable x(zeros({2, 3}), true);
  EXPECT_TRUE(x.reshape({3, 2}).data().shares_memory(x.data()));
  EXPECT_TRUE(x.transpose(0, 1).data().shares_memory(x.data()));
  EXPECT_TRUE(x.slice(1, 0, 2).data().shares_memory(x.data()));
}

}  // namespace
}  // namespace heed::test
