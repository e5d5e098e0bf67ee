#include <heed/autograd/shards.h>

#include <utility>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/hooks.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

namespace heed {
namespace {

thread_local bool computes_shard = false;

/// What the shards take over from the calling thread, whose generator moves on.
struct Caller {
  bool records = grad_enabled(), looks_for_anomalies = anomaly_enabled();
  Scope::Name scope = Scope::current();
  uint64_t seed = default_generator().below(uint64_t{1} << 63);
};

/// While it lives, this thread is as the caller's, but for a generator of the shard's own.
class InsideShard {
 public:
  InsideShard(const Caller& caller, int64_t shard)
      : recording_(caller.records),
        anomaly_(caller.looks_for_anomalies),
        scope_(caller.scope),
        generator_before_(
            std::exchange(default_generator(), Generator(caller.seed + static_cast<uint64_t>(shard)))),
        was_inside_(std::exchange(computes_shard, true)) {}
  ~InsideShard() {
    computes_shard = was_inside_;
    default_generator() = generator_before_;
  }
  InsideShard(const InsideShard&) = delete;
  InsideShard& operator=(const InsideShard&) = delete;

 private:
  const GradMode recording_;
  const AnomalyMode anomaly_;
  const Scope scope_;
  Generator generator_before_;
  bool was_inside_;
};

void expect_leaves(std::span<const Variable> parameters) {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].requires_grad() || !parameters[i].producer().node->inputs.empty())
      raise<GraphError>("[sharded_backward] wanted leaves that need a gradient, came as parameter {}: {}{}",
                        i, describe(parameters[i].data()),
                        parameters[i].requires_grad() ? ", which an op made" : "");
}

void expect_no_hooks(std::span<const Variable> parameters) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Watch* watch = parameters[i].producer().node->watch();
    if (watch != nullptr && watch->outputs[0].hooks.has_any())
      raise<GraphError>("[sharded_backward] wanted no hooks or one shard, came parameter {} with hooks: {}",
                        i, describe(parameters[i].data()));
  }
}

struct Shard {
  double loss = 0;
  std::vector<Variable> grads;  // one per parameter, undefined where the loss does not depend on it
};

Shard compute(const Variable& loss, int64_t number, std::span<const Variable> parameters) {
  if (!loss.requires_grad() || loss.numel() != 1)
    raise<GraphError>(
        "[sharded_backward] wanted a single number that needs a gradient, came from shard {}: {}{}", number,
        describe(loss.data()), loss.requires_grad() ? "" : ", which needs none");
  return {.loss = loss.item(), .grads = grad({&loss, 1}, parameters, {}, {.allow_unused = true})};
}

void add_to_grad(const Variable& parameter, Variable grad) {
  if (!grad.defined()) return;
  Node& leaf = *parameter.producer().node;
  Backward back(leaf, {std::move(grad)}, false);
  leaf.backward(back);
}

}  // namespace

std::vector<double> sharded_backward(std::span<const Variable> parameters, int64_t shards,
                                     const std::function<Variable(int64_t shard)>& loss) {
  if (shards < 1) raise<ValueError>("[sharded_backward] wanted 1 shard or more, came {}", shards);
  expect_leaves(parameters);
  if (shards == 1) {
    const Variable whole = loss(0);
    whole.backward();
    return {whole.item()};
  }
  expect_no_hooks(parameters);
  std::vector<Shard> done(static_cast<size_t>(shards));
  const Caller caller;
  run_together(shards, [&](int64_t i) {
    const InsideShard inside(caller, i);
    done[static_cast<size_t>(i)] = compute(loss(i), i, parameters);
  });
  std::vector<double> losses;
  for (Shard& shard : done) {
    for (size_t i = 0; i < parameters.size(); ++i) add_to_grad(parameters[i], std::move(shard.grads[i]));
    losses.push_back(shard.loss);
  }
  return losses;
}

bool internal::inside_shard() { return computes_shard; }

}  // namespace heed
