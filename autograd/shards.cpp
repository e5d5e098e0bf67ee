#include <heed/autograd/shards.h>

#include <set>
#include <utility>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/engine.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/hooks.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

namespace heed {
namespace {

thread_local bool computes_shard = false;

/// What the shards take over from the calling thread, whose generator moves on.
struct Caller {
  bool records = grad_enabled(), looks_for_anomalies = anomaly_enabled(),
       allows_infinity = internal::infinity_allowed();
  Scope::Name scope = Scope::current();
  uint64_t seed = default_generator().below(uint64_t{1} << 63);
};

/// While it lives, this thread is as the caller's, but for a generator of the shard's own.
class InsideShard {
 public:
  InsideShard(const Caller& caller, int64_t shard)
      : recording_(caller.records),
        anomaly_(caller.looks_for_anomalies),
        infinity_(caller.allows_infinity),
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
  const AllowInfinity infinity_;
  const Scope scope_;
  Generator generator_before_;
  bool was_inside_;
};

/// Where the gradients of the parameters go.
std::vector<Edge> edges_to(std::span<const Variable> parameters) {
  std::vector<Edge> edges;
  std::set<const Node*> leaves;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Variable& parameter = parameters[i];
    const auto fail = [&](const char* problem) {
      raise<GraphError>("[sharded_backward] wanted leaves that need a gradient, came as parameter {}: {}, {}",
                        i, describe(parameter.data()), problem);
    };
    if (!parameter.requires_grad()) fail("which needs none");
    edges.push_back(parameter.producer());
    if (!edges.back().node->inputs.empty()) fail("which an op made");
    if (!leaves.insert(edges.back().node.get()).second) fail("which is there already");
  }
  return edges;
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

/// `edges` lead to the parameters.
Shard compute(int64_t number, const std::function<Variable(int64_t)>& loss, std::span<const Edge> edges) {
  const uint64_t first_node = internal::next_node_number();
  const Variable root = loss(number);
  if (!root.requires_grad() || root.numel() != 1)
    raise<GraphError>(
        "[sharded_backward] wanted a single number that needs a gradient, came from shard {}: {}{}", number,
        describe(root.data()), root.requires_grad() ? "" : ", which needs none");
  const Variable upstream = ones_like(root.data());
  return {.loss = root.item(),
          .grads = internal::grad_at_border(
              {&root, 1}, {&upstream, 1}, edges, first_node, false,
              "[sharded_backward] a loss goes on from what is older than the call and no parameter")};
}

void add_to_grad(Node& leaf, Variable grad) {
  if (!grad.defined()) return;
  Backward back(leaf, {std::move(grad)}, false);
  leaf.backward(back);
}

}  // namespace

std::vector<double> sharded_backward(std::span<const Variable> parameters, int64_t shards,
                                     const std::function<Variable(int64_t shard)>& loss,
                                     ShardOptions options) {
  if (shards < 1) raise<ValueError>("[sharded_backward] wanted 1 shard or more, came {}", shards);
  const std::vector<Edge> edges = edges_to(parameters);
  if (shards == 1) {
    const Variable whole = loss(0);
    whole.backward();
    return {whole.item()};
  }
  expect_no_hooks(parameters);
  std::vector<Shard> done(static_cast<size_t>(shards));
  const Caller caller;
  const auto run = [&](int64_t i) {
    const InsideShard inside(caller, i);
    done[static_cast<size_t>(i)] = compute(i, loss, edges);
  };
  if (options.together)
    run_together(shards, run);
  else
    for (int64_t i = 0; i < shards; ++i) run(i);
  std::vector<double> losses;
  for (Shard& shard : done) {
    for (size_t i = 0; i < edges.size(); ++i) add_to_grad(*edges[i].node, std::move(shard.grads[i]));
    losses.push_back(shard.loss);
  }
  return losses;
}

bool internal::inside_shard() { return computes_shard; }

}  // namespace heed
