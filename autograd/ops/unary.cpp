#include <heed/autograd/ops/unary.h>

#include <numbers>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/unary.h>

namespace heed {
namespace {

/// g where the constant x is positive, else 0: linear in g, and its own adjoint.
Variable relu_gate(const Variable& g, const Tensor& x) {
  return record("relu_gate", kernels::relu_backward(g.data(), x), {&g}, [x = SavedTensor(x)](Backward& back) {
    back.give(0, [&] { return relu_gate(back.grad(), back.value(x)); });
  });
}

/// g where the constant x lies in [low, high], else 0; its own adjoint too.
Variable clamp_gate(const Variable& g, const Tensor& x, double low, double high) {
  return record("clamp_gate", kernels::clamp_backward(g.data(), x, low, high), {&g},
                [=, x = SavedTensor(x)](Backward& back) {
                  back.give(0, [&] { return clamp_gate(back.grad(), back.value(x), low, high); });
                });
}

}  // namespace

Variable exp(const Variable& x) {
  Tensor y = kernels::exp(x.data());
  return record("exp", y, {&x}, [y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] { return back.grad() * back.value(y); });
  });
}

Variable log(const Variable& x) {
  return record("log", kernels::log(x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] { return back.grad() / back.value(x); });
  });
}

Variable sqrt(const Variable& x) {
  Tensor y = kernels::sqrt(x.data());
  return record("sqrt", y, {&x}, [y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] { return back.grad() / (2 * back.value(y)); });
  });
}

Variable rsqrt(const Variable& x) {
  Tensor y = kernels::rsqrt(x.data());
  return record("rsqrt", y, {&x}, [y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] { return back.grad() * back.value(y).pow(3) * -0.5; });
  });
}

Variable abs(const Variable& x) {
  return record("abs", kernels::abs(x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] { return back.grad() * kernels::sign(back.value(x).data()); });
  });
}

Variable sin(const Variable& x) {
  return record("sin", kernels::sin(x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] { return back.grad() * cos(back.value(x)); });
  });
}

Variable cos(const Variable& x) {
  return record("cos", kernels::cos(x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] { return -back.grad() * sin(back.value(x)); });
  });
}

Variable erf(const Variable& x) {
  return record("erf", kernels::erf(x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] {
      const Variable at = back.value(x);
      return back.grad() * exp(-(at * at)) * (2 * std::numbers::inv_sqrtpi);
    });
  });
}

Variable clamp(const Variable& x, double low, double high) {
  return record("clamp", kernels::clamp(x.data(), low, high), {&x}, [=, x = Saved(x)](Backward& back) {
    back.give(0, [&] { return clamp_gate(back.grad(), back.value(x).data(), low, high); });
  });
}

Variable tanh(const Variable& x) {
  Tensor y = kernels::tanh(x.data());
  return record("tanh", y, {&x}, [y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] {
      const Variable t = back.value(y);
      return back.grad() * (1 - t * t);
    });
  });
}

Variable sigmoid(const Variable& x) {
  Tensor y = kernels::sigmoid(x.data());
  return record("sigmoid", y, {&x}, [y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] {
      const Variable s = back.value(y);
      return back.grad() * (s * (1 - s));
    });
  });
}

Variable relu(const Variable& x) {
  return record("relu", kernels::relu(x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] { return relu_gate(back.grad(), back.value(x).data()); });
  });
}

}  // namespace heed
