#include <heed/nn/summary.h>

#include <sstream>

#include <heed/nn/sequential.h>
#include <heed/nn/transformer_model.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST(Summary, lists_every_parameter_with_its_type_shape_and_size) {
  nn::Sequential net;
  net.add<nn::Linear>(nn::LinearOptions{.inputs = 30, .outputs = 4}).freeze();
  net.add<nn::LayerNorm>(nn::LayerNormOptions{.width = 4}).to(DType::f64);
  EXPECT_EQ(nn::summary(net),
            "name       type       shape    parameters  bytes\n"
            "0.weight*  Linear     (4, 30)         120    480\n"
            "0.bias*    Linear     (4,)              4     16\n"
            "1.weight   LayerNorm  (4,)              4     32\n"
            "1.bias     LayerNorm  (4,)              4     32\n"
            "total                                 132    560\n"
            "* frozen                              124       \n");
}

TEST(Summary, counts_a_shared_parameter_once_and_nothing_in_nothing) {
  struct Tied : nn::Layer<Tied> {
    Tied() { parameter("up", parameter("down", ones({2, 3}))); }
  } tied;
  EXPECT_EQ(nn::summary(tied),
            "name   type  shape   parameters  bytes\n"
            "down   Tied  (2, 3)           6     24\n"
            "total                         6     24\n");
  nn::Sequential empty;
  EXPECT_EQ(lines_of(nn::summary(empty)).size(), 2u);
}

TEST(Summary, of_a_large_model_is_aligned_and_fits_into_100_columns) {
  struct Wrapper : nn::Layer<Wrapper> {
    explicit Wrapper(nn::Module& inner) {
      child("a_model_whose_name_alone_would_fill_half_of_a_line", inner);
    }
  };
  nn::TransformerModel model({.source_vocabulary = 20000,
                              .target_vocabulary = 30000,
                              .stack = {.width = 8,
                                        .feed_forward = 16,
                                        .heads = 2,
                                        .layers = 2,
                                        .score = nn::each_head<nn::AdditiveScore>({.hidden = 4})}});
  Wrapper wrapped(model);
  const auto lines = lines_of(nn::summary(wrapped));
  ASSERT_EQ(lines.size(), model.named_parameters().size() + 2);
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 100u) << line;
    EXPECT_EQ(line.size(), lines[0].size()) << line;
  }
  EXPECT_EQ(lines[1].substr(0, 3), "...");
  const auto score = std::ranges::find_if(
      lines, [](const std::string& line) { return line.find("cross_attention.score.1.w_v") != line.npos; });
  ASSERT_NE(score, lines.end());
  EXPECT_NE(score->find("AdditiveScore"), std::string::npos) << *score;
  EXPECT_NE(lines.back().find(std::to_string(model.parameter_count())), std::string::npos);
}
