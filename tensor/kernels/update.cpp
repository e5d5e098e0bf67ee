#include <heed/tensor/kernels/update.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>

namespace heed::kernels {
namespace {

/// The cuts of the loop, in elements: small enough that two threads end at about the same time.
constexpr int64_t kChunk = 1 << 15;
/// Less than this in all stays on one thread.
constexpr int64_t kParallelWork = 1 << 17;

void check(const char* op, const Tensor& parameter, std::initializer_list<const Tensor*> others) {
  for (const Tensor* other : others)
    if (other->defined() && (other->shape() != parameter.shape() || other->dtype() != parameter.dtype()))
      raise<ShapeError>("[{}] wanted {} for gradient and state, came {}", op, describe(parameter),
                        describe(*other));
}

/// The elements of a tensor that an update changes, or null without one.
template <class T>
T* elements(Tensor& x) {
  return x.defined() ? x.mutable_span<T>().data() : nullptr;
}

/// f(std::true_type) or f(std::false_type): a choice that the loop shall not make at each element.
template <class F>
void with_flag(bool flag, F f) {
  if (flag)
    f(std::true_type{});
  else
    f(std::false_type{});
}

}  // namespace

void UpdateList::add(int64_t count, std::function<void(int64_t, int64_t)> f) {
  items_.push_back({count, std::move(f)});
}

void UpdateList::run() {
  struct Chunk {
    const Item* item;
    int64_t begin, end;
  };
  const std::vector<Item> items = std::exchange(items_, {});
  std::vector<Chunk> chunks;
  int64_t work = 0;
  for (const Item& item : items) {
    for (int64_t begin = 0; begin < item.count; begin += kChunk)
      chunks.push_back({&item, begin, std::min(item.count, begin + kChunk)});
    work += item.count;
  }
  const auto count = static_cast<int64_t>(chunks.size());
  const auto update = [&](int64_t i) { chunks[i].item->update(chunks[i].begin, chunks[i].end); };
  const int threads = internal::kHasTeams && work > kParallelWork
                          ? static_cast<int>(std::min<int64_t>(num_threads(), count))
                          : 1;
  if (threads == 1) {
    for (int64_t i = 0; i < count; ++i) update(i);
    return;
  }
  // The chunks differ in size, so whoever is free takes the next one: which thread that is changes no number.
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64_t i = 0; i < count; ++i) update(i);
}

void sgd_update(UpdateList& updates, Tensor& parameter, const Tensor& grad, Tensor velocity,
                const SGDOptions& options) {
  check("sgd", parameter, {&grad, &velocity});
  internal::dispatch_floating("sgd", parameter, [&]<class T>(T) {
    const T rate = static_cast<T>(options.lr), decay = static_cast<T>(options.weight_decay);
    const T momentum = static_cast<T>(options.momentum), share = static_cast<T>(1 - options.dampening);
    T* p = elements<T>(parameter);
    if (!velocity.defined()) {
      updates.add(parameter.numel(), [=, gradient = grad.contiguous()](int64_t begin, int64_t end) {
        const T* g = gradient.template data<T>();
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) p[i] -= rate * (g[i] + decay * p[i]);
      });
      return;
    }
    // p -= lr (own g + speed v): one formula for both rules.
    const T own = options.nesterov ? T(1) : T(0), speed = options.nesterov ? momentum : T(1);
    T* v = elements<T>(velocity);
    updates.add(parameter.numel(), [=, gradient = grad.contiguous()](int64_t begin, int64_t end) {
      const T* g = gradient.template data<T>();
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        const T slope = g[i] + decay * p[i];
        v[i] = momentum * v[i] + share * slope;
        p[i] -= rate * (own * slope + speed * v[i]);
      }
    });
  });
}

