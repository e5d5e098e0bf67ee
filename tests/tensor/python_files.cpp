// Files that heed writes as Python's own libraries read them, and the other way round, bit by bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include <heed/tensor/files/npy.h>
#include <heed/tensor/files/safetensors.h>

#include "helpers.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace heed::test {
namespace {

using Lines = std::vector<std::string>;

/// The first python3 that has numpy; empty where there is none.
std::string find_python() {
  for (const char* program : {"python3", "/usr/bin/python3"})
    if (run_shell(std::string(program) + " -c 'import numpy'").status == 0) return program;
  return {};
}

/// Skipped where numpy is missing, except in CI.
class python_files : public testing::Test {
 protected:
  void SetUp() override {
    if (!python_.empty()) return;
    const char* wanted =
        "wanted python3 with numpy (Debian's python3-numpy) to compare files with, came none";
    if (std::getenv("CI") != nullptr) FAIL() << wanted;
    GTEST_SKIP() << wanted;
  }

  /// What python_files.py prints of the folder, in order.
  Lines python(const std::string& action) const {
    const Outcome outcome = run_shell(fmt::format(
        "{} '{}' {} '{}'", python_, source_path("tensor/python_files.py"), action, folder_.path().string()));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    std::istringstream text(outcome.output);
    Lines lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  }

  const std::string python_ = find_python();
  const TempDir folder_;
};

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string hex(const std::string& text) { return hex(std::as_bytes(std::span(text))); }

/// A line as python_files.py has it.
std::string line_of(const std::string& file, const std::string& name, const Tensor& tensor) {
  const Tensor values = tensor.contiguous();
  return fmt::format("{}\t{}\t{}\t{}\t{}", file, hex(name), name_of(tensor.dtype()),
                     fmt::join(tensor.shape(), ","),
                     hex({values.bytes(), static_cast<size_t>(values.numel() * size_of(values.dtype()))}));
}

Lines lines_of(const std::string& file, const SafetensorsFile& content) {
  Lines lines;
  for (const auto& [name, tensor] : content.tensors) lines.push_back(line_of(file, name, tensor));
  for (const auto& [key, value] : content.metadata)
    lines.push_back(fmt::format("{}\t{}\tmetadata\t\t{}", file, hex(key), hex(value)));
  return lines;
}

void expect_same(Lines lines, Lines wanted) {
  std::ranges::sort(lines);
  std::ranges::sort(wanted);
  ASSERT_EQ(lines.size(), wanted.size());
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], wanted[i]);
}

/// Numbers of any bits, NaN and infinities among them.
Tensor any_bits(const Shape& shape, DType dtype) {
  Tensor tensor = Tensor::empty(shape, dtype);
  const std::span bytes(tensor.mutable_bytes(), static_cast<size_t>(tensor.numel() * size_of(dtype)));
  std::mt19937 random(7);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & (dtype == DType::boolean ? 1 : 255));
  return tensor;
}

std::vector<std::pair<std::string, Tensor>> layouts(DType dtype) {
  return {{"plain", any_bits({2, 3, 40}, dtype)},
          {"scalar", any_bits({}, dtype)},
          {"empty", any_bits({0, 3}, dtype)},
          {"eight_axes", any_bits({2, 1, 1, 2, 1, 1, 1, 3}, dtype)},
          {"transposed", any_bits({3, 5}, dtype).transpose(0, 1)},
          {"strided", any_bits({4, 6}, dtype).slice(0, 0, 4, 2).slice(1, 1, 6, 2)},
          {"row", any_bits({3, 4}, dtype).select(0, 1)},
          {"expanded", any_bits({3, 1}, dtype).expand({3, 4})}};
}

}  // namespace

TEST_F(python_files, numpy_reads_what_save_npy_writes) {
  Lines wanted;
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
    for (const auto& [layout, tensor] : layouts(dtype)) {
      const std::string file = fmt::format("{}_{}.npy", name_of(dtype), layout);
      save_npy(folder_.file(file), tensor);
      wanted.push_back(line_of(file, "", tensor));
    }
  expect_same(python("read"), wanted);
}

TEST_F(python_files, python_reads_what_save_safetensors_writes) {
  const std::string odd = "a \"quoted\" \\ name\n\tcaf\xc3\xa9 \xf0\x9f\x98\x80 \x7f \xe2\x80\xa8";
  SafetensorsFile file;
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean})
    for (const auto& [layout, tensor] : layouts(dtype))
      file.tensors[fmt::format("{}/{}", name_of(dtype), layout)] = tensor;
  file.tensors[odd] = file.tensors[""] = any_bits({3}, DType::boolean);
  file.metadata = {{"format", "pt"}, {odd, odd}, {"", ""}};
  save_safetensors(folder_.file("all.safetensors"), file.tensors, file.metadata);
  save_safetensors(folder_.file("none.safetensors"), {});
  expect_same(python("read"), lines_of("all.safetensors", file));
}

TEST_F(python_files, load_npy_reads_what_numpy_writes) {
  const Lines wanted = python("write_npy");
  Lines lines;
  for (const std::string& file : folder_.names())
    lines.push_back(line_of(file, "", load_npy(folder_.file(file))));
  EXPECT_EQ(lines.size(), 5u * 7u + 3u);
  expect_same(lines, wanted);
}

TEST_F(python_files, load_npy_names_the_type_that_it_does_not_read) {
  python("write_refused_npy");
  const auto expect_refused = [&](const std::string& file, const std::string& part) {
    expect_error<FileError>([&] { load_npy(folder_.file(file)); }, part);
  };
  expect_refused("big_endian.npy", R"(wanted <f4, <f8, <f2, <i8 or |b1, came type ">f4")");
  expect_refused("int32.npy", R"(came type "<i4")");
  expect_refused("byte.npy", R"(came type "|u1")");
  expect_refused("complex.npy", R"(came type "<c8")");
  expect_refused("text.npy", R"(came type "<U2")");
  expect_refused("object.npy", R"(came type "|O")");
  expect_refused("record.npy", R"(of the header, came "[('a', '<f4'), ('b',")");
}

TEST_F(python_files, load_safetensors_reads_what_python_writes) {
  const Lines wanted = python("write_safetensors");
  Lines lines;
  for (const std::string& file : folder_.names())
    std::ranges::copy(lines_of(file, load_safetensors(folder_.file(file))), std::back_inserter(lines));
  EXPECT_GE(lines.size(), 5u * 7u + 2u + 3u);
  expect_same(lines, wanted);
}

}  // namespace heed::test
