#include <heed/nn/module.h>

#include <heed/autograd/ops.h>
#include <heed/nn/bahdanau.h>
#include <heed/nn/linear.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

/// One weight, one bias and one buffer.
class Scaled : public nn::Layer<Scaled> {
 public:
  Scaled() {
    weight_ = parameter("weight", tensor_of({{1, 2, 3}, {4, 5, 6}}));
    bias_ = parameter("bias", tensor_of({7, 8}));
    count_ = buffer("count", ids({3}));
  }
  Variable forward(const Variable& x, double factor) { return linear(x, weight_, bias_) * factor; }

 private:
  Variable weight_, bias_;
  Tensor count_;
};

/// Parameters before and after children, and a list of children.
class Nested : public nn::Layer<Nested> {
 public:
  Nested() {
    first_ = parameter("first", tensor_of({1}));
    child("inner", inner_);
    for (int i = 0; i < 2; ++i) list_.add();
    child("list", list_);
    last_ = parameter("last", tensor_of({2}));
  }

  Scaled inner_;
  nn::ModuleList<Scaled> list_;

 private:
  Variable first_, last_;
};

/// Gives names that a test wants to see refused.
class Naming : public nn::Module {
 public:
  Naming() {
    parameter("p", tensor_of({1}));
    buffer("b", tensor_of({1}));
    child("c", inner_);
  }
  void add_parameter(const std::string& name) { parameter(name, tensor_of({1})); }
  void add_buffer(const std::string& name) { buffer(name, tensor_of({1})); }
  void add_child(const std::string& name) { child(name, inner_); }

 private:
  Scaled inner_;
};

/// A matrix that two places use: x (rows) -> (x W) W^T.
class Tied : public nn::Layer<Tied> {
 public:
  Tied() {
    down_ = parameter("down", tensor_of({{1, 2}, {3, 4}, {5, 6}}));
    up_ = parameter("up", down_);
  }
  Variable forward(const Variable& x) { return matmul(matmul(x, down_), up_.transpose(0, 1)); }

 private:
  Variable down_, up_;
};

/// A module in two places.
struct Twice : nn::Layer<Twice> {
  Twice() {
    child("a", shared);
    child("b", shared);
  }
  Scaled shared;
};

StateDict copies(const StateDict& state) {
  StateDict result;
  for (const auto& [name, tensor] : state) result.emplace(name, tensor.clone());
  return result;
}

}  // namespace

TEST(Module, lists_its_own_parameters_first_and_then_those_of_its_children) {
  const Nested module;
  const std::vector<std::string> wanted{"first",         "last",        "inner.weight",  "inner.bias",
                                        "list.0.weight", "list.0.bias", "list.1.weight", "list.1.bias"};
  EXPECT_EQ(names_of(module.named_parameters()), wanted);
  EXPECT_EQ(module.parameters().size(), wanted.size());
  EXPECT_EQ(module.parameter_count(), 2 + 3 * 8);
}

TEST(Module, lists_a_shared_parameter_once_under_its_first_name) {
  Tied module;
  EXPECT_EQ(names_of(module.named_parameters()), std::vector<std::string>{"down"});
  EXPECT_EQ(module.parameter_count(), 6);
  EXPECT_EQ(module.state_dict().size(), 1u);
  // d/dW of sum((x W) W^T), from both uses: x^T 1 W and 1^T (x W).
  module(tensor_of({{1, 0, 0}})).sum().backward();
  EXPECT_TRUE(close(module.parameters()[0].grad().data(), {10, 14, 1, 2, 1, 2}, kExact));
}

TEST(Module, has_no_parameter_where_one_was_left_out) {
  const nn::Linear linear({.inputs = 2, .outputs = 3, .bias = false});
  EXPECT_EQ(names_of(linear.named_parameters()), std::vector<std::string>{"weight"});
}

