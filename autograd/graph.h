#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <heed/autograd/hooks.h>
#include <heed/autograd/named.h>

/// The graph of recorded ops as plain data, and as a picture.
namespace heed {

/// The ops that some results came from, with the leaves, in the order in which they ran. Constants are not in
/// it.
struct Graph {
  struct Value {
    Shape shape;
    DType dtype = DType::f32;
  };
  struct Node {
    std::string name;     ///< the op's, or for a leaf its own name if it was given, else "leaf"
    uint64_t number = 0;  ///< see heed::Node::number
    std::string scope;    ///< the module in which it ran; for a named leaf the one that owns it
    bool is_leaf = false;
    std::vector<Value> outputs;
  };
  /// Output `output` of node `from` is input `input` of node `to`; both are places in `nodes`.
  struct Edge {
    size_t from = 0, output = 0, to = 0, input = 0;
    std::optional<double> grad_norm = {};  ///< of the gradient that goes back along it
  };

  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// The graph behind some results. Leaves get their names from `names`, as a module's named_parameters().
Graph graph_of(std::span<const Variable> outputs, const NamedVariables& names = {});
Graph graph_of(const Variable& output, const NamedVariables& names = {});

/// Watches every edge of a graph: `EdgeNorms norms(loss); loss.backward(); to_dot(norms.graph());`. It stops
/// when it is destroyed.
class EdgeNorms {
 public:
  explicit EdgeNorms(const Variable& output, const NamedVariables& names = {});
  /// With the Euclidean norms of the gradients that the last backward pass sent along the edges; none where
  /// it sent nothing.
  const Graph& graph() const { return *graph_; }

 private:
  std::shared_ptr<Graph> graph_;
  std::vector<HookHandle> handles_;
};

struct DotOptions {
  /// How many levels of modules are drawn from within. One that lies deeper than that is a single box, with
  /// all that is in it; 0 makes one box of each module at the top.
  int64_t depth = std::numeric_limits<int64_t>::max();
};

/// The picture of a graph in the DOT language, for `dot -Tsvg`. Time runs downwards; modules are frames; an
/// edge says what flows along it, and the norm of its gradient where that is known. Between two boxes there
/// is one edge for each kind of value; the norm on it is that of all its gradients together.
///   std::ofstream("graph.dot") << to_dot(graph_of(loss, model.named_parameters()), {.depth = 2});
/// is drawn by
///   dot -Tsvg graph.dot -o graph.svg
std::string to_dot(const Graph& graph, const DotOptions& options = {});

}  // namespace heed
