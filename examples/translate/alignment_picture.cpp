#include "translate/alignment_picture.h"

#include <algorithm>
#include <array>

#include "translate/terminal.h"

namespace heed::translate {
namespace {

constexpr int kWidestPitch = 4;
/// Source words that would be cut below this ask for columns that stand closer.
constexpr int kReadable = 10;
constexpr std::array<const char*, 5> kShades{" ", "░", "▒", "▓", "█"};

std::string spaces(int count) { return std::string(static_cast<size_t>(std::max(count, 0)), ' '); }

std::string repeated(const char* block, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += block;
  return text;
}

/// A weight from 0 to 1 as a shade; what is not nearly nothing is seen.
const char* shade_of(float weight) {
  constexpr float kNothing = 0.05F;
  if (weight < kNothing) return kShades.front();
  const auto place = 1 + static_cast<size_t>(weight * 4);
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
  int columns;

  int place(size_t word) const { return margin + 1 + static_cast<int>(word) * pitch; }
};

Layout layout_of(const Translation& translation, int columns) {
  const auto words = static_cast<int>(translation.source.size());
  Layout layout{std::min(widest(translation.target), columns / 4), kWidestPitch, columns};
  const int last = std::min(widest(translation.source), kReadable);
  while (layout.pitch > 1 && layout.margin + 1 + (words - 1) * layout.pitch + last > columns) --layout.pitch;
  return layout;
}

/// The source words from the first one down, each a line lower than the one before and above its column.
std::string heading(const Sentence& source, const Layout& layout) {
  std::string text;
  for (size_t word = 0; word < source.size(); ++word) {
    text += spaces(layout.place(0));
    for (size_t before = 0; before < word; ++before) text += "│" + spaces(layout.pitch - 1);
    text += fitted(source[word], layout.columns - layout.place(word)) + "\n";
  }
  return text;
}

std::string row(const std::string& word, const float* weights, size_t count, const Layout& layout) {
  const std::string label = fitted(word, layout.margin);
  std::string text = spaces(layout.margin - display_width(label)) + label + " ";
  const int block = std::max(layout.pitch - 1, 1);
  for (size_t j = 0; j < count; ++j)
    text += repeated(shade_of(weights[j]), block) + spaces(layout.pitch - block);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string alignment_picture(const Translation& translation, int columns) {
  const Layout layout = layout_of(translation, columns);
  std::string text = heading(translation.source, layout);
  const size_t count = translation.source.size();
  for (size_t t = 0; t < translation.target.size(); ++t)
    text += row(translation.target[t], translation.attention.data<float>() + t * count, count, layout);
  return text;
}

}  // namespace heed::translate
