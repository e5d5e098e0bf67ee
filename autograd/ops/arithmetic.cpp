#include <heed/autograd/ops/arithmetic.h>

#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/arithmetic.h>

namespace heed {

Variable add(const Variable& a, const Variable& b) {
  return record("add", kernels::add(a.data(), b.data()), {&a, &b},
                [left = a.shape(), right = b.shape()](Backward& back) {
                  back.give(0, [&] { return sum_to(back.grad(), left); });
                  back.give(1, [&] { return sum_to(back.grad(), right); });
                });
}

Variable sub(const Variable& a, const Variable& b) {
  return record("sub", kernels::sub(a.data(), b.data()), {&a, &b},
                [left = a.shape(), right = b.shape()](Backward& back) {
                  back.give(0, [&] { return sum_to(back.grad(), left); });
                  back.give(1, [&] { return sum_to(-back.grad(), right); });
                });
}

Variable mul(const Variable& a, const Variable& b) {
  return record("mul", kernels::mul(a.data(), b.data()), {&a, &b},
                [left = a.shape(), right = b.shape(), x = Saved(a, b.requires_grad()),
                 y = Saved(b, a.requires_grad())](Backward& back) {
                  back.give(0, [&] { return sum_to(back.grad() * back.value(y), left); });
                  back.give(1, [&] { return sum_to(back.grad() * back.value(x), right); });
                });
}

Variable div(const Variable& a, const Variable& b) {
  return record(
      "div", kernels::div(a.data(), b.data()), {&a, &b},
      [left = a.shape(), right = b.shape(), x = Saved(a, b.requires_grad()), y = Saved(b)](Backward& back) {
        back.give(0, [&] { return sum_to(back.grad() / back.value(y), left); });
        back.give(1, [&] {
          // Two divisions, because the square of a large or small divisor would leave f32's range.
          const Variable& divisor = back.value(y);
          return sum_to(-back.grad() * (back.value(x) / divisor / divisor), right);
        });
      });
}

Variable scale(const Variable& a, double factor, double term) {
  return record("scale", kernels::scale(a.data(), factor, term), {&a},
                [factor](Backward& back) { back.give(0, [&] { return scale(back.grad(), factor); }); });
}

Variable pow(const Variable& a, double exponent) {
  return record("pow", kernels::pow(a.data(), exponent), {&a}, [exponent, x = Saved(a)](Backward& back) {
    // A constant power has the gradient 0, also where 0 * pow(0, -1) would be NaN.
    if (exponent == 0)
      back.give(0, [&] { return scale(back.grad(), 0); });
    else
      back.give(0, [&] { return back.grad() * scale(pow(back.value(x), exponent - 1), exponent); });
  });
}

Variable operator+(const Variable& a, const Variable& b) { return add(a, b); }
Variable operator-(const Variable& a, const Variable& b) { return sub(a, b); }
Variable operator*(const Variable& a, const Variable& b) { return mul(a, b); }
Variable operator/(const Variable& a, const Variable& b) { return div(a, b); }
Variable operator+(const Variable& a, double b) { return scale(a, 1, b); }
Variable operator-(const Variable& a, double b) { return scale(a, 1, -b); }
Variable operator*(const Variable& a, double b) { return scale(a, b); }
Variable operator/(const Variable& a, double b) { return scale(a, 1 / b); }
Variable operator+(double a, const Variable& b) { return scale(b, 1, a); }
Variable operator-(double a, const Variable& b) { return scale(b, -1, a); }
Variable operator*(double a, const Variable& b) { return scale(b, a); }
Variable operator/(double a, const Variable& b) { return scale(pow(b, -1), a); }
Variable operator-(const Variable& a) { return scale(a, -1); }

}  // namespace heed
