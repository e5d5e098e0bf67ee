#include <gtest/gtest.h>

#include <heed/autograd/named.h>

namespace heed {
namespace {

TEST(NamedTest, a_star_stands_for_any_letters) {
  EXPECT_TRUE(matches("decoder.*.cross_attention", "decoder.layers.0.cross_attention"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*bias", "bias"));
  EXPECT_TRUE(matches("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(matches("a**", "a"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("a", ""));
  EXPECT_FALSE(matches("*.bias", "bias"));
  EXPECT_FALSE(matches("a*b*c", "a.c.b"));
  EXPECT_FALSE(matches("layers.1", "layers.10"));
}

TEST(NamedTest, many_stars_take_no_longer) {
  std::string pattern, name(2000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_TRUE(matches(pattern, name));
  EXPECT_FALSE(matches(pattern + "b", name));
}

TEST(NamedTest, the_nearest_names_come_first) {
  const std::vector<std::string> names{"encoder.layers.0", "decoder.layers.1", "decoder.layers.0", "output"};
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearest_names("decoder.layer.0", names, 2), (Names{"decoder.layers.0", "decoder.layers.1"}));
  EXPECT_EQ(nearest_names("ouput", names, 1), Names{"output"});
  EXPECT_EQ(nearest_names("x", names, 9).size(), 4u);
  EXPECT_EQ(nearest_names("x", Names{}).size(), 0u);
}

}  // namespace
}  // namespace heed
