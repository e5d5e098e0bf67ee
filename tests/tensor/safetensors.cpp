#include <heed/tensor/files/safetensors.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>

#include "generators.h"
#include "helpers.h"
#include "safetensors_bytes.h"

using namespace heed;
using test::bytes_of, test::entry, test::file_of;
using test::expect_error;

namespace {

/// Loads a file of these bytes; their number is the published one.
SafetensorsFile load_bytes(const std::string& bytes, size_t expected_size) {
  EXPECT_EQ(bytes.size(), expected_size);
  const test::TempDir folder;
  const std::string path = folder.file("some.safetensors");
  test::write_bytes(path, bytes);
  return load_safetensors(path);
}

std::vector<float> floats(const SafetensorsFile& file, const std::string& name) {
  return file.tensors.at(name).to_vector<float>();
}

/// The header and the data that save_safetensors writes.
struct Written {
  std::string header, data;
};

Written save_and_read(const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {}) {
  const test::TempDir folder;
  const std::string path = folder.file("some.safetensors");
  save_safetensors(path, tensors, metadata);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"some.safetensors"});
  const std::string bytes = test::read_bytes(path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0u);
  return {bytes.substr(sizeof length, length), bytes.substr(sizeof length + length)};
}

SafetensorsFile round_trip(const std::map<std::string, Tensor>& tensors,
                           const std::map<std::string, std::string>& metadata = {}) {
  const test::TempDir folder;
  const std::string path = folder.file("some.safetensors");
  save_safetensors(path, tensors, metadata);
  return load_safetensors(path);
}

}  // namespace

TEST(case_C29, g01_scalar_and_empty) {
  const auto file =
      load_bytes(file_of("{" + entry("s", "F32", "[]", 0, 4) + "," + entry("z", "F32", "[2,0]", 4, 4) + "}",
                         bytes_of(2.5f)),
                 120);
  EXPECT_EQ(file.tensors.at("s").shape(), Shape{});
  EXPECT_EQ(file.tensors.at("s").item(), 2.5);
  EXPECT_EQ(file.tensors.at("z").shape(), (Shape{2, 0}));
}

TEST(case_C29, g02_space_padded) {
  const auto file =
      load_bytes(file_of("{" + entry("a", "F32", "[2]", 0, 8) + "}      ", bytes_of(1.f, -2.f)), 76);
  EXPECT_EQ(floats(file, "a"), (std::vector<float>{1, -2}));
}

TEST(case_C29, g03_data_at_odd_byte) {
  const std::string header = "{" + entry("a", "F32", "[2]", 0, 8) + "}";
  const std::string padding((1 + 8 - header.size() % 8) % 8, ' ');
  const auto file = load_bytes(file_of(header + padding, bytes_of(1.f, -2.f)), 73);
  EXPECT_EQ(floats(file, "a"), (std::vector<float>{1, -2}));
}

TEST(case_C29, g04_header_not_in_offset_order) {
  const auto file =
      load_bytes(file_of("{" + entry("b", "F32", "[1]", 4, 8) + "," + entry("a", "F32", "[1]", 0, 4) + "}",
                         bytes_of(10.f, 20.f)),
                 123);
  EXPECT_EQ(floats(file, "a"), std::vector<float>{10});
  EXPECT_EQ(floats(file, "b"), std::vector<float>{20});
}

TEST(case_C29, g05_empty_metadata) {
  const auto file =
      load_bytes(file_of("{\"__metadata__\":{}," + entry("a", "F32", "[1]", 0, 4) + "}", bytes_of(7.f)), 84);
  EXPECT_EQ(floats(file, "a"), std::vector<float>{7});
  EXPECT_TRUE(file.metadata.empty());
}

TEST(case_C29, g06_only_metadata) {
  const auto file = load_bytes(file_of(R"({"__metadata__":{"step":"3"}})"), 37);
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"step", "3"}}));
}

TEST(case_C29, g07_nan_inf) {
  const auto file = load_bytes(
      file_of("{" + entry("a", "F32", "[3]", 0, 12) + "}", bytes_of(0x7fc00000u, 0x7f800000u, 0xff800000u)),
      75);
  const auto values = floats(file, "a");
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_EQ(values[2], -INFINITY);
}

TEST(case_C29, g08_escaped_name) {
  const auto file = load_bytes(
      file_of("{\"caf\\u00e9.w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", bytes_of(3.f)),
      76);
  EXPECT_EQ(floats(file, "caf\xc3\xa9.w"), std::vector<float>{3});
}

TEST(case_C29, g09_mixed_dtypes) {
  const std::string header = "{" + entry("d", "F64", "[1]", 0, 8) + "," + entry("i", "I64", "[1]", 8, 16) +
                             "," + entry("h", "F16", "[1]", 16, 18) + "," +
                             entry("b", "BF16", "[1]", 18, 20) + "}";
  const std::string data = bytes_of(1.5, int64_t{-7}, uint16_t{0x3e00}, uint16_t{0x3fc0});
  const auto file = load_bytes(file_of(header, data), 247);
  EXPECT_EQ(file.tensors.at("d").dtype(), DType::f64);
  EXPECT_EQ(file.tensors.at("d").item(), 1.5);
  EXPECT_EQ(file.tensors.at("i").dtype(), DType::i64);
  EXPECT_EQ(file.tensors.at("i").item(), -7);
  EXPECT_EQ(file.tensors.at("h").dtype(), DType::f32);
  EXPECT_EQ(file.tensors.at("h").item(), 1.5);
  EXPECT_EQ(file.tensors.at("b").dtype(), DType::bf16);
  EXPECT_EQ(file.tensors.at("b").item(), 1.5);
}

