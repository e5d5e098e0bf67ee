#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <heed/tensor/tensor.h>

/// What an offline page shows of a model: attention head by head, by which path gradient came, and curves.
/// report_layers.h fills it from a Recorder; a program may also fill it by hand.
namespace heed::study {

/// A place along an axis of an attention matrix.
struct ReportToken {
  std::string text;
  bool special = false;  ///< a marker or padding, which the reader may want to hide
};

/// How the gradient that reaches one sequence of inputs is made up. The shares of one place add up to 1; a
/// share is the projection of the part on the whole, <part, whole> / |whole|^2, so that it may be negative.
struct ReportFlow {
  struct Part {
    std::string path;  ///< "query", "key", "value", or "residual"
    Tensor share;      ///< f32 (heads, places); one head for what has none
    Tensor norm;       ///< f32 (heads, places): the length of the part's gradient
  };
  std::string input;  ///< of what: "input", or "memory" for the other sequence of cross-attention
  std::vector<ReportToken> tokens;
  std::vector<Part> parts{};
  Tensor norm{};  ///< f32 (places): the length of the whole; undefined if not known, and all count the same
                  ///< in means
};

/// One attention layer on one pair of sequences.
struct ReportLayer {
  std::string name;  ///< as "decoder.layers.0.cross_attention"
  std::vector<ReportToken> queries, keys;
  Tensor weights{};  ///< f32 (heads, queries, keys)
  Tensor
      gradients{};   ///< f32 (heads, queries, keys), that of the loss to each weight; undefined if not known
  Tensor entropy{};  ///< f32 (heads): of the weights of a query, in nats, the mean over queries
  Tensor saturation{};  ///< f32 (heads): 1 - sum of squared weights, the mean over queries; 0: all on one key
  std::vector<ReportFlow> flows{};
};

/// Lines over a common axis.
struct ReportChart {
  struct Line {
    std::string name;
    std::vector<double> x{}, y{};  ///< places that are not finite are left out
  };
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Line> lines{};
};

struct Report {
  std::string title;
  std::string text{};  ///< below the title, plain; an empty line starts a new paragraph
  std::vector<ReportLayer> layers{};
  std::vector<ReportChart> charts{};
};

/// The page: one HTML file that asks nothing of any host. Numbers are rounded to whole parts of the largest
/// of their row (of a query, or of a head's flow): to 1/32767 of it, and where the matrices of all layers
/// would take more than 4 MB so, to 1/127; where that is still too much, each row keeps its strongest places
/// alone, and the page says how many. What is not finite is shown as such. ShapeError, DTypeError or
/// ValueError for parts that do not fit together (tensors and tokens, lines of unequal length).
std::string report_html(const Report& report);

/// Writes the page to a file, whole or not at all. FileError where that fails.
void write_report(const std::filesystem::path& path, const Report& report);

}  // namespace heed::study
