#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <heed/tensor/print.h>
#include <heed/tensor/tensor.h>

/// What several test files of the tensor library need.
namespace heed::test {

/// Expects f() to throw exactly E, with a one-line message that holds `part`.
template <class E, class F>
void expect_error(F&& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown; expected: " << part;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(dynamic_cast<const E*>(&error), nullptr) << "another type of error: " << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\n  lacks: " << part;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with('[')) << message;
  }
}

/// A new folder under the system's temporary folder, removed at the end with all that is in it.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "heed-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
    path_ = name;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// The names of all that is in the folder.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The bytes of numbers as they lie in memory.
template <class... T>
std::string bytes_of(T... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

/// One element, found by dropping axis after axis.
inline double get(const Tensor& tensor, const std::vector<int64_t>& index) {
  Tensor rest = tensor;
  for (const int64_t i : index) rest = rest.select(0, i);
  return rest.item();
}

/// f(index) for every index of a shape, in row-major order.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t left = element_count(shape); left > 0; --left) {
    f(static_cast<const std::vector<int64_t>&>(index));
    for (int64_t axis = shape.rank() - 1; axis >= 0; --axis) {
      if (++index[static_cast<size_t>(axis)] < shape[axis]) break;
      index[static_cast<size_t>(axis)] = 0;
    }
  }
}

/// The index into a tensor that was broadcast: its last axes, 0 where its size is 1.
inline std::vector<int64_t> broadcast_index(const std::vector<int64_t>& index, const Shape& shape) {
  std::vector<int64_t> result(index.end() - shape.rank(), index.end());
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == 1) result[static_cast<size_t>(axis)] = 0;
  return result;
}

}  // namespace heed::test
