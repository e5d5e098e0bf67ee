#include "translate/alignment_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "translate/terminal.h"

namespace heed::translate {
namespace {

constexpr int kWidestPitch = 4;
/// Source words that would be cut below this ask for columns that stand closer.
constexpr int kReadable = 10;
constexpr std::array<const char*, 4> kShades{"░", "▒", "▓", "█"};

std::string spaces(int count) { return std::string(static_cast<size_t>(std::max(count, 0)), ' '); }

std::string repeated(const std::string& block, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += block;
  return text;
}

int divided_up(int number, int divisor) { return (number + divisor - 1) / divisor; }

/// A weight from 0 to 1 as a shade.
const char* shade_of(float weight) {
  const auto place = static_cast<size_t>(weight * 4);
  return kShades[std::min(place, kShades.size() - 1)];
}

int widest(const Sentence& words) {
  int width = 0;
  for (const std::string& word : words) width = std::max(width, display_width(word));
  return width;
}

struct Layout {
  int margin;  // columns of the target words
  int pitch;   // columns from one source word to the next
  int words;   // source words of a picture, at most
  int columns;

  int place(int word) const { return margin + 1 + word * pitch; }
  int cell() const { return std::max(pitch - 1, 1); }
};

/// How many source words have room where they stand `pitch` apart.
int fitting(const Layout& layout, int last) {
  const int rest = layout.columns - layout.place(0) - std::max(last, layout.cell());
  return rest < 0 ? 0 : 1 + rest / layout.pitch;
}

/// The widest pitch at which all source words fit; where none does, the words go to as few pictures as they
/// can, about the same number to each.
Layout layout_of(const Translation& translation, int columns) {
  const auto words = static_cast<int>(translation.source.size());
  const int last = std::min(widest(translation.source), kReadable);
  Layout layout{std::min(widest(translation.target), columns / 4), kWidestPitch, words, columns};
  while (layout.pitch > 1 && fitting(layout, last) < words) --layout.pitch;
  const int pictures = divided_up(words, std::max(fitting(layout, last), 1));
  if (pictures > 1) layout.words = divided_up(words, pictures);
  return layout;
}

/// The source words from the first one down, each a line lower than the one before and above its column.
std::string heading(std::span<const std::string> source, const Layout& layout) {
  std::string text;
  int word = 0;
  for (const std::string& name : source) {
    text += spaces(layout.place(0)) + repeated("│" + spaces(layout.pitch - 1), word);
    text += fitted(name, layout.columns - layout.place(word++)) + "\n";
  }
  return text;
}

/// A weight in the columns of a cell: a shade and percent where these are three, else a shade. What is nearly
/// nothing is left blank.
std::string cell_of(float weight, int columns) {
  constexpr float kNothing = 0.05F;
  if (weight < kNothing) return spaces(columns);
  if (columns < kWidestPitch - 1) return repeated(shade_of(weight), columns);
  const auto percent = std::lround(weight * 100);
  return percent < 100 ? fmt::format("{}{:2}", shade_of(weight), percent) : fmt::format("{}", percent);
}

std::string row(const std::string& word, std::span<const float> weights, const Layout& layout) {
  const std::string label = fitted(word, layout.margin);
  std::string text = spaces(layout.margin - display_width(label)) + label + " ";
  for (const float weight : weights)
    text += cell_of(weight, layout.cell()) + spaces(layout.pitch - layout.cell());
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

/// The columns of the `count` source words from word `first` on.
std::string picture_of(const Translation& translation, size_t first, size_t count, const Layout& layout) {
  std::string text = heading(std::span(translation.source).subspan(first, count), layout);
  std::span<const float> weights = translation.attention.span<float>();  // (target words, source words)
  for (const std::string& word : translation.target) {
    text += row(word, weights.subspan(first, count), layout);
    weights = weights.subspan(translation.source.size());
  }
  return text;
}

}  // namespace

std::string alignment_picture(const Translation& translation, int columns) {
  const Layout layout = layout_of(translation, columns);
  const size_t words = translation.source.size(), most = static_cast<size_t>(layout.words);
  std::string text;
  for (size_t first = 0; first < words; first += most) {
    if (first > 0) text += "\n";
    text += picture_of(translation, first, std::min(most, words - first), layout);
  }
  return text;
}

}  // namespace heed::translate