TEST(Module, parameters_require_gradients_and_buffers_are_no_parameters) {
  Scaled module;
  for (const Variable& parameter : module.parameters()) {
    EXPECT_TRUE(parameter.requires_grad());
    EXPECT_TRUE(parameter.is_leaf());
  }
  const StateDict state = module.state_dict();
  EXPECT_EQ(state.size(), 3u);
  EXPECT_TRUE(close(state.at("count"), {3}, kExact));
}

TEST(Module, refuses_a_name_that_is_taken_by_anything) {
  Naming module;
  for (const std::string name : {"p", "b", "c"}) {
    const std::string message = "[module] the name \"" + name + "\" is taken";
    expect_error<ValueError>([&] { module.add_parameter(name); }, message);
    expect_error<ValueError>([&] { module.add_buffer(name); }, message);
    expect_error<ValueError>([&] { module.add_child(name); }, message);
  }
}

TEST(Module, refuses_names_with_dots_and_empty_ones) {
  Naming module;
  expect_error<ValueError>([&] { module.add_parameter("a.b"); },
                           "[module] wanted a name without dots, came \"a.b\"");
  expect_error<ValueError>([&] { module.add_buffer(""); }, "[module] wanted a name without dots, came \"\"");
  expect_error<ValueError>([&] { module.add_child("."); }, "[module] wanted a name without dots, came \".\"");
}

TEST(Module, a_layer_is_called_with_what_its_forward_takes) {
  Scaled module;
  EXPECT_TRUE(close(module(tensor_of({{1, 0, 0}}), 2.0).data(), {2 * (1 + 7), 2 * (4 + 8)}, kExact));
}

TEST(Module, a_list_gives_its_modules_by_number) {
  Nested module;
  ASSERT_EQ(module.list_.size(), 2u);
  module.list_[1].parameters()[0].set_grad(ones({2, 3}));
  EXPECT_FALSE(module.list_[0].parameters()[0].grad().defined());
  EXPECT_TRUE(module.named_parameters()[6].second.grad().defined());
}

TEST(Module, train_and_eval_reach_every_child_and_touch_no_gradient) {
  Nested module;
  EXPECT_TRUE(module.is_training() && module.list_[1].is_training());
  module.eval();
  EXPECT_FALSE(module.is_training() || module.inner_.is_training() || module.list_[1].is_training());
  for (const Variable& parameter : module.parameters()) EXPECT_TRUE(parameter.requires_grad());
  module.parameters()[0].set_requires_grad(false);
  module.train();
  EXPECT_TRUE(module.is_training() && module.inner_.is_training() && module.list_[1].is_training());
  EXPECT_FALSE(module.parameters()[0].requires_grad());
}

TEST(Module, zero_grad_drops_every_gradient) {
  Scaled module;
  module(ones({1, 3}), 1).sum().backward();
  for (const Variable& parameter : module.parameters()) ASSERT_TRUE(parameter.grad().defined());
  module.zero_grad();
  for (const Variable& parameter : module.parameters()) EXPECT_FALSE(parameter.grad().defined());
}

TEST(Module, state_dict_shares_memory_and_load_copies_numbers) {
  Scaled module;
  StateDict state = module.state_dict();
  state.at("bias").fill(-1);
  EXPECT_TRUE(close(module.parameters()[1].data(), {-1, -1}, kExact));

  StateDict given = copies(state);
  given.at("bias").fill(5);
  EXPECT_TRUE(module.load_state_dict(given).empty());
  EXPECT_TRUE(close(module.parameters()[1].data(), {5, 5}, kExact));
  given.at("bias").fill(6);
  EXPECT_TRUE(close(module.parameters()[1].data(), {5, 5}, kExact));
}

TEST(Module, a_strict_load_names_every_difference_and_changes_nothing) {
  Scaled module;
  const StateDict before = copies(module.state_dict());
  StateDict state = copies(before);
  state["weight"] = ones({3, 2});
  state["count"] = ones({1}, DType::f32);
  state["bais"] = ones({2});
  state["more"] = ones({2});
  state.erase("bias");
  expect_error<ValueError>(
      [&] { module.load_state_dict(state); },
      "[load_state_dict] missing: bias; unexpected: bais, more; wrong shape: count wanted "
      "i64(1,), came f32(1,), weight wanted f32(2, 3), came f32(3, 2)");
  EXPECT_TRUE(same_numbers(module.state_dict(), before));
}

