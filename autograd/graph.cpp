#include <heed/autograd/graph.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed {
namespace {

/// Every node behind the outputs, oldest first; found without recursion.
std::vector<Node*> nodes_behind(std::span<const Variable> outputs) {
  std::vector<Node*> found;
  std::unordered_map<const Node*, bool> seen;
  const auto enter = [&](Node* node) {
    if (node != nullptr && !std::exchange(seen[node], true)) found.push_back(node);
  };
  for (const Variable& output : outputs) enter(output.producer().node.get());
  for (size_t next = 0; next < found.size();)
    for (const Edge& edge : found[next++]->inputs) enter(edge.node.get());
  std::ranges::sort(found, {}, &Node::number);
  return found;
}

Graph::Node describe_node(const Node& node) {
  Graph::Node described{node.name(), node.number(), node.scope(), node.inputs.empty(), {}};
  for (const Node::Output& output : node.outputs) described.outputs.push_back({output.shape, output.dtype});
  return described;
}

/// "decoder.0.weight": scope "decoder.0", name "weight".
void name_leaf(Graph::Node& leaf, const std::string& full_name) {
  const size_t dot = full_name.rfind('.');
  leaf.name = dot == std::string::npos ? full_name : full_name.substr(dot + 1);
  leaf.scope = dot == std::string::npos ? "" : full_name.substr(0, dot);
}

Graph describe_all(const std::vector<Node*>& nodes, const NamedVariables& names) {
  Graph graph;
  std::unordered_map<const Node*, size_t> place;
  for (const Node* node : nodes) {
    place[node] = graph.nodes.size();
    graph.nodes.push_back(describe_node(*node));
  }
  for (const Node* node : nodes)
    for (size_t i = 0; i < node->inputs.size(); ++i)
      if (const Edge& edge = node->inputs[i]; edge.node != nullptr)
        graph.edges.push_back({place.at(edge.node.get()), edge.index, place.at(node), i});
  for (const auto& [name, variable] : names) {
    const auto found = variable.defined() ? place.find(variable.producer().node.get()) : place.end();
    if (found != place.end() && graph.nodes[found->second].is_leaf)
      name_leaf(graph.nodes[found->second], name);
  }
  return graph;
}

/// In f64: the square of a large f32 would leave its range.
double norm(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::f64);
  return std::sqrt(kernels::sum(kernels::mul(wide, wide)).item());
}

}  // namespace

Graph graph_of(std::span<const Variable> outputs, const NamedVariables& names) {
  return describe_all(nodes_behind(outputs), names);
}

Graph graph_of(const Variable& output, const NamedVariables& names) { return graph_of({&output, 1}, names); }

EdgeNorms::EdgeNorms(const Variable& output, const NamedVariables& names) {
  const std::vector<Node*> nodes = nodes_behind({&output, 1});
  graph_ = std::make_shared<Graph>(describe_all(nodes, names));
  for (size_t i = 0; i < graph_->edges.size(); ++i) {
    const Graph::Edge& edge = graph_->edges[i];
    handles_.push_back(internal::add_edge_hook(*nodes[edge.to], edge.input,
                                               [i, graph = std::weak_ptr(graph_)](const Variable& grad) {
                                                 if (const auto watched = graph.lock())
                                                   watched->edges[i].grad_norm = norm(grad.data());
                                                 return Variable();
                                               }));
  }
}

}  // namespace heed
