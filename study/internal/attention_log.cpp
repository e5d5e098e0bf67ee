#include <heed/study/internal/attention_log.h>

#include <fmt/format.h>

#include <algorithm>

#include <heed/nn/norm.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/join.h>

namespace heed::study::internal {
namespace {

constexpr const char* kPaths[]{"query", "key", "value"};

/// The module of this name and type, or null.
template <class T>
T* module_of(const NamedModules& modules, const std::string& name) {
  for (const auto& [path, module] : modules)
    if (path == name) return dynamic_cast<T*>(module);
  return nullptr;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.shares_memory(b) && a.offset() == b.offset() &&
         a.shape() == b.shape();
}

/// The entries of one call, by the names of their points.
using Call = std::map<std::string, Entry>;

/// A call begins where a name comes again.
std::vector<Call> calls_of(const PointLog& log) {
  std::vector<Call> calls;
  for (const Entry& entry : log.entries()) {
    if (calls.empty() || calls.back().contains(entry.point)) calls.emplace_back();
    calls.back().emplace(entry.point, entry);
  }
  return calls;
}

/// The queries of these calls side by side: (batch, queries, width), or scores and weights.
Tensor joined(std::span<const Tensor> parts) {
  return parts.size() == 1 ? parts[0] : kernels::concat(parts, -2);
}

Tensor with_heads(const Tensor& pairs) { return pairs.rank() == 3 ? pairs.unsqueeze(1) : pairs; }

Tensor sum_of(std::span<const Tensor> parts) {
  Tensor sum = parts[0];
  for (const Tensor& part : parts.subspan(1)) sum = kernels::add(sum, part);
  return sum;
}

/// Calls that ask the same keys, as one.
class Attention {
 public:
  explicit Attention(std::span<const Call> calls) : calls_(calls) {}

  AttentionRecord record(const std::string& name) const {
    AttentionRecord record;
    record.name = name;
    for (const auto& [point, entry] : calls_[0]) {
      const bool is_pair = point == "scores" || point == "weights";
      const Tensor value = value_of(point), gradient = gradient_of(point);
      record.values[point] = is_pair ? with_heads(value) : value;
      if (gradient.defined()) record.gradients[point] = is_pair ? with_heads(gradient) : gradient;
    }
    record.heads = statistics(record);
    return record;
  }

  /// What the queries of the first call are made of.
  const Tensor& input() const { return calls_[0].at("input").value; }

  /// Where the gradient of a path comes from. There is none in it where none came.
  FlowSource source(const std::string& path, const ProjectionLogs& projections) const {
    const ProjectionLog* log = projections.find(path);
    if (log == nullptr) return {path, value_of(path), {}, gradient_of(path)};
    std::vector<Tensor> inputs, gradients;
    for (const Call& call : is_of_keys(path) ? calls_.first(1) : calls_) {
      const Entry* projected = log->last_before(call.at("query").order);
      if (projected == nullptr || !projected->gradient().defined()) return {path, {}, {}, {}};
      inputs.push_back(projected->value);
      gradients.push_back(projected->gradient());
    }
    return {path, joined(inputs), log->weight(), joined(gradients)};
  }

 private:
  static bool is_of_keys(const std::string& point) { return point == "key" || point == "value"; }

  Tensor value_of(const std::string& point) const {
    if (is_of_keys(point)) return calls_[0].at(point).value;
    std::vector<Tensor> parts;
    for (const Call& call : calls_) parts.push_back(call.at(point).value);
    return joined(parts);
  }

  Tensor gradient_of(const std::string& point) const {
    std::vector<Tensor> parts;
    for (const Call& call : calls_) parts.push_back(call.at(point).gradient());
    if (!std::ranges::all_of(parts, &Tensor::defined)) return {};
    return is_of_keys(point) ? sum_of(parts) : joined(parts);
  }

  static std::vector<HeadStatistics> statistics(const AttentionRecord& record) {
    const auto gradient = [&](const char* point) {
      const auto found = record.gradients.find(point);
      return found == record.gradients.end() ? Tensor() : found->second;
    };
    auto heads = head_statistics(record.values.at("weights"), record.values.at("scores"), gradient("weights"),
                                 gradient("scores"));
    const auto fill = [&](const char* point, double HeadStatistics::*member) {
      if (!gradient(point).defined()) return;
      const auto norms = norms_by_head(gradient(point), static_cast<int64_t>(heads.size()));
      for (size_t h = 0; h < heads.size(); ++h) heads[h].*member = norms[h];
    };
    fill("query", &HeadStatistics::query_gradient);
    fill("key", &HeadStatistics::key_gradient);
    fill("value", &HeadStatistics::value_gradient);
    return heads;
  }

