#include <heed/tensor/files/npy.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <heed/tensor/files/atomic_file.h>
#include <heed/tensor/files/quote.h>
#include <heed/tensor/files/stored_values.h>

namespace heed {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// The numbers begin at a multiple of this, so that other programs may map the file.
constexpr size_t kAlignment = 64;
/// Far more than 8 axes need; headers of structured arrays may be longer.
constexpr int64_t kMostHeaderBytes = 1 << 20;

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

std::optional<StoredType> stored_type(std::string_view descr) {
  if (descr == "<f4") return StoredType{DType::f32, 4};
  if (descr == "<f8") return StoredType{DType::f64, 8};
  if (descr == "<i8") return StoredType{DType::i64, 8};
  if (descr == "|b1") return StoredType{DType::boolean, 1};
  if (descr == "<f2") return StoredType{DType::f32, 2, true};
  return std::nullopt;
}

std::string_view descr_of(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::f32: return "<f4";
    case DType::f64: return "<f8";
    case DType::i64: return "<i8";
    case DType::boolean: return "|b1";
    case DType::bf16: break;
  }
  raise<DTypeError>("[save_npy] wanted f32, f64, i64 or bool, came {}", describe(tensor));
}

/// Reads the header, the text of a Python dictionary:
/// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderReader {
 public:
  HeaderReader(const FileReader& file, std::string_view text) : file_(file), text_(text) {}

  Header read() {
    expect('{');
    while (!accept('}')) {
      read_item();
      if (accept('}')) break;
      expect(',');
    }
    skip_space();
    if (place_ != text_.size()) fail("the end of the header");
    for (size_t key = 0; key < kKeyCount; ++key)
      if (!seen_[key]) fail(kKeys[key]);
    return std::move(header_);
  }

 private:
  enum Key : size_t { kDescr, kOrder, kShape, kKeyCount };
  static constexpr std::array<std::string_view, kKeyCount> kKeys{"descr", "fortran_order", "shape"};

  [[noreturn]] void fail(std::string_view wanted) const {
    file_.fail("wanted {} at byte {} of the header, came {}", wanted, place_,
               in_quotes(text_.substr(place_, kShown)));
  }

  void skip_space() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\n')) ++place_;
  }

  bool accept(std::string_view word) {
    skip_space();
    if (!text_.substr(place_).starts_with(word)) return false;
    place_ += word.size();
    return true;
  }
  bool accept(char letter) { return accept(std::string_view(&letter, 1)); }
  void expect(char letter) {
    if (!accept(letter)) fail(in_quotes(std::string_view(&letter, 1)));
  }

  std::string read_string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect(quote);
    const size_t end = text_.find(quote, place_);
    if (end == std::string_view::npos) fail("the end of a string");
    return std::string(text_.substr(std::exchange(place_, end + 1), end - place_));
  }

  void read_item() {
    const std::string name = read_string();
    const auto key = static_cast<size_t>(std::ranges::find(kKeys, name) - kKeys.begin());
    if (key == kKeyCount || std::exchange(seen_[key], true))
      fail("descr, fortran_order and shape, once each");
    expect(':');
    if (key == kDescr)
      header_.descr = read_string();
    else if (key == kOrder)
      header_.fortran_order = read_bool();
    else
      read_shape();
  }

  bool read_bool() {
    if (accept("True")) return true;
    if (!accept("False")) fail("True or False");
    return false;
  }

  void read_shape() {
    expect('(');
    while (!accept(')')) {
      if (header_.shape.rank() == kMaxRank) fail("at most 8 axes");
      header_.shape.push_back(read_size());
      if (accept(')')) break;
      expect(',');
    }
  }

  int64_t read_size() {
    skip_space();
    int64_t size = -1;
    const auto [end, error] = std::from_chars(text_.data() + place_, text_.data() + text_.size(), size);
    if (error != std::errc{} || size < 0) fail("a size from 0 to 2^63 - 1");
    place_ = static_cast<size_t>(end - text_.data());
    return size;
  }

  static constexpr size_t kShown = 20;  // characters of the header in a message
  const FileReader& file_;
  std::string_view text_;
  size_t place_ = 0;
  std::array<bool, kKeyCount> seen_{};
  Header header_;
};

