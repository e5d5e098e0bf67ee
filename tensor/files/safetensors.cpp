#include <heed/tensor/files/safetensors.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <heed/tensor/files/atomic_file.h>
#include <heed/tensor/files/quote.h>
#include <heed/tensor/files/safetensors_header.h>
#include <heed/tensor/files/stored_values.h>

namespace heed {
namespace {

constexpr size_t kLengthBytes = 8;
/// Headers are padded so that the numbers begin, and stay, aligned.
constexpr size_t kAlignment = 8;

constexpr std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::f32: return "F32";
    case DType::f64: return "F64";
    case DType::bf16: return "BF16";
    case DType::i64: return "I64";
    case DType::boolean: break;
  }
  return "BOOL";
}

std::optional<StoredType> stored_type(std::string_view name) {
  if (name == "F16") return StoredType{DType::f32, 2, true};
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean})
    if (name == type_name(dtype)) return StoredType{dtype, size_of(dtype)};
  return std::nullopt;
}

/// A file while it is loaded.
class Loader {
 public:
  explicit Loader(const std::string& path) : path_(path), file_("load_safetensors", path) {}

  SafetensorsFile load() {
    SafetensorsHeader header = parse_safetensors_header(path_, read_header());
    check_offsets(header.entries);
    SafetensorsFile result{.tensors = {}, .metadata = std::move(header.metadata)};
    for (const SafetensorsEntry& entry : header.entries)
      result.tensors.emplace(entry.name, read_tensor(entry));
    return result;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail_at(const SafetensorsEntry& entry, fmt::format_string<Args...> format,
                            Args&&... args) const {
    file_.fail("tensor {}: {}", in_quotes(entry.name), fmt::format(format, std::forward<Args>(args)...));
  }

  std::string read_header() {
    uint64_t length = 0;
    if (file_.size() < static_cast<int64_t>(kLengthBytes))
      file_.fail("wanted at least {} bytes, came {}", kLengthBytes, file_.size());
    file_.read(std::as_writable_bytes(std::span(&length, 1)));
    if (length > kMostHeaderBytes)
      file_.fail("wanted a header of at most {} bytes, came {}", kMostHeaderBytes, length);
    if (length > static_cast<uint64_t>(file_.remaining()))
      file_.fail("the header has {} bytes, the file only {} more", length, file_.remaining());
    std::string text(length, '\0');
    file_.read(std::as_writable_bytes(std::span(text)));
    return text;
  }

  StoredType type_of(const SafetensorsEntry& entry) const {
    const auto type = stored_type(entry.dtype);
    if (!type)
      fail_at(entry, "wanted F32, F64, BF16, F16, I64 or BOOL, came type {}", in_quotes(entry.dtype));
    return *type;
  }

  /// Shape and dtype must fill the range of bytes exactly.
  void check_size(const SafetensorsEntry& entry) const {
    const int64_t width = type_of(entry).bytes;
    int64_t count = 0;
    try {
      count = element_count(entry.shape);
    } catch (const ShapeError&) {
      fail_at(entry, "the sizes {} are too large", entry.shape);
    }
    if (entry.begin > entry.end) fail_at(entry, "data_offsets [{}, {}] are reversed", entry.begin, entry.end);
    if (entry.end > file_.remaining())
      fail_at(entry, "data_offsets [{}, {}] lie outside the {} bytes of data", entry.begin, entry.end,
              file_.remaining());
    const int64_t bytes = entry.end - entry.begin;
    if (bytes % width != 0 || bytes / width != count)
      fail_at(entry, "{}{} does not fill data_offsets [{}, {}]", entry.dtype, entry.shape, entry.begin,
              entry.end);
  }

  /// Sorts the entries by place; together they must cover the data, each byte once.
  void check_offsets(std::vector<SafetensorsEntry>& entries) const {
    for (const SafetensorsEntry& entry : entries) check_size(entry);
    std::ranges::sort(entries, {}, [](const SafetensorsEntry& e) { return std::pair(e.begin, e.end); });
    int64_t place = 0;
    for (const SafetensorsEntry& entry : entries) {
      if (entry.begin < place)
        fail_at(entry, "data_offsets [{}, {}] overlap another tensor's", entry.begin, entry.end);
      if (entry.begin > place)
        fail_at(entry, "data_offsets [{}, {}] leave a hole from {} on", entry.begin, entry.end, place);
      place = entry.end;
    }
    if (place != file_.remaining())
      file_.fail("the tensors end at byte {} of {} bytes of data", place, file_.remaining());
  }

  Tensor read_tensor(const SafetensorsEntry& entry) {
    file_.set_subject(fmt::format("tensor {}", in_quotes(entry.name)));
    return read_values(file_, entry.shape, type_of(entry));
  }

  const std::string& path_;
  FileReader file_;
};

void expect_savable(const std::string& name, const Tensor& tensor) {
  if (name == kMetadataKey)
    raise<ValueError>("[save_safetensors] wanted a tensor name, came {}, which the format keeps for itself",
                      in_quotes(name));
  if (!tensor.defined())
    raise<ValueError>("[save_safetensors] wanted a tensor, came an undefined one, named {}", in_quotes(name));
}

}  // namespace

SafetensorsFile load_safetensors(const std::string& path) { return Loader(path).load(); }

void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<std::string, Tensor>> order(tensors.begin(), tensors.end());
  std::ranges::stable_sort(order, std::greater<>{},
                           [](const auto& item) { return size_of(item.second.dtype()); });
  SafetensorsHeader header{.entries = {}, .metadata = metadata};
  int64_t place = 0;
  for (const auto& [name, tensor] : order) {
    expect_savable(name, tensor);
    const int64_t end = place + tensor.numel() * size_of(tensor.dtype());
    header.entries.push_back({name, std::string(type_name(tensor.dtype())), tensor.shape(), place, end});
    place = end;
  }
  std::string text = format_safetensors_header(header);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const uint64_t length = text.size();
  if (length > kMostHeaderBytes)
    raise<ValueError>("[save_safetensors] {}: wanted a header of at most {} bytes, came {}", in_quotes(path),
                      kMostHeaderBytes, length);
  write_file_atomically(path, [&](FileWriter& file) {
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(text)));
    for (const auto& [name, tensor] : order) {
      const Tensor values = tensor.contiguous();
      file.write({values.bytes(), static_cast<size_t>(values.numel() * size_of(values.dtype()))});
    }
  });
}

}  // namespace heed
