#include <gtest/gtest.h>

#include <iostream>
#include <string_view>

#include "tests/ops/op_bench.h"

/// The tests; with --bench[=PART_OF_A_NAME] the times of the cases instead.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kBench = "--bench";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == kBench) return heed::test::bench_op_cases("", std::cout, std::cerr);
    if (argument.starts_with("--bench="))
      return heed::test::bench_op_cases(std::string(argument.substr(kBench.size() + 1)), std::cout,
                                        std::cerr);
  }
  return RUN_ALL_TESTS();
}