TEST(Module, a_line_about_another_architecture_stays_short) {
  nn::StateMismatch mismatch;
  for (char name = 'a'; name <= 'j'; ++name) mismatch.missing.emplace_back(1, name);
  mismatch.unexpected = {"x"};
  EXPECT_EQ(mismatch.describe(), "missing: a, b, c, d, e, f, g, h and 2 more; unexpected: x");
  mismatch.missing.resize(8);
  EXPECT_EQ(mismatch.describe(), "missing: a, b, c, d, e, f, g, h; unexpected: x");
}

TEST(Module, a_lenient_load_takes_what_fits_and_returns_the_rest) {
  Scaled module;
  const StateDict state{{"weight", ones({3, 2})}, {"bais", ones({2})}, {"count", ids({9})}};
  const nn::StateMismatch mismatch = module.load_state_dict(state, false);
  EXPECT_EQ(mismatch.missing, std::vector<std::string>{"bias"});
  EXPECT_EQ(mismatch.unexpected, std::vector<std::string>{"bais"});
  EXPECT_EQ(mismatch.wrong_shape, std::vector<std::string>{"weight wanted f32(2, 3), came f32(3, 2)"});
  EXPECT_FALSE(mismatch.empty());
  EXPECT_TRUE(close(module.state_dict().at("count"), {9}, kExact));
  EXPECT_TRUE(close(module.state_dict().at("weight"), {1, 2, 3, 4, 5, 6}, kExact));
}

TEST(Module, an_undefined_tensor_does_not_fit_a_scalar) {
  class Scalar : public nn::Module {
   public:
    Scalar() { parameter("x", scalar(2)); }
  };
  Scalar module;
  expect_error<ValueError>([&] { module.load_state_dict({{"x", Tensor()}}); }, "wrong shape: x");
  EXPECT_EQ(module.parameters()[0].item(), 2);
}

TEST(Module, describes_no_difference_as_nothing) {
  EXPECT_EQ(nn::StateMismatch{}.describe(), "");
  EXPECT_TRUE(nn::StateMismatch{}.empty());
}

TEST(Module, weights_survive_a_file) {
  const TempDir folder;
  const std::string path = folder.file("weights.safetensors");
  Nested saved;
  Tensor weight = saved.parameters()[2].data();
  weight.copy_from(random_tensor({2, 3}));
  save_safetensors(path, saved.state_dict());

  Nested loaded;
  EXPECT_FALSE(same_numbers(loaded.state_dict(), saved.state_dict()));
  EXPECT_TRUE(loaded.load_state_dict(load_safetensors(path).tensors).empty());
  EXPECT_TRUE(same_numbers(loaded.state_dict(), saved.state_dict()));
}

TEST(case_C29, c_tied_weights_are_saved_once_and_stay_one_parameter) {
  const TempDir folder;
  const std::string path = folder.file("tied.safetensors");
  Tied saved;
  Tensor weight = saved.parameters()[0].data();
  weight.fill(2);
  save_safetensors(path, saved.state_dict());
  const SafetensorsFile file = load_safetensors(path);
  ASSERT_EQ(file.tensors.size(), 1u);
  EXPECT_EQ(file.tensors.begin()->first, "down");

  Tied loaded;
  loaded.load_state_dict(file.tensors);
  ASSERT_EQ(loaded.parameters().size(), 1u);
  // Both uses see the loaded numbers, and an edit of the one parameter.
  const Tensor x = tensor_of({{1, 0, 0}});
  EXPECT_TRUE(close(loaded(x).data(), {8, 8, 8}, kExact));
  Tensor one = loaded.parameters()[0].data();
  one.fill(3);
  EXPECT_TRUE(close(loaded(x).data(), {18, 18, 18}, kExact));
}