void adam_update(UpdateList& updates, Tensor& parameter, const Tensor& grad, Tensor m, Tensor v,
                 Tensor largest_v, const AdamOptions& options) {
  check("adam", parameter, {&grad, &m, &v, &largest_v});
  internal::dispatch_floating("adam", parameter, [&]<class T>(T) {
    const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(options.step));
    const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(options.step));
    const T b1 = static_cast<T>(options.beta1), b2 = static_cast<T>(options.beta2);
    const T rest1 = static_cast<T>(1 - options.beta1), rest2 = static_cast<T>(1 - options.beta2);
    const T rate = static_cast<T>(options.lr / correction1),
            root = static_cast<T>(1 / std::sqrt(correction2));
    const T epsilon = static_cast<T>(options.epsilon);
    const T penalty = static_cast<T>(options.decoupled ? 0 : options.weight_decay);
    const T kept = static_cast<T>(options.decoupled ? 1 - options.lr * options.weight_decay : 1);
    T *p = elements<T>(parameter), *first = elements<T>(m), *second = elements<T>(v);
    T* largest = elements<T>(largest_v);
    with_flag(largest_v.defined(), [&]<class Amsgrad>(Amsgrad) {
      updates.add(parameter.numel(), [=, gradient = grad.contiguous()](int64_t begin, int64_t end) {
        const T* g = gradient.template data<T>();
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) {
          const T slope = g[i] + penalty * p[i];
          first[i] = b1 * first[i] + rest1 * slope;
          second[i] = b2 * second[i] + rest2 * slope * slope;
          T square = second[i];
          if constexpr (Amsgrad::value)
            square = largest[i] = square < largest[i] ? largest[i] : square;  // a NaN goes on
          p[i] = kept * p[i] - rate * first[i] / (std::sqrt(square) * root + epsilon);
        }
      });
    });
  });
}

void rmsprop_update(UpdateList& updates, Tensor& parameter, const Tensor& grad, Tensor v, Tensor mean,
                    Tensor velocity, const RMSpropOptions& options) {
  check("rmsprop", parameter, {&grad, &v, &mean, &velocity});
  internal::dispatch_floating("rmsprop", parameter, [&]<class T>(T) {
    const T rate = static_cast<T>(options.lr), decay = static_cast<T>(options.weight_decay);
    const T alpha = static_cast<T>(options.alpha), rest = static_cast<T>(1 - options.alpha);
    const T epsilon = static_cast<T>(options.epsilon), momentum = static_cast<T>(options.momentum);
    T *p = elements<T>(parameter), *second = elements<T>(v), *first = elements<T>(mean);
    T* speed = elements<T>(velocity);
    const auto add = [&]<class Centered, class Moving>(Centered, Moving) {
      updates.add(parameter.numel(), [=, gradient = grad.contiguous()](int64_t begin, int64_t end) {
        const T* g = gradient.template data<T>();
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) {
          const T slope = g[i] + decay * p[i];
          second[i] = alpha * second[i] + rest * slope * slope;
          T spread = second[i];
          if constexpr (Centered::value) {
            first[i] = alpha * first[i] + rest * slope;
            spread -= first[i] * first[i];
            spread = spread < 0 ? T(0) : spread;  // no variance is below 0, but its rounding error may be
          }
          T move = slope / (std::sqrt(spread) + epsilon);
          if constexpr (Moving::value) move = speed[i] = momentum * speed[i] + move;
          p[i] -= rate * move;
        }
      });
    };
    with_flag(mean.defined(), [&](auto centered) {
      with_flag(velocity.defined(), [&](auto moving) { add(centered, moving); });
    });
  });
}

void average_update(UpdateList& updates, Tensor& average, const Tensor& parameter, double decay) {
  check("average", average, {&parameter});
  internal::dispatch_floating("average", average, [&]<class T>(T) {
    const T kept = static_cast<T>(decay), rest = static_cast<T>(1 - decay);
    T* a = elements<T>(average);
    updates.add(average.numel(), [=, source = parameter.contiguous()](int64_t begin, int64_t end) {
      const T* p = source.template data<T>();
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) a[i] = kept * a[i] + rest * p[i];
    });
  });
}

}  // namespace heed::kernels
