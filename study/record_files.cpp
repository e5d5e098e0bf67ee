#include <heed/study/record_files.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <heed/tensor/files/safetensors.h>

namespace heed::study {
using Json = nlohmann::json;

// As members of a JSON object; numbers that are not finite come out as null.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeadStatistics, queries, entropy, largest, saturation, spread, relevance,
                                   weight_gradient, score_gradient, query_gradient, key_gradient,
                                   value_gradient)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ParameterStatistics, weight_norm, gradient_norm, update_ratio, zeros,
                                   not_finite)

namespace {

Json json_of(const AttentionRecord& layer) {
  Json flows = Json::array();
  for (const Flow& flow : layer.flows) {
    Json shares = Json::object();
    for (const FlowPart& part : flow.parts) shares[part.path] = part.total_share;
    flows.push_back({{"input", flow.input}, {"shares", shares}});
  }
  return {{"name", layer.name}, {"heads", layer.heads}, {"flows", flows}};
}

Json json_of(const PointRecord& point) {
  return {{"name", point.name}, {"value_norms", point.value_norms}, {"gradient_norms", point.gradient_norms}};
}

/// Names that come again are told apart by numbers.
class Names {
 public:
  std::string next(const std::string& name) {
    const int count = ++counts_[name];
    return count == 1 ? name : fmt::format("{}#{}", name, count);
  }

 private:
  std::map<std::string, int> counts_;
};

}  // namespace

std::string to_json(const StepRecord& step) {
  Json attention = Json::array(), points = Json::array(), parameters = Json::object();
  for (const AttentionRecord& layer : step.attention) attention.push_back(json_of(layer));
  for (const PointRecord& point : step.points) points.push_back(json_of(point));
  for (const ParameterRecord& parameter : step.parameters) parameters[parameter.name] = parameter.statistics;
  const Json all{
      {"step", step.step}, {"attention", attention}, {"points", points}, {"parameters", parameters}};
  return all.dump();
}

void save_tensors(const std::filesystem::path& path, const StepRecord& step) {
  std::map<std::string, Tensor> tensors;
  Names names;
  for (const AttentionRecord& layer : step.attention) {
    const std::string name = names.next(layer.name.empty() ? "attention" : layer.name);
    for (const auto& [point, value] : layer.values) tensors[name + "." + point] = value;
    for (const auto& [point, gradient] : layer.gradients) tensors[name + "." + point + ".grad"] = gradient;
    for (const Flow& flow : layer.flows)
      for (const FlowPart& part : flow.parts)
        if (part.gradient.defined())
          tensors[fmt::format("{}.flow.{}.{}", name, flow.input, part.path)] = part.gradient;
  }
  for (const PointRecord& point : step.points)
    for (size_t i = 0; i < point.values.size(); ++i) {
      const std::string name = fmt::format("{}.{}", point.name, i);
      tensors[name] = point.values[i];
      if (point.gradients[i].defined()) tensors[name + ".grad"] = point.gradients[i];
    }
  save_safetensors(path.string(), tensors);
}

}  // namespace heed::study