TEST(case_C31, b_a_mismatched_load_lists_all_and_leaves_the_model) {
  nn::Linear model({.inputs = 3, .outputs = 2});
  const StateDict before = copies(model.state_dict());
  const StateDict file{{"weight", ones({3, 2})}, {"bais", ones({2})}};
  expect_error<ValueError>(
      [&] { model.load_state_dict(file); },
      "missing: bias; unexpected: bais; wrong shape: weight wanted f32(2, 3), came f32(3, 2)");
  EXPECT_TRUE(same_numbers(model.state_dict(), before));
  const nn::StateMismatch lenient = model.load_state_dict(file, false);
  EXPECT_EQ(lenient.describe(),
            "missing: bias; unexpected: bais; wrong shape: weight wanted f32(2, 3), came f32(3, 2)");
}

TEST(Module, freezing_stops_gradients_until_it_is_undone) {
  Nested module;
  module.inner_.freeze();
  for (const Variable& parameter : module.inner_.parameters()) EXPECT_FALSE(parameter.requires_grad());
  EXPECT_TRUE(module.list_[0].parameters()[0].requires_grad());
  module.train();
  EXPECT_FALSE(module.inner_.parameters()[0].requires_grad());
  const Variable x(ones({1, 3}));
  EXPECT_FALSE(module.inner_(x, 1).requires_grad());
  module.freeze();
  module.unfreeze();
  for (const Variable& parameter : module.parameters()) EXPECT_TRUE(parameter.requires_grad());
  EXPECT_TRUE(module.inner_(x, 1).requires_grad());
}

TEST(Module, names_itself_and_all_below_parents_first) {
  Nested module;
  std::vector<std::string> names;
  for (const auto& [name, one] : module.named_modules()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"", "inner", "list", "list.0", "list.1"}));
  EXPECT_EQ(module.named_modules()[4].second, &module.list_[1]);
  EXPECT_EQ(names_of(module.own_parameters()), (std::vector<std::string>{"first", "last"}));
}

TEST(Module, finds_a_module_below_it_by_each_of_its_names) {
  Nested module;
  for (const auto& [name, one] : module.named_modules()) EXPECT_EQ(&module.get_submodule(name), one) << name;
  EXPECT_EQ(&module.get_submodule("list.1"), &module.list_[1]);
  EXPECT_EQ(&module.list_.get_submodule("1"), &module.list_[1]);
  Twice twice;
  EXPECT_EQ(&twice.get_submodule("a"), &twice.shared);
  EXPECT_EQ(&twice.get_submodule("b"), &twice.shared);
}

TEST(Module, lists_the_nearest_names_where_none_fits) {
  Nested module;
  expect_error<ValueError>(
      [&] { module.get_submodule("list.2"); },
      "[get_submodule] no module is called \"list.2\"; the nearest names are \"list.0\", "
      "\"list.1\", \"list\"");
  for (const std::string name : {"first", "list.", ".list", "list.0.weight", "list..0", "*", "inner.inner"})
    expect_error<ValueError>([&] { module.get_submodule(name); }, "no module is called \"" + name + "\"");
}

TEST(Module, applies_a_function_to_each_module_once) {
  Twice module;
  std::vector<const nn::Module*> seen;
  module.apply([&](nn::Module& one) { seen.push_back(&one); });
  EXPECT_EQ(seen, (std::vector<const nn::Module*>{&module, &module.shared}));
}

