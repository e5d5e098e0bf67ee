#include "attention_cues/plot.h"

#include <fmt/format.h>
#include <heed/autograd/ops/extremes.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cues {
namespace {

using heed::Tensor;

constexpr int kSide = 250, kLeft = 48, kTop = 30, kBottom = 40, kPitch = 320;
constexpr int kLevels = 17;  // shades of a matrix, so that there is one in the middle

/// Which of `count` equal parts of [0, 1] a number lies in.
int level(double part, int count) { return std::clamp(static_cast<int>(part * count), 0, count - 1); }

using Stops = std::array<std::array<double, 3>, 3>;  // red, green and blue at the begin, middle and end
constexpr Stops kOneSided{{{255, 255, 255}, {107, 174, 214}, {8, 48, 107}}};
constexpr Stops kTwoSided{{{178, 24, 43}, {255, 255, 255}, {33, 102, 172}}};

std::string color_of(int shade, const Stops& stops) {
  const double place = 2.0 * shade / (kLevels - 1);
  const auto stop = static_cast<size_t>(level(place / 2, 2));
  std::array<int, 3> color{};
  for (size_t i = 0; i < 3; ++i)
    color[i] = static_cast<int>(std::lerp(stops[stop][i], stops[stop + 1][i], place - double(stop)));
  return fmt::format("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
}

}  // namespace

double largest_of(const Tensor& values) { return heed::max(heed::Variable(values)).item(); }

std::string bars(const Tensor& values, double largest) {
  constexpr std::array<const char*, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const double value : values.to_vector<double>())
    text += kBars[static_cast<size_t>(std::clamp(std::lround(8 * value / largest), 0L, 8L))];
  return text;
}

std::vector<std::string> shades(const Tensor& values, double largest) {
  constexpr double kNothing = 0.05;
  constexpr std::array<const char*, 5> kShades{" ", "░", "▒", "▓", "█"};
  std::vector<std::string> lines;
  for (int64_t i = 0; i < values.size(0); ++i) {
    std::string& line = lines.emplace_back();
    for (const double value : values.select(0, i).to_vector<double>()) {
      const double part = value / largest;
      line += kShades[part < kNothing ? 0 : static_cast<size_t>(1 + level(part, 4))];
    }
  }
  return lines;
}

double Plot::left() const { return kLeft + (panels_ - 1) * kPitch; }

double Plot::across(double x) const { return left() + (x - x_.low) / (x_.high - x_.low) * kSide; }

double Plot::down(double y) const { return kTop + (y_.high - y) / (y_.high - y_.low) * kSide; }

void Plot::text(double x, double y, const std::string& attributes, const std::string& words) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, words);
}

void Plot::panel(const std::string& title, const Axis& x, const Axis& y) {
  ++panels_;
  names_ = 0;
  x_ = x, y_ = y;
  const double middle = left() + kSide / 2.0, bottom = kTop + kSide;
  text(middle, kTop - 10, "text-anchor=\"middle\" font-weight=\"bold\"", title);
  text(middle, bottom + 34, "text-anchor=\"middle\"", x.label);
  text(0, 0,
       fmt::format("text-anchor=\"middle\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", left() - 32,
                   kTop + kSide / 2.0),
       y.label);
  for (const auto& [at, label] : x.ticks) text(across(at), bottom + 16, "text-anchor=\"middle\"", label);
  for (const auto& [at, label] : y.ticks) text(left() - 6, down(at) + 4, "text-anchor=\"end\"", label);
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999\"/>\n",
                       left(), kTop, kSide, kSide);
}

void Plot::name(const std::string& words, const std::string& color) {
  text(left() + kSide - 8, kTop + 16 + 16 * names_++, fmt::format("text-anchor=\"end\" fill=\"{}\"", color),
       words);
}

void Plot::line(const std::string& words, const std::string& color, std::span<const float> x,
                std::span<const float> y) {
  name(words, color);
  body_ += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"", color);
  for (size_t i = 0; i < x.size(); ++i) body_ += fmt::format("{:.1f},{:.1f} ", across(x[i]), down(y[i]));
  body_ += "\"/>\n";
}

void Plot::dots(const std::string& words, const std::string& color, std::span<const float> x,
                std::span<const float> y) {
  name(words, color);
  for (size_t i = 0; i < x.size(); ++i)
    body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", across(x[i]),
                         down(y[i]), color);
}

void Plot::matrix(const Tensor& values, double low, double high) {
  const int64_t rows = values.size(0), columns = values.size(1);
  std::array<std::string, kLevels> paths;  // one for each shade: neighbours in a row are one rectangle
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0, begin = 0; j < columns; begin = j) {
      const auto shade = [&](int64_t column) {
        return level((values.at({i, column}) - low) / (high - low), kLevels);
      };
      while (j < columns && shade(j) == shade(begin)) ++j;
      paths[static_cast<size_t>(shade(begin))] +=
          fmt::format("M{} {}h{}v1h-{}z", begin, i, j - begin, j - begin);
    }
  body_ += fmt::format("<g shape-rendering=\"crispEdges\" transform=\"translate({} {}) scale({} {})\">\n",
                       left(), kTop, double(kSide) / double(columns), double(kSide) / double(rows));
  const int white = low < 0 ? kLevels / 2 : 0;  // the page's own
  for (int shade = 0; shade < kLevels; ++shade)
    if (const std::string& path = paths[static_cast<size_t>(shade)]; shade != white && !path.empty())
      body_ += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", color_of(shade, low < 0 ? kTwoSided : kOneSided),
                           path);
  body_ += "</g>\n";
}

std::string Plot::svg() const {
  const int width = panels_ * kPitch, height = kTop + kSide + kBottom;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
             "fill=\"#fff\"/>\n",
             width, height) +
         body_ + "</svg>\n";
}

}  // namespace cues
