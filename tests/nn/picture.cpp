#include <heed/autograd/graph.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <heed/autograd/ops.h>
#include <heed/nn/linear.h>
#include <heed/nn/sequential.h>
#include <heed/nn/transformer.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

/// What Graphviz makes of to_dot.
namespace {

/// The output of a command, with what it complains about.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> part{};
  for (size_t size = 0; (size = std::fread(part.data(), 1, part.size(), pipe.get())) > 0;)
    text.append(part.data(), size);
  return text;
}

bool has_graphviz() { return output_of("dot -V").starts_with("dot - graphviz"); }

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Every box, edge and frame is there, and nothing was complained about: the output begins as an SVG does.
void expect_drawn(const std::string& dot) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("heed-picture-{}.dot", static_cast<const void*>(&dot));
  std::ofstream(file) << dot;
  const std::string svg = output_of("dot -Tsvg " + file.string());
  std::filesystem::remove(file);
  EXPECT_TRUE(svg.starts_with("<?xml")) << svg.substr(0, 300);
  EXPECT_EQ(count(svg, "class=\"node\""), count(dot, "];\n") - count(dot, " -> ") - 3) << "3 lines of style";
  EXPECT_EQ(count(svg, "class=\"edge\""), count(dot, " -> "));
  EXPECT_EQ(count(svg, "class=\"cluster\""), count(dot, "subgraph"));
}

}  // namespace

TEST(Picture, of_models_is_drawn_by_graphviz_at_any_depth) {
  if (!has_graphviz()) GTEST_SKIP() << "the program dot of Graphviz is missing";
  nn::TransformerEncoder encoder({.width = 8, .feed_forward = 16, .heads = 2, .layers = 2});
  nn::Sequential perceptron;
  perceptron.add<nn::Linear>(nn::LinearOptions{.inputs = 8, .outputs = 4});
  perceptron.add<nn::Linear>(nn::LinearOptions{.inputs = 4, .outputs = 1});
  const Variable x(random_tensor({2, 5, 8}), true);
  const Variable encoded = encoder(x, nn::Mask());
  const Variable loss = perceptron(encoded).pow(2).mean();
  NamedVariables names = encoder.named_parameters();
  names.insert(names.end(), {"a \"name\" with \\ <b>, {}; and\nanother line", x});
  const EdgeNorms norms(loss, names);
  std::vector<Variable> leaves;
  for (const auto& [name, variable] : names) leaves.push_back(variable);
  (void)grad({&loss, 1}, leaves);
  for (const int64_t depth : {0, 1, 2, 3, 9}) expect_drawn(to_dot(norms.graph(), {.depth = depth}));
}
