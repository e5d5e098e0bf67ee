#include <heed/tensor/files/safetensors_header.h>

#include <fmt/format.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include <heed/tensor/files/quote.h>

namespace heed {
namespace {

using nlohmann::json;

/// Takes the header's JSON piece by piece as the parser comes to it. Anything out of place is an error at
/// once, so that neither the depth nor the size of hostile JSON costs memory.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(size_t) override {
    switch (at_) {
      case At::begin: return go(At::names);
      case At::entry: return go(At::fields);
      case At::metadata: return go(At::metadata_keys);
      default: unexpected("an object");
    }
  }

  bool end_object() override {
    if (at_ == At::names) return go(At::end);
    if (at_ == At::metadata_keys) return go(At::names);
    finish_entry();
    return go(At::names);
  }

  bool key(std::string& text) override {
    switch (at_) {
      case At::names: return start_name(text);
      case At::fields: return start_field(text);
      default: break;
    }
    if (header_.metadata.contains(text)) fail("the metadata key {} comes twice", in_quotes(text));
    metadata_key_ = text;
    return go(At::metadata_value);
  }

  bool string(std::string& text) override {
    if (at_ == At::dtype) {
      entry_.dtype = text;
      return go(At::fields);
    }
    if (at_ != At::metadata_value) unexpected("a string");
    header_.metadata.emplace(metadata_key_, text);
    return go(At::metadata_keys);
  }

  bool start_array(size_t) override {
    if (at_ == At::shape) return go(At::sizes);
    if (at_ == At::offsets) return go(At::two_offsets);
    unexpected("an array");
  }

  bool end_array() override {
    if (at_ == At::two_offsets && offset_count_ != 2) fail("wanted two data_offsets, came {}", offset_count_);
    return go(At::fields);
  }

  bool number_unsigned(uint64_t value) override {
    if (at_ != At::sizes && at_ != At::two_offsets) unexpected("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      fail("wanted numbers below 2^63, came {}", value);
    const auto number = static_cast<int64_t>(value);
    if (at_ == At::two_offsets) {
      if (offset_count_ == 2) fail("wanted two data_offsets, came more");
      (offset_count_++ == 0 ? entry_.begin : entry_.end) = number;
    } else {
      if (entry_.shape.rank() == kMaxRank) fail("wanted at most {} axes, came more", kMaxRank);
      entry_.shape.push_back(number);
    }
    return true;
  }

  bool number_integer(int64_t value) override {
    if (value < 0) fail("wanted numbers of 0 or more, came {}", value);
    return number_unsigned(static_cast<uint64_t>(value));
  }

  bool number_float(double, const std::string& text) override {
    unexpected(fmt::format("the number {}", in_quotes(text)));
  }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool binary(binary_t&) override { unexpected("binary data"); }
  bool parse_error(size_t place, const std::string&, const nlohmann::detail::exception&) override {
    name_.clear();
    fail("the header is not valid JSON at its byte {}", place);
  }

 private:
  /// What comes next.
  enum class At {
    begin,
    names,
    entry,
    fields,
    dtype,
    shape,
    sizes,
    offsets,
    two_offsets,
    metadata,
    metadata_keys,
    metadata_value,
    end
  };
  enum Field : size_t { kDtype, kShape, kOffsets, kFieldCount };
  static constexpr std::array<std::string_view, kFieldCount> kFieldNames{"dtype", "shape", "data_offsets"};

  bool go(At next) {
    at_ = next;
    return true;
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string where = name_.empty() ? "" : fmt::format("tensor {}: ", in_quotes(name_));
    raise<FileError>("[load_safetensors] {}: {}{}", in_quotes(path_), where,
                     fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void unexpected(std::string_view came) const { fail("wanted {}, came {}", wanted(), came); }

  std::string_view wanted() const {
    switch (at_) {
      case At::begin: return "an object as the header";
      case At::entry: return "an object with dtype, shape and data_offsets";
      case At::dtype: return "a string as dtype";
      case At::shape: return "an array as shape";
      case At::sizes: return "whole numbers in shape";
      case At::offsets: return "an array as data_offsets";
      case At::two_offsets: return "whole numbers in data_offsets";
      case At::metadata: return "an object as __metadata__";
      case At::metadata_value: return "a string in __metadata__";
      default: return "the end";
    }
  }

  bool start_name(const std::string& text) {
    if (!names_.insert(text).second) fail("the name {} comes twice", in_quotes(text));
    if (text == kMetadataKey) {
      name_.clear();
      return go(At::metadata);
    }
    name_ = text;
    entry_ = {.name = text, .dtype = {}, .shape = {}};
    seen_ = {};
    offset_count_ = 0;
    return go(At::entry);
  }

  bool start_field(const std::string& text) {
    constexpr std::array<At, kFieldCount> kNext{At::dtype, At::shape, At::offsets};
    for (size_t field = 0; field < kFieldCount; ++field) {
      if (text != kFieldNames[field]) continue;
      if (std::exchange(seen_[field], true)) fail("the field {} comes twice", text);
      return go(kNext[field]);
    }
    fail("wanted the fields dtype, shape and data_offsets, came {}", in_quotes(text));
  }

  void finish_entry() {
    for (size_t field = 0; field < kFieldCount; ++field)
      if (!seen_[field]) fail("the field {} is missing", kFieldNames[field]);
    header_.entries.push_back(std::move(entry_));
    name_.clear();
  }

  const std::string& path_;
  SafetensorsHeader header_;
  std::set<std::string> names_;
  At at_ = At::begin;
  std::string name_;
  std::string metadata_key_;
  SafetensorsEntry entry_;
  std::array<bool, kFieldCount> seen_{};
  int offset_count_ = 0;
};

std::string json_string(const std::string& text, const char* what) {
  try {
    return json(text).dump();
  } catch (const json::type_error&) {
    raise<ValueError>("[save_safetensors] wanted {} in UTF-8, came {}", what, in_quotes(text));
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text) {
  // The parser would skip a byte order mark and take a zero byte for the end.
  if (!text.starts_with('{'))
    raise<FileError>("[load_safetensors] {}: wanted a header that begins with an opening brace",
                     in_quotes(path));
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    raise<FileError>("[load_safetensors] {}: the header is not valid JSON at its byte {}", in_quotes(path),
                     zero + 1);
  HeaderReader reader(path);
  json::sax_parse(text, &reader);
  return reader.take();
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  std::string text = "{";
  if (!header.metadata.empty()) {
    text += fmt::format("\"{}\":{{", kMetadataKey);
    for (const auto& [key, value] : header.metadata)
      text += json_string(key, "a metadata key") + ":" + json_string(value, "a metadata value") + ",";
    text.back() = '}';
    text += ',';
  }
  for (const SafetensorsEntry& entry : header.entries)
    text += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}},)",
                        json_string(entry.name, "a tensor name"), entry.dtype, fmt::join(entry.shape, ","),
                        entry.begin, entry.end);
  if (text.back() == ',') text.pop_back();
  return text + "}";
}

}  // namespace heed
