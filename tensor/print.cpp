#include <heed/tensor/print.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <heed/tensor/internal/dispatch.h>

namespace heed {
namespace {

constexpr int64_t kMostInFull = 1000;
constexpr int64_t kEdge = 3;  // items shown at each end of an axis that is cut short
constexpr size_t kLineWidth = 80;

/// Whether an axis of this size shows its ends only.
bool is_cut(int64_t size, bool summarize) { return summarize && size > 2 * kEdge; }

/// Calls f(place) for the elements that are shown, in order.
template <class F>
void for_each_shown(const Tensor& tensor, bool summarize, int64_t axis, int64_t place, F&& f) {
  if (axis == tensor.rank()) return f(place);
  const int64_t size = tensor.shape()[axis], stride = tensor.strides()[axis];
  for (int64_t i = 0; i < size; ++i) {
    if (i == kEdge && is_cut(size, summarize)) i = size - kEdge;
    for_each_shown(tensor, summarize, axis + 1, place + i * stride, f);
  }
}

std::string special(double value) { return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; }

/// Whether numbers with four decimals would not show the values.
bool needs_exponents(const std::vector<double>& values, bool all_whole) {
  constexpr double kLargest = 1e8, kSmallest = 1e-4, kRange = 1e3;
  double largest = 0, smallest = INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  if (all_whole) return largest >= kLargest;
  return largest >= kLargest || smallest < kSmallest || largest / smallest > kRange;
}

std::vector<std::string> format_floats(const std::vector<double>& values) {
  const bool all_whole = std::ranges::all_of(
      values, [](double value) { return !std::isfinite(value) || value == std::trunc(value); });
  const bool exponents = needs_exponents(values, all_whole);
  std::vector<std::string> cells;
  for (const double value : values) {
    if (!std::isfinite(value))
      cells.push_back(special(value));
    else if (exponents)
      cells.push_back(fmt::format("{:.4e}", value));
    else
      cells.push_back(all_whole ? fmt::format("{:.0f}.", value) : fmt::format("{:.4f}", value));
  }
  return cells;
}

/// The texts of the elements that are shown, in order, all of one width.
std::vector<std::string> cells_of(const Tensor& tensor, bool summarize) {
  std::vector<std::string> cells;
  internal::dispatch_all(tensor.dtype(), [&]<class T>(T) {
    const T* data = tensor.data<T>();
    std::vector<double> floats;
    for_each_shown(tensor, summarize, 0, 0, [&](int64_t place) {
      if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>)
        cells.push_back(fmt::format("{}", data[place]));
      else
        floats.push_back(internal::widen(data[place]));
    });
    if (is_floating(tensor.dtype())) cells = format_floats(floats);
  });
  size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  for (std::string& cell : cells) cell.insert(0, width - cell.size(), ' ');
  return cells;
}

/// Puts the cells between brackets.
class Layout {
 public:
  Layout(const Shape& shape, bool summarize, const std::vector<std::string>& cells)
      : shape_(shape), summarize_(summarize), next_(cells.begin()) {}

  std::string take() {
    write_axis(0);
    return std::move(text_);
  }

 private:
  /// One bracket: the items of `axis`, which are cells if it is the last.
  void write_axis(int64_t axis) {
    const int64_t size = shape_[axis];
    const bool last = axis == shape_.rank() - 1;
    text_ += '[';
    ++column_;
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) separate(axis);
      if (i == kEdge && is_cut(size, summarize_)) {
        write("...");
        separate(axis);
        i = size - kEdge;
      }
      if (last)
        write_cell(axis);
      else
        write_axis(axis + 1);
    }
    write("]");
  }

  void write(const std::string& piece) {
    text_ += piece;
    column_ += piece.size();
  }

  /// Between two items of an axis: a space within a row, else one new line for each axis below.
  void separate(int64_t axis) {
    const int64_t below = shape_.rank() - 1 - axis;
    if (below == 0) return write(", ");
    text_ += ',';
    text_.append(static_cast<size_t>(below), '\n');
    indent(axis);
  }

  void indent(int64_t axis) {
    column_ = static_cast<size_t>(axis) + 1;
    text_.append(column_, ' ');
  }

  void write_cell(int64_t axis) {
    const std::string& cell = *next_++;
    if (column_ + cell.size() >= kLineWidth && column_ > static_cast<size_t>(axis) + 1) {
      text_.back() = '\n';  // the space after the comma
      indent(axis);
    }
    write(cell);
  }

  const Shape& shape_;
  bool summarize_;
  std::vector<std::string>::const_iterator next_;
  std::string text_;
  size_t column_ = 0;
};

/// In full: what reads back as the same number.
std::string format_scalar(const Tensor& tensor) {
  return internal::dispatch_all(tensor.dtype(), [&]<class T>(T) -> std::string {
    const T value = *tensor.data<T>();
    if constexpr (std::is_same_v<T, bfloat16>)
      return fmt::format("{}", static_cast<float>(value));
    else
      return fmt::format("{}", value);
  });
}

std::string format_values(const Tensor& tensor) {
  if (tensor.numel() == 0) return "[]";
  if (tensor.rank() == 0) return format_scalar(tensor);
  const bool summarize = tensor.numel() > kMostInFull;
  const std::vector<std::string> cells = cells_of(tensor, summarize);
  return Layout(tensor.shape(), summarize, cells).take();
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return describe(tensor);
  const std::string values = format_values(tensor);
  return fmt::format("{}{}{}", values, values.find('\n') == std::string::npos ? ' ' : '\n', describe(tensor));
}

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) { return stream << to_string(tensor); }

}  // namespace heed
