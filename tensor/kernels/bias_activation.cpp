#include <heed/tensor/kernels/bias_activation.h>

#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/gelu_forms.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/result.h>

namespace heed::kernels {
namespace {

/// Each a function and its slope.
struct Relu {
  template <class T>
  static T value(T x) {
    return x < 0 ? T(0) : x;  // NaN passes through
  }
  template <class T>
  static T slope(T x) {
    return x > 0 ? T(1) : T(0);
  }
};

struct Gelu {
  template <class T>
  static T value(T x) {
    return internal::exact_form(x);
  }
  template <class T>
  static T slope(T x) {
    return internal::exact_form_slope(x);
  }
};

struct Tanh {
  template <class T>
  static T value(T x) {
    return internal::fast_tanh(x);
  }
  template <class T>
  static T slope(T x) {
    const T y = internal::fast_tanh(x);
    return 1 - y * y;
  }
};

struct Sigmoid {
  template <class T>
  static T value(T x) {
    return internal::fast_sigmoid(x);
  }
  template <class T>
  static T slope(T x) {
    const T y = internal::fast_sigmoid(x);
    return y * (1 - y);
  }
};

template <class F>
void dispatch_activation(ActivationKind kind, F&& f) {
  switch (kind) {
    case ActivationKind::relu: return f(Relu{});
    case ActivationKind::gelu: return f(Gelu{});
    case ActivationKind::tanh: return f(Tanh{});
    case ActivationKind::sigmoid: return f(Sigmoid{});
  }
}

void check(const Tensor& x, const Tensor& bias) {
  internal::expect_same_dtype("bias_activation", x, bias);
  if (x.rank() < 1 || bias.shape() != Shape{x.size(-1)})
    raise<ShapeError>("[bias_activation] wanted x (..., width) and bias (width), came {} and {}", x.shape(),
                      bias.shape());
}

int64_t rows_of(const Tensor& x) { return x.size(-1) == 0 ? 0 : x.numel() / x.size(-1); }

/// An element of a row counts as four units of work where there is an exponential, else as one.
int64_t rows_per_chunk(int64_t width, ActivationKind kind) {
  return internal::rows_per_chunk(width * (kind == ActivationKind::relu ? 1 : 4));
}

}  // namespace

Tensor bias_activation(const Tensor& x, const Tensor& bias, ActivationKind kind, Tensor* into) {
  check(x, bias);
  const auto fill = [&]<class T, class F>(Tensor& out, T, F) {
    const int64_t width = x.size(-1);
    const Tensor in = x.contiguous(), offsets = bias.contiguous();
    const T *from = in.data<T>(), *b = offsets.data<T>();
    T* to = out.mutable_data<T>();
    internal::parallel_chunks(rows_of(x), rows_per_chunk(width, kind), [=](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* line = from + row * width;
        T* y = to + row * width;
#pragma omp simd
        for (int64_t i = 0; i < width; ++i) y[i] = F::value(line[i] + b[i]);
      }
    });
  };
  return internal::fill_result("bias_activation", into, x.shape(), x.dtype(), internal::Writes::contiguous,
                               {&x, &bias}, [&](Tensor& out) {
                                 internal::dispatch_floating("bias_activation", x, [&]<class T>(T type) {
                                   dispatch_activation(kind, [&](auto f) { fill(out, type, f); });
                                 });
                               });
}

BiasActivationGrads bias_activation_backward(const Tensor& grad, const Tensor& x, const Tensor& bias,
                                             ActivationKind kind) {
  check(x, bias);
  const int64_t width = x.size(-1), rows = rows_of(x), chunk = rows_per_chunk(width, kind);
  const int64_t parts = (rows + chunk - 1) / chunk;
  BiasActivationGrads grads{Tensor::empty(x.shape(), x.dtype()), zeros(bias.shape(), x.dtype())};
  const Tensor g = grad.contiguous(), in = x.contiguous(), offsets = bias.contiguous();
  const auto fill = [&]<class T, class F>(T, F) {
    const T *upstream = g.data<T>(), *from = in.data<T>(), *b = offsets.data<T>();
    T* dx = grads.x.mutable_data<T>();
    // (parts, width): each part of the rows adds up its own, then the parts are added in order
    std::vector<T> partial(static_cast<size_t>(parts * width), T(0));
    internal::parallel_chunks(rows, chunk, [&](int64_t begin, int64_t end) {
      T* sums = partial.data() + begin / chunk * width;
      for (int64_t row = begin; row < end; ++row) {
        const T *line = from + row * width, *up = upstream + row * width;
        T* d = dx + row * width;
#pragma omp simd
        for (int64_t i = 0; i < width; ++i) {
          d[i] = up[i] * F::slope(line[i] + b[i]);
          sums[i] += d[i];
        }
      }
    });
    T* dbias = grads.bias.mutable_data<T>();
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t i = 0; i < width; ++i) dbias[i] += partial[static_cast<size_t>(part * width + i)];
  };
  internal::dispatch_floating("bias_activation_backward", x, [&]<class T>(T type) {
    dispatch_activation(kind, [&](auto f) { fill(type, f); });
  });
  return grads;
}

}  // namespace heed::kernels
