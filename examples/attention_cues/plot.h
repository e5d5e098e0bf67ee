#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <heed/tensor/tensor.h>

/// Weights of attention as text, and plots as SVG.
namespace cues {

double largest_of(const heed::Tensor& values);

/// One letter for each number of (count), a bar as high as the number: a full block is `largest`.
std::string bars(const heed::Tensor& values, double largest);

/// One line for each row of (rows, columns), one letter for each number: the darker, the nearer to `largest`.
std::vector<std::string> shades(const heed::Tensor& values, double largest);

struct Axis {
  std::string label;
  double low, high;
  std::vector<std::pair<double, std::string>> ticks = {};
};

/// Square panels in a row, each with lines and dots in its own coordinates, or a matrix.
class Plot {
 public:
  /// Begins the next panel: all that follows is drawn there.
  void panel(const std::string& title, const Axis& x, const Axis& y);
  /// Named in a list in the panel's upper right corner.
  void line(const std::string& name, const std::string& color, std::span<const float> x,
            std::span<const float> y);
  void dots(const std::string& name, const std::string& color, std::span<const float> x,
            std::span<const float> y);
  /// (rows, columns), the first row on top, in a panel of its own: from white for `low` to dark blue for
  /// `high`, or, where `low` is below 0, from red over white for the middle to blue.
  void matrix(const heed::Tensor& values, double low, double high);
  /// The whole plot.
  std::string svg() const;

 private:
  double left() const;
  double across(double x) const;
  double down(double y) const;
  void text(double x, double y, const std::string& attributes, const std::string& words);
  void name(const std::string& words, const std::string& color);

  int panels_ = 0, names_ = 0;
  Axis x_, y_;
  std::string body_;
};

}  // namespace cues
