#pragma once

#include <functional>
#include <vector>

#include <heed/tensor/tensor.h>

/// Optimizer steps, in place and in one pass over memory. Each function adds the update of one parameter to a
/// list, and the list does them all in one loop. ShapeError unless gradient and state are like the parameter,
/// DTypeError unless all are f32 or f64.
namespace heed::kernels {

/// Element-wise updates of many tensors, gathered first and then done in one loop over the chunks of all of
/// them: many small parameters cost no more than a large one. No two of them may write the same memory.
class UpdateList {
 public:
  /// Does f(begin, end) for parts of [0, count) when the list is run. f must not throw.
  void add(int64_t count, std::function<void(int64_t begin, int64_t end)> f);
  /// Does all updates, and forgets them.
  void run();
  /// Forgets all updates that were not done.
  void clear() { items_.clear(); }

 private:
  struct Item {
    int64_t count;
    std::function<void(int64_t, int64_t)> update;
  };
  std::vector<Item> items_;
};

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
  bool nesterov = false;
};

/// p -= lr g without a velocity (an undefined tensor); with one v = momentum v + (1 - dampening) g and
/// p -= lr v, or by Nesterov's rule p -= lr (g + momentum v). Sutskever et al., "On the importance of
/// initialization and momentum in deep learning" (2013).
void sgd_update(UpdateList& updates, Tensor& parameter, const Tensor& grad, Tensor velocity,
                const SGDOptions& options);

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
  bool decoupled = false;   ///< the decay shrinks the parameter instead: p -= lr weight_decay p
  int64_t step = 1;         ///< this step's number, from 1
};

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) +
/// epsilon). Kingma, Ba, "Adam: a method for stochastic optimization" (2015). The largest v so far stands for
/// v where a tensor for it is given (AMSGrad). Reddi, Kale, Kumar, "On the convergence of Adam and beyond"
/// (2018).
void adam_update(UpdateList& updates, Tensor& parameter, const Tensor& grad, Tensor m, Tensor v,
                 Tensor largest_v, const AdamOptions& options);

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
  double momentum = 0;
};

/// v = alpha v + (1 - alpha) g^2, p -= lr g / (sqrt(v) + epsilon). With a mean, mean = alpha mean + (1 -
/// alpha) g, and v - mean^2, the variance, stands for v; with a velocity, u = momentum u + g / (sqrt(v) +
/// epsilon) and p -= lr u. Hinton, "Neural networks for machine learning", lecture 6 (2012); Graves,
/// "Generating sequences with recurrent neural networks" (2013).
void rmsprop_update(UpdateList& updates, Tensor& parameter, const Tensor& grad, Tensor v, Tensor mean,
                    Tensor velocity, const RMSpropOptions& options);

/// a = decay a + (1 - decay) p.
void average_update(UpdateList& updates, Tensor& average, const Tensor& parameter, double decay);

}  // namespace heed::kernels