  std::span<const Call> calls_;
};

/// The calls in groups that ask the same keys; none for a module that is no attention.
std::vector<std::span<const Call>> groups_of(const std::vector<Call>& calls) {
  std::vector<std::span<const Call>> groups;
  if (calls.empty() || !calls[0].contains("weights")) return groups;
  size_t begin = 0;
  for (size_t end = 1; end <= calls.size(); ++end) {
    if (end < calls.size() && is_same(calls[begin].at("key").value, calls[end].at("key").value)) continue;
    groups.push_back(std::span(calls).subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

std::vector<Flow> flows_of(const Attention& attention, int64_t heads, const ProjectionLogs& projections,
                           const std::vector<ResidualSource>& residuals) {
  std::vector<Tensor> inputs;  // of the flows
  std::vector<Flow> flows;
  for (const char* path : kPaths) {
    const FlowSource source = attention.source(path, projections);
    if (!source.grad.defined()) continue;
    const auto same =
        std::ranges::find_if(inputs, [&](const Tensor& input) { return is_same(input, source.input); });
    const size_t at = static_cast<size_t>(same - inputs.begin());
    if (same == inputs.end()) {
      inputs.push_back(source.input);
      const bool is_input = path == kPaths[0] || is_same(source.input, attention.input());
      flows.push_back({is_input ? "input" : "memory", {}, {}});
    }
    flows[at].parts.push_back(flow_part(source, heads));
  }
  for (size_t i = 0; i < flows.size(); ++i) {
    const auto around = std::ranges::find_if(
        residuals, [&](const ResidualSource& r) { return is_same(r.branch, inputs[i]); });
    if (around != residuals.end()) pass_residual(flows[i], *around);
    complete(flows[i]);
  }
  return flows;
}

}  // namespace

ResidualLogs::ResidualLogs(const NamedModules& modules, const Clock& clock) {
  for (const auto& [name, module] : modules) {
    Block block{std::make_unique<PointLog>(name, *module, clock), {}};
    if (const auto* norm = module_of<nn::LayerNorm>(modules, name.empty() ? "norm" : name + ".norm")) {
      block.norm_weight = norm->weight();
      block.norm_epsilon = norm->epsilon();
    }
    blocks_.push_back(std::move(block));
  }
}

std::vector<ResidualSource> ResidualLogs::sources() const {
  std::vector<ResidualSource> sources;
  for (const Block& block : blocks_)
    for (const Call& call : calls_of(*block.log)) {
      if (!call.contains("input") || !call.contains("branch") || !call.contains("residual")) continue;
      ResidualSource source{
          call.at("input").value, call.at("branch").value, call.at("residual").gradient(), {}};
      if (!source.sum_grad.defined()) continue;
      if (!is_same(source.input, source.branch)) {
        if (!block.norm_weight.defined()) continue;  // what stands between is not known
        source.norm_weight = block.norm_weight.data();
        source.norm_epsilon = block.norm_epsilon;
      }
      sources.push_back(source);
    }
  return sources;
}

void ResidualLogs::clear() {
  for (Block& block : blocks_) block.log->clear();
}

ProjectionLogs::ProjectionLogs(const std::string& module, const NamedModules& modules, const Clock& clock) {
  for (const char* path : kPaths) {
    const std::string name = fmt::format("{}{}{}_proj", module, module.empty() ? "" : ".", path[0]);
    if (auto* linear = module_of<nn::Linear>(modules, name))
      logs_.emplace(path, std::make_unique<ProjectionLog>(*linear, clock));
  }
}

const ProjectionLog* ProjectionLogs::find(const std::string& path) const {
  const auto found = logs_.find(path);
  return found == logs_.end() ? nullptr : found->second.get();
}

void ProjectionLogs::clear() {
  for (auto& [path, log] : logs_) log->clear();
}

std::vector<AttentionRecord> attention_records(const PointLog& log) {
  std::vector<AttentionRecord> records;
  const std::vector<Call> calls = calls_of(log);
  for (const auto group : groups_of(calls)) records.push_back(Attention(group).record(log.name()));
  return records;
}

void add_flows(std::vector<AttentionRecord>& records, const PointLog& log, const ProjectionLogs& projections,
               const std::vector<ResidualSource>& residuals) {
  const std::vector<Call> calls = calls_of(log);
  const auto groups = groups_of(calls);
  for (size_t i = 0; i < groups.size(); ++i)
    records[i].flows =
        flows_of(Attention(groups[i]), static_cast<int64_t>(records[i].heads.size()), projections, residuals);
}

std::vector<PointRecord> point_records(const PointLog& log) {
  std::map<std::string, PointRecord> by_name;
  for (const Entry& entry : log.entries()) {
    PointRecord& record = by_name[entry.point];
    record.name = log.name().empty() ? entry.point : log.name() + "." + entry.point;
    record.values.push_back(entry.value);
    record.gradients.push_back(entry.gradient());
    record.value_norms.push_back(norm_of(entry.value));
    record.gradient_norms.push_back(entry.gradient().defined() ? norm_of(entry.gradient()) : 0);
  }
  std::vector<PointRecord> records;
  if (by_name.contains("weights")) return records;
  for (auto& [name, record] : by_name) records.push_back(std::move(record));
  return records;
}

}  // namespace heed::study::internal