template <class Length>
int64_t read_length(FileReader& file) {
  Length length = 0;
  file.read(std::as_writable_bytes(std::span(&length, 1)));
  return length;
}

std::string read_header(FileReader& file) {
  std::array<char, kMagic.size() + 2> start{};  // and the version, two bytes
  if (file.size() < static_cast<int64_t>(start.size()))
    file.fail("wanted a .npy file, came {} bytes", file.size());
  file.read(std::as_writable_bytes(std::span(start)));
  if (std::string_view(start.data(), kMagic.size()) != kMagic)
    file.fail("wanted a .npy file, came one that begins otherwise");
  const int version = static_cast<unsigned char>(start[kMagic.size()]);
  if (version < 1 || version > 3) file.fail("wanted version 1, 2 or 3 of the format, came {}", version);
  const int64_t length = version == 1 ? read_length<uint16_t>(file) : read_length<uint32_t>(file);
  if (length > kMostHeaderBytes)
    file.fail("wanted a header of at most {} bytes, came {}", kMostHeaderBytes, length);
  if (length > file.remaining())
    file.fail("the header has {} bytes, the file only {} more", length, file.remaining());
  std::string text(static_cast<size_t>(length), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

/// The numbers must fill the rest of the file exactly.
void check_size(const FileReader& file, const Header& header, const StoredType& type) {
  int64_t count = 0;
  try {
    count = element_count(header.shape);
  } catch (const ShapeError&) {
    file.fail("the sizes {} are too large", header.shape);
  }
  if (file.remaining() % type.bytes != 0 || file.remaining() / type.bytes != count)
    file.fail("{} of type {} does not fill {} bytes of data", header.shape, header.descr, file.remaining());
}

/// Axes in the opposite order: a view.
Tensor reversed(const Tensor& tensor) {
  Dims axes;
  for (int64_t axis = tensor.rank() - 1; axis >= 0; --axis) axes.push_back(axis);
  return tensor.permute(std::span(axes.begin(), axes.end()));
}

std::string format_header(const Tensor& tensor) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr_of(tensor),
                                 tensor.shape());
  const size_t before = kMagic.size() + 2 + sizeof(uint16_t);
  const size_t end = before + text.size() + 1;
  text.append((kAlignment - end % kAlignment) % kAlignment, ' ');
  return text + '\n';
}

}  // namespace

Tensor load_npy(const std::string& path) {
  FileReader file("load_npy", path);
  const std::string text = read_header(file);
  const Header header = HeaderReader(file, text).read();
  const auto type = stored_type(header.descr);
  if (!type) file.fail("wanted <f4, <f8, <f2, <i8 or |b1, came type {}", in_quotes(header.descr));
  check_size(file, header, *type);
  if (!header.fortran_order) return read_values(file, header.shape, *type);
  Shape shape;  // the first axis is the one that runs fastest: row-major, the other way round
  for (int64_t axis = header.shape.rank() - 1; axis >= 0; --axis) shape.push_back(header.shape[axis]);
  return reversed(read_values(file, shape, *type)).contiguous();
}

void save_npy(const std::string& path, const Tensor& tensor) {
  if (!tensor.defined()) raise<ValueError>("[save_npy] wanted a tensor, came an undefined one");
  const std::string text = format_header(tensor);
  const auto length = static_cast<uint16_t>(text.size());
  const Tensor values = tensor.contiguous();
  write_file_atomically(path, [&](FileWriter& file) {
    constexpr std::array<char, 2> kVersion{1, 0};
    file.write(std::as_bytes(std::span(kMagic)));
    file.write(std::as_bytes(std::span(kVersion)));
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(text)));
    file.write({values.bytes(), static_cast<size_t>(values.numel() * size_of(values.dtype()))});
  });
}

}  // namespace heed
