#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <heed/autograd/graph.h>

/// to_dot: nodes are put into boxes, boxes into the frames of their modules, and the edges between two boxes
/// are drawn once for each kind of value.
namespace heed {
namespace {

std::vector<std::string> parts_of(const std::string& scope) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < scope.size();) {
    const size_t end = std::min(scope.find('.', begin), scope.size());
    parts.push_back(scope.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// What is drawn as one: an op, a leaf, or a module with all that is in it.
struct Box {
  std::string label;
  bool is_leaf = false, is_module = false;
};

/// A module that is drawn from within.
struct Frame {
  std::vector<size_t> boxes;
  std::map<std::string, Frame> inner;
};

/// The boxes, and for each node the one it is in.
struct Boxes {
  std::vector<Box> all;
  std::vector<size_t> of_node;
  Frame root;
};

Boxes boxes_of(const Graph& graph, int64_t depth) {
  Boxes boxes;
  std::map<std::string, size_t> modules;
  for (const Graph::Node& node : graph.nodes) {
    const std::vector<std::string> parts = parts_of(node.scope);
    const bool is_inside = static_cast<int64_t>(parts.size()) > depth;
    Frame* frame = &boxes.root;
    std::string path;
    for (size_t i = 0; i < (is_inside ? static_cast<size_t>(depth) : parts.size()); ++i) {
      frame = &frame->inner[parts[i]];
      path += parts[i] + ".";
    }
    size_t box = boxes.all.size();
    if (is_inside) box = modules.try_emplace(path + parts[static_cast<size_t>(depth)], box).first->second;
    if (box == boxes.all.size()) {
      boxes.all.push_back(is_inside ? Box{parts[static_cast<size_t>(depth)], false, true}
                                    : Box{node.name, node.is_leaf, false});
      frame->boxes.push_back(box);
    }
    boxes.of_node.push_back(box);
  }
  return boxes;
}

/// The edges between two boxes that carry values of one kind.
struct Bundle {
  size_t count = 0;
  double squares = 0;
  bool has_norm = false;
};
using Bundles = std::map<std::tuple<size_t, size_t, std::string>, Bundle>;

Bundles bundles_of(const Graph& graph, const Boxes& boxes) {
  Bundles bundles;
  for (const Graph::Edge& edge : graph.edges) {
    const size_t from = boxes.of_node[edge.from], to = boxes.of_node[edge.to];
    if (from == to) continue;
    const Graph::Value& value = graph.nodes[edge.from].outputs[edge.output];
    Bundle& bundle = bundles[{from, to, fmt::format("{}{}", name_of(value.dtype), value.shape)}];
    ++bundle.count;
    if (!edge.grad_norm) continue;
    bundle.has_norm = true;
    bundle.squares += *edge.grad_norm * *edge.grad_norm;
  }
  return bundles;
}

/// A string of the DOT language.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + '"';
}

class Writer {
 public:
  explicit Writer(const Boxes& boxes) : boxes_(boxes) {}

  /// The boxes of a frame, and the frames in it. Modules nest a few levels deep, so recursion will do.
  void frame(const Frame& frame, const std::string& indent) {
    for (const size_t box : frame.boxes) write_box(box, indent);
    for (const auto& [name, inner] : frame.inner) {
      line("{}subgraph cluster_{} {{", indent, clusters_++);
      line("{}  label={};", indent, quoted(name));
      this->frame(inner, indent + "  ");
      line("{}}}", indent);
    }
  }

  void edge(size_t from, size_t to, const std::string& value, const Bundle& bundle) {
    std::string label = "  " + value;  // apart from the line that it stands at
    if (bundle.count > 1) label += fmt::format(" x{}", bundle.count);
    if (bundle.has_norm) label += fmt::format("\n  |g| {:.3g}", std::sqrt(bundle.squares));
    line("  n{} -> n{} [label={}];", from, to, quoted(label));
  }

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  std::string text() && { return std::move(text_); }

 private:
  void write_box(size_t place, const std::string& indent) {
    const Box& box = boxes_.all[place];
    const char* style = box.is_module ? ", shape=box3d, fillcolor=\"#dce9f7\""
                        : box.is_leaf ? ", shape=ellipse, fillcolor=\"#fdf0d2\""
                                      : "";
    line("{}n{} [label={}{}];", indent, place, quoted(box.label), style);
  }

  const Boxes& boxes_;
  std::string text_;
  int clusters_ = 0;
};

}  // namespace

std::string to_dot(const Graph& graph, const DotOptions& options) {
  if (options.depth < 0) raise<ValueError>("[to_dot] wanted a depth of 0 or more, came {}", options.depth);
  const Boxes boxes = boxes_of(graph, options.depth);
  Writer writer(boxes);
  writer.line("digraph {{");
  writer.line("  node [shape=box, style=filled, fillcolor=white, height=0.3, fontname=\"sans-serif\"];");
  writer.line("  edge [fontname=\"sans-serif\", fontsize=10, arrowsize=0.7];");
  // The frames' names stand at the side, because most edges come in at the middle.
  writer.line("  graph [fontname=\"sans-serif\", style=rounded, color=gray, labeljust=l, ranksep=0.35];");
  writer.frame(boxes.root, "  ");
  for (const auto& [ends, bundle] : bundles_of(graph, boxes))
    writer.edge(std::get<0>(ends), std::get<1>(ends), std::get<2>(ends), bundle);
  writer.line("}}");
  return std::move(writer).text();
}

}  // namespace heed
