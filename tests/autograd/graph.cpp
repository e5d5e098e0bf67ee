#include <heed/autograd/graph.h>

#include <gtest/gtest.h>
#include <pthread.h>

#include <cmath>

#include <heed/autograd/ops.h>

#include "tests/autograd/small_stack.h"
#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

Variable leaf(const Tensor& values) { return Variable(values, true); }

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// relu(x w) + x, in two modules.
struct Example {
  Variable x = leaf(tensor_of({{3, 4}})), w = leaf(tensor_of({{1, 0}, {0, -2}}));
  Variable loss;
  NamedVariables names{{"encoder.inner.weight", w}};
  Example() {
    Variable h;
    {
      const Scope outer("encoder");
      {
        const Scope inner("inner");
        h = relu(matmul(x, w));
      }
      h = h + x;
    }
    loss = sum(h);
  }
};

TEST(graph, has_a_node_for_each_op_and_leaf_and_an_edge_for_each_input) {
  const Example example;
  const Graph graph = graph_of(example.loss, example.names);
  ASSERT_EQ(graph.nodes.size(), 6);
  std::vector<std::string> names, scopes;
  for (const Graph::Node& node : graph.nodes) {
    names.push_back(node.name);
    scopes.push_back(node.scope);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"leaf", "weight", "matmul", "relu", "add", "sum"}));
  EXPECT_EQ(scopes,
            (std::vector<std::string>{"", "encoder.inner", "encoder.inner", "encoder.inner", "encoder", ""}));
  EXPECT_TRUE(graph.nodes[1].is_leaf);
  EXPECT_FALSE(graph.nodes[2].is_leaf);
  EXPECT_EQ(graph.nodes[1].outputs.at(0).shape, Shape({2, 2}));
  EXPECT_EQ(graph.nodes[5].number, example.loss.producer().node->number());
  std::vector<std::array<size_t, 4>> edges;
  for (const Graph::Edge& edge : graph.edges) {
    edges.push_back({edge.from, edge.output, edge.to, edge.input});
    EXPECT_FALSE(edge.grad_norm.has_value());
  }
  EXPECT_EQ(edges, (std::vector<std::array<size_t, 4>>{
                       {0, 0, 2, 0}, {1, 0, 2, 1}, {2, 0, 3, 0}, {3, 0, 4, 0}, {0, 0, 4, 1}, {4, 0, 5, 0}}));
}

TEST(graph, knows_outputs_by_number_and_shared_nodes_once) {
  const Variable x = leaf(tensor_of({1, 2, 3}));
  const int64_t sizes[] = {1, 2};
  const std::vector<Variable> parts = split(x, sizes, 0);
  const std::vector<Variable> results{parts[1] * 2, parts[1] + parts[0], tensor_of({1})};
  const Graph graph = graph_of(results);
  EXPECT_EQ(graph.nodes.size(), 4);  // x, split, scale, add; constants are not in it
  ASSERT_EQ(graph.nodes[1].outputs.size(), 2);
  EXPECT_EQ(graph.nodes[1].outputs[1].shape, Shape({2}));
  EXPECT_EQ(graph.edges[1].output, 1);
  EXPECT_TRUE(graph_of(Variable(tensor_of({1}))).nodes.empty());
}

TEST(graph, edge_norms_are_those_of_the_gradients_that_flowed) {
  const Example example;
  const EdgeNorms norms(example.loss, example.names);
  example.loss.backward();
  std::vector<double> seen;
  for (const Graph::Edge& edge : norms.graph().edges) seen.push_back(edge.grad_norm.value_or(-1));
  // x w = (3, -8): relu lets (1, 0) back, which is (1, 0) for x and x^T (1, 0) for w.
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(seen[1], 5);
  EXPECT_EQ(seen[2], 1);
  for (const size_t edge : {3, 4, 5}) EXPECT_NEAR(seen[edge], std::sqrt(2.0), 1e-12);
}

TEST(graph, edge_norms_are_absent_where_nothing_flowed_and_end_with_their_object) {
  const Example example;
  Graph kept;
  {
    const EdgeNorms norms(example.loss);
    grad({&example.loss, 1}, {&example.w, 1}, {}, {.retain_graph = true});
    kept = norms.graph();
    EXPECT_FALSE(kept.edges[0].grad_norm.has_value()) << "the way to x was not wanted";
    EXPECT_TRUE(kept.edges[1].grad_norm.has_value());
  }
  example.loss.backward();
  EXPECT_FALSE(kept.edges[0].grad_norm.has_value());
}

TEST(dot, draws_modules_as_frames) {
  const Example example;
  const std::string dot = to_dot(graph_of(example.loss, example.names));
  EXPECT_TRUE(dot.starts_with("digraph {\n")) << dot;
  EXPECT_EQ(count(dot, "subgraph cluster_"), 2);
  EXPECT_EQ(count(dot, "label=\"encoder\""), 1);
  EXPECT_EQ(count(dot, "label=\"inner\""), 1);
  EXPECT_EQ(count(dot, " -> "), 6);
  EXPECT_EQ(count(dot, "f32(1, 2)"), 5);
  EXPECT_EQ(count(dot, "{"), count(dot, "}"));
}

TEST(dot, a_module_below_the_depth_is_one_box) {
  const Example example;
  const Graph graph = graph_of(example.loss, example.names);
  const std::string one = to_dot(graph, {.depth = 1});
  EXPECT_EQ(count(one, "subgraph cluster_"), 1);
  EXPECT_EQ(count(one, "shape=box3d"), 1) << one;  // encoder.inner
  EXPECT_EQ(count(one, "label=\"matmul\""), 0);
  EXPECT_EQ(count(one, "label=\"add\""), 1);
  EXPECT_EQ(count(one, " -> "), 4) << one;  // x to inner and to add, inner to add, add to sum
  const std::string none = to_dot(graph, {.depth = 0});
  EXPECT_EQ(count(none, "subgraph cluster_"), 0);
  EXPECT_EQ(count(none, " -> "), 2) << none;
  EXPECT_EQ(count(none, "f32(1, 2) x2"), 1) << "x goes into the encoder in two places";
}

TEST(dot, shows_norms_and_quotes_names) {
  const Example example;
  const EdgeNorms norms(example.loss, {{"say \"w\"", example.w}});
  example.loss.backward();
  const std::string dot = to_dot(norms.graph());
  EXPECT_EQ(count(dot, "|g| 5\""), 1) << dot;
  EXPECT_EQ(count(dot, "say \\\"w\\\""), 1) << dot;
  EXPECT_EQ(count(to_dot(norms.graph(), {.depth = 0}), "f32(1, 2) x2\\n  |g| 1.73"), 1) << "sqrt(1 + 2)";
  expect_error<ValueError>([&] { to_dot(norms.graph(), {.depth = -1}); },
                           "[to_dot] wanted a depth of 0 or more");
}

TEST(graph, may_be_as_deep_as_it_likes) {
  on_small_stack([] {
    const Variable x = leaf(scalar(1));
    constexpr size_t kDeep = 1000000 / (kSanitized ? 20 : 1);
    Variable y = x;
    const Scope scope("chain");
    for (size_t i = 0; i < kDeep; ++i) y = y + 1;
    const Graph graph = graph_of(y);
    EXPECT_EQ(graph.nodes.size(), kDeep + 1);
    EXPECT_EQ(graph.edges.size(), kDeep);
    EXPECT_LT(to_dot(graph, {.depth = 0}).size(), 1000U);
  });
}

}  // namespace
}  // namespace heed::test