// (b) of the case; (c), tied weights, needs a model.
TEST(case_C29, views_are_saved_as_their_own_numbers) {
  const Tensor matrix = tensor_of({{0, 1, 2}, {3, 4, 5}});
  const Tensor transposed = matrix.transpose(0, 1);
  const Tensor rows = transposed.slice(0, 1, 3);
  const Written written = save_and_read({{"rows", rows}, {"transposed", transposed}});
  EXPECT_EQ(written.data, bytes_of(1.f, 4.f, 2.f, 5.f) + bytes_of(0.f, 3.f, 1.f, 4.f, 2.f, 5.f));
  const SafetensorsFile file = round_trip({{"rows", rows}, {"transposed", transposed}});
  EXPECT_EQ(file.tensors.at("transposed").shape(), (Shape{3, 2}));
  EXPECT_EQ(floats(file, "transposed"), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(file.tensors.at("rows").shape(), (Shape{2, 2}));
  EXPECT_EQ(floats(file, "rows"), (std::vector<float>{1, 4, 2, 5}));
}

TEST(safetensors, writes_the_largest_elements_first_and_then_by_name) {
  const Written written = save_and_read({{"a", ones({3}, DType::boolean)},
                                         {"b", full({1}, 2, DType::bf16)},
                                         {"c", full({1}, 3)},
                                         {"d", full({1}, 4, DType::i64)},
                                         {"e", full({1}, 5, DType::f64)}},
                                        {{"k", "v"}, {"format", "pt"}});
  EXPECT_EQ(written.header.substr(0, written.header.find_last_not_of(' ') + 1),
            R"({"__metadata__":{"format":"pt","k":"v"},)" + entry("d", "I64", "[1]", 0, 8) + "," +
                entry("e", "F64", "[1]", 8, 16) + "," + entry("c", "F32", "[1]", 16, 20) + "," +
                entry("b", "BF16", "[1]", 20, 22) + "," + entry("a", "BOOL", "[3]", 22, 25) + "}");
  EXPECT_EQ(written.data, bytes_of(int64_t{4}, 5.0, 3.f, uint16_t{0x4000}, true, true, true));
}

TEST(safetensors, writes_files_without_tensors) {
  EXPECT_EQ(save_and_read({}).header, "{}      ");
  EXPECT_EQ(round_trip({}).tensors.size(), 0u);
  EXPECT_EQ(round_trip({}, {{"step", "3"}}).metadata.at("step"), "3");
  EXPECT_EQ(save_and_read({}, {{"a", "b"}}).header, "{\"__metadata__\":{\"a\":\"b\"}}      ");
}

TEST(safetensors, empty_tensors_and_odd_names_come_back) {
  const std::string odd = "a \"quoted\" \\ name\n\tcaf\xc3\xa9 \xf0\x9f\x98\x80";
  const SafetensorsFile file = round_trip(
      {{odd, scalar(1)}, {"", zeros({0, 3})}, {"z", zeros({2, 0}, DType::boolean)}}, {{odd, odd}, {"", ""}});
  EXPECT_EQ(file.tensors.at(odd).item(), 1);
  EXPECT_EQ(file.tensors.at("").shape(), (Shape{0, 3}));
  EXPECT_EQ(file.tensors.at("z").dtype(), DType::boolean);
  EXPECT_EQ(file.metadata.at(odd), odd);
}

TEST(safetensors, names_are_checked_before_anything_is_written) {
  const test::TempDir folder;
  const std::string path = folder.file("some.safetensors");
  const Tensor one = scalar(1);
  const auto save = [&](const std::string& name, const Tensor& tensor,
                        const std::map<std::string, std::string>& metadata = {}) {
    save_safetensors(path, {{name, tensor}}, metadata);
  };
  expect_error<ValueError>([&] { save("__metadata__", one); }, "keeps for itself");
  expect_error<ValueError>([&] { save("\xff", one); }, "wanted a tensor name in UTF-8");
  expect_error<ValueError>([&] { save("\xed\xa0\x80", one); }, "wanted a tensor name in UTF-8");
  expect_error<ValueError>([&] { save("x", Tensor{}); }, "undefined one, named \"x\"");
  expect_error<ValueError>([&] { save("x", one, {{"\xc3", ""}}); }, "wanted a metadata key in UTF-8");
  expect_error<ValueError>([&] { save("x", one, {{"", "\xc3"}}); }, "wanted a metadata value in UTF-8");
  EXPECT_TRUE(folder.names().empty());
}

TEST(safetensors, whatever_is_saved_comes_back_bit_by_bit) {
  EXPECT_TRUE(rc::check([] {
    std::map<std::string, Tensor> tensors;
    constexpr std::array kAll{DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean};
    for (int64_t left = test::any_between(0, 6); left > 0; --left)
      tensors[*rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127))] =
          test::any_tensor(test::any_shape(), kAll[static_cast<size_t>(test::any_between(0, 4))]);
    const SafetensorsFile file = round_trip(tensors);
    RC_ASSERT(file.tensors.size() == tensors.size());
    for (const auto& [name, tensor] : tensors) RC_ASSERT(identical(tensor, file.tensors.at(name)));
  }));
}

TEST(safetensors, reads_every_half_precision_number) {
  std::string data;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) data += bytes_of(static_cast<uint16_t>(bits));
  const auto file = load_bytes(file_of("{" + entry("h", "F16", "[65536]", 0, 131072) + "}", data), 131143);
  const auto values = floats(file, "h");
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
    double wanted = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) wanted = fraction == 0 ? INFINITY : NAN;
    const float value = values[bits];
    EXPECT_TRUE(std::abs(value) == wanted || (std::isnan(wanted) && std::isnan(value))) << bits;
    EXPECT_EQ(std::signbit(value), bits >= 0x8000) << bits;
  }
}
