#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <heed/autograd/record.h>

/// An op of one's own in one struct:
///
///   struct Cube : Function {                                      // y = x^3
///     Tensor forward(const Tensor& input) {                       // plain numbers: kernels
///       save(input, x);
///       return kernels::pow(input, 3);
///     }
///     Variable backward(const Variable& grad) { return grad * 3.0 * x * x; }   // differentiable ops
///     Variable x;
///   };
///   Variable y = apply<Cube>(x);
///
/// forward takes one const Tensor& per input, undefined for an undefined input, and returns a Tensor, a
/// std::array of them, or a std::vector. backward takes the gradient of each output (one parameter each; for
/// a vector one std::span<const Variable>), zeros where none arrived, and returns the gradient of each input:
/// a Variable, or an array or a vector of them. An undefined one says that there is none. Parameters that are
/// no tensors are members: `apply(Power(2.5), x)`.
///
/// Second derivatives come from backward being made of differentiable ops; what it computes from `.data()` is
/// a constant to them. Check both with gradcheck and gradgradcheck. An application serves one backward pass
/// at a time.
namespace heed {

namespace internal {
class FunctionCall;
}

/// What an op of one's own derives from.
class Function {
 protected:
  Function() = default;
  Function(const Function&) = default;
  Function(Function&&) = default;
  Function& operator=(const Function&) = default;
  Function& operator=(Function&&) = default;
  ~Function() = default;

  /// Called in forward: keeps `value` for backward, during which the member `as` holds it. Derivatives pass
  /// through it if it is an input or an output; anything else is a constant. Backward is an error once it was
  /// edited in place. GraphError for a copy of an input's handle that could be several inputs': hand over
  /// forward's own argument.
  void save(const Tensor& value, Variable& as);
  /// True if the gradient of this input is wanted; in forward, if it may be wanted later.
  bool wants(size_t input) const;

 private:
  friend class internal::FunctionCall;

  /// A saved value: an input, or the tensor that turns out to be an output or a constant.
  struct Kept {
    Variable* as;
    Saved input = {};
    Tensor value = {};
    std::optional<SavedOutput> output = {};
    std::optional<SavedTensor> constant = {};
  };
  /// The input that a tensor is: forward's argument itself, or a copy of the handle. Null if it is none.
  const Variable* input_that_is(const Tensor& value) const;

  std::vector<Kept> kept_;
  Inputs inputs_;  // while forward runs
  std::span<const Tensor> numbers_;
  Backward* back_ = nullptr;  // while backward runs
};

namespace internal {

/// What surrounds the two functions of a user's op, whatever their types are.
class FunctionCall {
 public:
  using BackwardFunction = std::function<std::vector<Variable>(std::span<const Variable>)>;

  /// `numbers`: the inputs as forward gets them.
  FunctionCall(const char* name, Function& function, Inputs inputs, std::span<const Tensor> numbers);
  ~FunctionCall() { function_.inputs_ = {}, function_.numbers_ = {}; }
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;

  /// Checks what forward returned, and knows saved outputs as such.
  void finish(std::span<const Tensor> outputs);

  /// Calls backward with the gradients of all outputs and with the saved values in their members, and hands
  /// on what it returns.
  static void run_backward(const char* name, Function& function, Backward& back, size_t outputs,
                           const BackwardFunction& backward);
  /// Outputs that are no floats have no gradient, so they come back as constants.
  static std::vector<Variable> without_graph_where_no_float(std::vector<Variable> outputs);
  /// "Cube" for app::Cube.
  static const char* name_of(const std::type_info& type);

 private:
  const char* name_;
  Function& function_;
  std::vector<uint64_t> versions_;  // of the inputs, which forward must not edit
};

/// One Tensor or Variable, an array or a vector of them: as a vector, and back.
template <class T>
std::vector<T> as_list(const T& one) {
  return {one};
}
template <class T, class List>
requires(!std::same_as<T, List>) std::vector<T> as_list(const List& list) {
  return {list.begin(), list.end()};
}

template <class Result>
auto like(const Result&, std::vector<Variable> variables) {
  if constexpr (std::same_as<Result, Tensor>) {
    return variables[0];
  } else if constexpr (requires { std::tuple_size<Result>::value; }) {
    std::array<Variable, std::tuple_size_v<Result>> all;
    std::ranges::move(variables, all.begin());
    return all;
  } else {
    return variables;
  }
}

template <class Result, class T>
auto call_backward(T& function, std::span<const Variable> grads) {
  if constexpr (std::same_as<Result, Tensor>) {
    return function.backward(grads[0]);
  } else if constexpr (requires { std::tuple_size<Result>::value; }) {
    return [&]<size_t... i>(std::index_sequence<i...>) { return function.backward(grads[i]...); }
    (std::make_index_sequence<std::tuple_size_v<Result>>());
  } else {
    return function.backward(grads);
  }
}

template <class T, class... In>
auto apply_function(T op, const In&... inputs) {
  static const char* const name = FunctionCall::name_of(typeid(T));
  const std::array<const Variable*, sizeof...(In)> all{&inputs...};
  const std::array<Tensor, sizeof...(In)> numbers{(inputs.defined() ? inputs.data() : Tensor())...};
  auto function = std::make_unique<T>(std::move(op));
  const auto result = [&] {
    FunctionCall call(name, *function, all, numbers);
    const NoGrad guard;
    auto returned = std::apply([&](const auto&... each) { return function->forward(each...); }, numbers);
    call.finish(as_list<Tensor>(returned));
    return returned;
  }();
  using Result = std::remove_const_t<decltype(result)>;
  std::vector<Tensor> outputs = as_list<Tensor>(result);
  const size_t count = outputs.size();
  std::vector<Variable> recorded =
      record_all(name, std::move(outputs), all, [count, function = std::move(function)](Backward& back) {
        FunctionCall::run_backward(name, *function, back, count, [&](std::span<const Variable> grads) {
          return as_list<Variable>(call_backward<Result>(*function, grads));
        });
      });
  return like(result, FunctionCall::without_graph_where_no_float(std::move(recorded)));
}

}  // namespace internal

/// The results of an op of one's own, recorded. ValueError when forward returns nothing or an undefined
/// tensor, or edits an input; in the backward pass GraphError for the wrong number of gradients and
/// ShapeError for one that does not fit its input.
template <std::derived_from<Function> T, std::convertible_to<Variable>... In>
requires(sizeof...(In) > 0) auto apply(T function, const In&... inputs) {
  return internal::apply_function(std::move(function), static_cast<const Variable&>(inputs)...);
}
template <std::derived_from<Function> T, std::convertible_to<Variable>... In>
requires(sizeof...(In) > 0) auto apply(const In&... inputs) { return apply(T(), inputs...); }

}  // namespace heed