TEST(Module, becomes_f64_for_everyone_who_holds_its_parameters) {
  Tied module;
  const Variable held = module.parameters()[0];
  module(ones({1, 3})).sum().backward();
  module.to(DType::f64);
  EXPECT_EQ(held.dtype(), DType::f64);
  EXPECT_TRUE(close(held.data(), {1, 2, 3, 4, 5, 6}, kExact));
  EXPECT_FALSE(held.grad().defined());
  ASSERT_EQ(module.parameters().size(), 1u);
  EXPECT_EQ(module.state_dict().at("down").dtype(), DType::f64);
  const Variable x = f64_leaf({2, 3});
  expect_gradients(module, {x}, [&] { return Variables{module(x)}; });
  EXPECT_TRUE(held.grad().defined());
  module.freeze();
  module.to(DType::f32);
  EXPECT_EQ(module(ones({1, 3})).dtype(), DType::f32);
  EXPECT_FALSE(held.requires_grad());
  expect_error<DTypeError>([&] { module.to(DType::i64); }, "[to] wanted a float type, came i64");
}

TEST(Module, a_forward_hook_sees_module_inputs_and_output) {
  Scaled module;
  const Variable x(ones({1, 3}));
  std::vector<std::string> calls;
  HookHandle first = module.register_forward_hook(
      [&](nn::Module& from, std::span<const Variable> inputs, const Variable& output) -> Variable {
        EXPECT_EQ(&from, &module);
        EXPECT_EQ(inputs.size(), 1u);
        EXPECT_TRUE(inputs[0].is_same(x));
        EXPECT_TRUE(close(output.data(), {2 * 13, 2 * 23}, kExact));
        calls.push_back("first");
        return {};
      });
  const HookHandle second = module.register_forward_hook([&](auto&&...) {
    calls.push_back("second");
    return Variable();
  });
  module(x, 2);
  EXPECT_EQ(calls, (std::vector<std::string>{"first", "second"}));
  first.remove();
  module(x, 2);
  EXPECT_EQ(calls, (std::vector<std::string>{"first", "second", "second"}));
}

TEST(Module, a_forward_hook_may_replace_the_output) {
  Scaled module;
  const Variable x(ones({1, 3}), true);
  const Tensor plain = module(x, 1).data();
  {
    const auto half = [](nn::Module&, std::span<const Variable>, const Variable& y) { return y / 2; };
    const HookHandle one = module.register_forward_hook(half), other = module.register_forward_hook(half);
    const Variable y = module(x, 1);
    EXPECT_TRUE(close(y.data(), (Variable(plain) / 4).data(), kExact));
    y.sum().backward();
    EXPECT_TRUE(close(x.grad().data(), {5.0 / 4, 7.0 / 4, 9.0 / 4}, kExact));
  }
  EXPECT_TRUE(identical(module(x, 1).data(), plain)) << "the handles are gone";
}

TEST(Module, a_forward_hook_reaches_the_output_among_other_results) {
  struct Result {
    Variable output;
    int count;
  };
  struct Counting : nn::Layer<Counting> {
    Result forward(const Variable& x) { return {x * 2, 3}; }
  } module;
  const HookHandle hook = module.register_forward_hook(
      [](nn::Module&, std::span<const Variable>, const Variable& y) { return y + 1; });
  const Result result = module(Variable(tensor_of({5})));
  EXPECT_TRUE(close(result.output.data(), {11}, kExact));
  EXPECT_EQ(result.count, 3);
}

TEST(Module, a_forward_hook_hangs_on_modules_inside_and_on_whole_models) {
  nn::Linear inner({.inputs = 3, .outputs = 2});
  struct Outer : nn::Layer<Outer> {
    explicit Outer(nn::Linear& l) : linear(l) { child("linear", linear); }
    Variable forward(const Variable& x) { return linear(x); }
    nn::Linear& linear;
  } outer(inner);
  int calls = 0;
  const HookHandle hook = inner.register_forward_hook([&](auto&&...) { return ++calls, Variable(); });
  outer(Variable(ones({1, 3})));
  EXPECT_EQ(calls, 1);
  nn::Bahdanau model({.source_vocabulary = 4, .target_vocabulary = 4, .width = 3});
  const HookHandle whole = model.register_forward_hook([&](auto&&...) { return ++calls, Variable(); });
  model(ids({{1, 2}}), ids({2}), ids({{1}}));
  EXPECT_EQ(calls, 2);
}
