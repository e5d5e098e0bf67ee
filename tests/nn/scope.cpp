#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/graph.h>
#include <heed/autograd/ops.h>
#include <heed/nn/linear.h>
#include <heed/nn/transformer_model.h>
#include <heed/tensor/creation.h>

/// Ops know the module in which they ran.
namespace heed::test {
namespace {

std::string scope_of(const Variable& result) { return result.producer().node->scope(); }

struct Square : nn::Layer<Square> {
  Variable forward(const Variable& x) { return x * x; }
};

struct Stack : nn::Layer<Stack> {
  Stack() {
    child("layers", layers);
    layers.add();
    layers.add();
  }
  Variable forward(const Variable& x) { return layers[1](layers[0](x)); }
  nn::ModuleList<Square> layers;
};

struct Model : nn::Layer<Model> {
  Model() { child("stack", stack); }
  Variable forward(const Variable& x) { return stack(x); }
  /// Another way in, without a scope of its own.
  Variable peek(const Variable& x) { return stack.layers[0](x); }
  Stack stack;
};

TEST(module_scope, is_the_path_to_the_module) {
  Model model;
  const Variable x(ones({2}), true);
  EXPECT_EQ(scope_of(model(x)), "stack.layers.1");
  EXPECT_EQ(scope_of(model.peek(x)), "stack.layers.0");
  EXPECT_EQ(scope_of(model.stack(x)), "stack.layers.1") << "called from outside";
  EXPECT_EQ(Scope::current(), nullptr);
}

TEST(module_scope, lies_below_the_scopes_that_are_open) {
  Model model;
  const Variable x(ones({2}), true);
  const Scope scope("generator");
  EXPECT_EQ(scope_of(model(x)), "generator.stack.layers.1");
}

TEST(module_scope, a_scope_inside_of_forward_stays_in_the_path) {
  struct Steps : nn::Layer<Steps> {
    Steps() { child("cell", cell); }
    Variable forward(const Variable& x) {
      const Scope step("step_3");
      return cell(x);
    }
    Square cell;
  } steps;
  EXPECT_EQ(scope_of(steps(Variable(ones({1}), true))), "step_3.cell");
}

TEST(module_scope, a_module_that_is_used_by_another_model_keeps_its_path) {
  Model model;
  struct Borrower : nn::Layer<Borrower> {
    explicit Borrower(Model& other) : borrowed(other) {}
    Variable forward(const Variable& x) { return borrowed(x); }
    Model& borrowed;
  } borrower(model);
  struct Owner : nn::Layer<Owner> {
    explicit Owner(Borrower& b) : inner(b) { child("inner", inner); }
    Variable forward(const Variable& x) { return inner(x); }
    Borrower& inner;
  } owner(borrower);
  EXPECT_EQ(scope_of(owner(Variable(ones({1}), true))), "inner.stack.layers.1");
}

TEST(module_scope, a_child_may_outlive_the_module_it_was_registered_with) {
  Square square;
  {
    struct Parent : nn::Layer<Parent> {
      explicit Parent(Square& s) { child("square", s); }
    } parent(square);
  }
  EXPECT_EQ(scope_of(square(Variable(ones({1}), true))), "square");
}

TEST(module_scope, a_module_inside_of_the_call_of_its_sibling_is_named_after_its_parent) {
  nn::TransformerModel model(
      {.source_vocabulary = 8, .target_vocabulary = 8, .stack = {.width = 8, .feed_forward = 8, .heads = 2}});
  const Variable logits =
      model(zeros({1, 3}, DType::i64), full({1}, 3, DType::i64), zeros({1, 2}, DType::i64));
  std::set<std::string> scopes;
  std::vector<const Node*> todo{logits.producer().node.get()};
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    scopes.insert(node->scope());
    for (const Edge& edge : node->inputs)
      if (edge.node != nullptr) todo.push_back(edge.node.get());
  }
  for (const char* scope :
       {"encoder.layers.0.self_attention.q_proj", "decoder.layers.0.cross_attention",
        "decoder.layers.0.feed_forward.inner", "decoder.layers.0.self_attention_residual", "output"})
    EXPECT_TRUE(scopes.contains(scope)) << scope;
  for (const std::string& scope : scopes)
    EXPECT_EQ(scope.find("residual."), scope.find("residual.norm")) << scope;
}

TEST(module_scope, a_picture_of_a_model_is_made_of_its_modules) {
  nn::TransformerModel model({.source_vocabulary = 8,
                              .target_vocabulary = 8,
                              .stack = {.width = 8, .feed_forward = 8, .heads = 2, .layers = 2}});
  const Variable logits =
      model(zeros({1, 3}, DType::i64), full({1}, 3, DType::i64), zeros({1, 2}, DType::i64));
  const Variable loss = sum(logits * logits);
  const EdgeNorms norms(loss, model.named_parameters());
  loss.backward();
  for (const Graph::Edge& edge : norms.graph().edges) EXPECT_TRUE(edge.grad_norm.has_value());
  size_t parameters = 0;
  for (const Graph::Node& node : norms.graph().nodes) {
    parameters += node.is_leaf;
    EXPECT_NE(node.name, "leaf") << "every leaf is a parameter and has its name";
  }
  EXPECT_EQ(parameters, model.named_parameters().size());
  const std::string top = to_dot(norms.graph(), {.depth = 0}), layers = to_dot(norms.graph(), {.depth = 3});
  for (const char* box : {"source_embedding", "target_embedding", "encoder", "decoder", "output"})
    EXPECT_NE(top.find(fmt::format("[label=\"{}\", shape=box3d,", box)), std::string::npos) << top;
  for (const char* box : {"self_attention", "cross_attention", "feed_forward"})
    EXPECT_NE(layers.find(fmt::format("[label=\"{}\"", box)), std::string::npos) << layers;
}

TEST(module_scope, ends_when_forward_throws) {
  struct Fails : nn::Layer<Fails> {
    Variable forward() { throw std::runtime_error("mine"); }
  };
  struct Outer : nn::Layer<Outer> {
    Outer() { child("fails", fails); }
    Variable forward() { return fails(); }
    Fails fails;
  } outer;
  EXPECT_THROW(outer(), std::runtime_error);
  EXPECT_EQ(Scope::current(), nullptr);
}

TEST(module_scope, anomaly_mode_names_the_layer) {
  nn::TransformerModel model(
      {.source_vocabulary = 8, .target_vocabulary = 8, .stack = {.width = 8, .feed_forward = 8, .heads = 2}});
  auto state = model.state_dict();
  ASSERT_TRUE(state.contains("decoder.layers.0.feed_forward.inner.weight"));
  state.at("decoder.layers.0.feed_forward.inner.weight").fill(NAN);
  const AnomalyMode guard;
  try {
    model(zeros({1, 3}, DType::i64), full({1}, 3, DType::i64), zeros({1, 2}, DType::i64));
    ADD_FAILURE() << "no anomaly was found";
  } catch (const AnomalyError& error) {
    EXPECT_EQ(error.op(), "linear");
    EXPECT_EQ(error.scope(), "decoder.layers.0.feed_forward.inner");
  }
}

}  // namespace
}  // namespace heed::test
