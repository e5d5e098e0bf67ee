#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>

#include <array>
#include <limits>

#include <heed/tensor/creation.h>
#include <heed/tensor/files/safetensors.h>

#include "helpers.h"
#include "safetensors_bytes.h"

using namespace heed;
using test::bytes_of, test::entry, test::expect_error, test::file_of;

namespace {

/// Expects a FileError that holds the path and `part`.
void expect_refused(const std::string& bytes, const std::string& part) {
  const test::TempDir folder;
  const std::string path = folder.file("bad.safetensors");
  test::write_bytes(path, bytes);
  expect_error<FileError>([&] { load_safetensors(path); }, "[load_safetensors] \"" + path + "\"");
  expect_error<FileError>([&] { load_safetensors(path); }, part);
}

/// The same for a file with this header and four bytes of data.
void expect_header_refused(const std::string& header, const std::string& part) {
  expect_refused(file_of(header, bytes_of(1.f)), part);
}

/// A header with one tensor "a" made of these fields.
std::string fields(const std::string& text) { return "{\"a\":{" + text + "}}"; }

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

TEST(safetensors_hostile, what_is_no_plain_file) {
  const test::TempDir folder;
  expect_error<FileError>([&] { load_safetensors(folder.file("none")); },
                          "cannot be opened: No such file or directory");
  expect_error<FileError>([&] { load_safetensors(folder.path()); }, "wanted a plain file, came a folder");
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  expect_error<FileError>([&] { load_safetensors(folder.file("pipe")); },
                          "wanted a plain file, came something else");
  expect_error<FileError>([&] { load_safetensors("/dev/zero"); }, "wanted a plain file");
  expect_error<FileError>([&] { load_safetensors(folder.file("line\nbreak")); }, "line\\x0abreak");
}

TEST(safetensors_hostile, the_header_length) {
  expect_refused("", "wanted at least 8 bytes, came 0");
  expect_refused(std::string(7, '\0'), "wanted at least 8 bytes, came 7");
  expect_refused(std::string(8, '\0'), "wanted a header that begins with an opening brace");
  expect_refused(bytes_of(uint64_t{3}) + "{}", "the header has 3 bytes, the file only 2 more");
  expect_refused(bytes_of(uint64_t{100'000'001}) + "{}", "at most 100000000 bytes, came 100000001");
  expect_refused(bytes_of(~uint64_t{0}) + "{}", "came 18446744073709551615");
  expect_refused(bytes_of(uint64_t{1} << 63) + "{}", "came 9223372036854775808");
}

TEST(safetensors_hostile, json_that_is_none) {
  for (const char* text : {"{", "{\"a\"", "{\"a\":}", "{}}", "{},", "{} x", "{\"\xff\":{}}", "{'a':1}",
                           "{\"a\":{", "{\"\\ud800\":{}}", "{\"a\":\"\n\"}", "{/**/}"})
    expect_header_refused(text, "the header is not valid JSON at its byte");
  expect_header_refused(std::string("{}\0garbage", 10), "not valid JSON at its byte 3");
  expect_header_refused(" {}", "begins with an opening brace");
  expect_header_refused("\xef\xbb\xbf{}", "begins with an opening brace");
  expect_header_refused("[]", "begins with an opening brace");
}

TEST(safetensors_hostile, deep_nesting_is_refused_where_it_begins) {
  constexpr int kDeep = 1'000'000;
  expect_header_refused(repeated("{\"a\":", kDeep),
                        "wanted the fields dtype, shape and data_offsets, came \"a\"");
  expect_header_refused("{\"a\":" + repeated("[", kDeep), "came an array");
  expect_header_refused("{\"__metadata__\":" + repeated("{\"a\":", kDeep), "wanted a string in __metadata__");
  expect_header_refused("{\"a\":{\"shape\":" + repeated("[", kDeep),
                        "wanted whole numbers in shape, came an array");
}

TEST(safetensors_hostile, values_of_the_wrong_kind) {
  for (const char* value : {"1", "1.5", "\"x\"", "null", "true", "[]"})
    expect_header_refused(std::string("{\"a\":") + value + "}",
                          "tensor \"a\": wanted an object with dtype, shape and data_offsets, came");
  expect_header_refused(fields("\"dtype\":1"), "wanted a string as dtype, came a number");
  expect_header_refused(fields("\"dtype\":{}"), "wanted a string as dtype, came an object");
  expect_header_refused(fields("\"shape\":3"), "wanted an array as shape, came a number");
  expect_header_refused(fields("\"shape\":[\"1\"]"), "wanted whole numbers in shape, came a string");
  expect_header_refused(fields("\"shape\":[1.0]"), "wanted whole numbers in shape, came the number \"1.0\"");
  expect_header_refused(fields("\"shape\":[null]"), "wanted whole numbers in shape, came null");
  expect_header_refused(fields("\"data_offsets\":{}"), "wanted an array as data_offsets, came an object");
  expect_header_refused(fields("\"data_offsets\":[0,true]"), "wanted whole numbers in data_offsets");
  expect_header_refused("{\"__metadata__\":[]}", "wanted an object as __metadata__, came an array");
  expect_header_refused("{\"__metadata__\":{\"a\":1}}", "wanted a string in __metadata__, came a number");
}

TEST(safetensors_hostile, fields_that_are_missing_unknown_or_come_twice) {
  expect_header_refused(fields(""), "tensor \"a\": the field dtype is missing");
  expect_header_refused(fields("\"dtype\":\"F32\",\"data_offsets\":[0,4]"), "the field shape is missing");
  expect_header_refused(fields("\"dtype\":\"F32\",\"shape\":[1]"), "the field data_offsets is missing");
  expect_header_refused(fields("\"size\":4"), "came \"size\"");
  expect_header_refused(fields("\"shape\":[1],\"shape\":[1]"), "the field shape comes twice");
  expect_header_refused("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("a", "F32", "[1]", 0, 4) + "}",
                        "the name \"a\" comes twice");
  expect_header_refused("{\"__metadata__\":{},\"__metadata__\":{}}", "the name \"__metadata__\" comes twice");
  expect_header_refused("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", "the metadata key \"k\" comes twice");
}

TEST(safetensors_hostile, dtypes_that_are_not_supported) {
  for (const std::string dtype : {"I32", "U8", "F8_E4M3", "C64", "f32", ""})
    expect_header_refused(
        "{" + entry("a", dtype, "[1]", 0, 4) + "}",
        "tensor \"a\": wanted F32, F64, BF16, F16, I64 or BOOL, came type \"" + dtype + "\"");
}

TEST(safetensors_hostile, shapes) {
  const auto expect_shape_refused = [](const std::string& shape, const std::string& part) {
    expect_header_refused("{" + entry("a", "F32", shape, 0, 4) + "}", part);
  };
  expect_shape_refused("[-1]", "tensor \"a\": wanted numbers of 0 or more, came -1");
  expect_shape_refused("[9223372036854775808]", "wanted numbers below 2^63, came 9223372036854775808");
  expect_shape_refused("[99999999999999999999]", "wanted whole numbers in shape");
  expect_shape_refused("[4294967296,4294967296]", "the sizes (4294967296, 4294967296) are too large");
  expect_shape_refused("[4611686018427387904,4]", "are too large");
  expect_shape_refused("[4611686018427387905]",
                       "F32(4611686018427387905,) does not fill data_offsets [0, 4]");
  expect_shape_refused("[1,1,1,1,1,1,1,1,1]", "wanted at most 8 axes, came more");
  expect_shape_refused("[2]", "tensor \"a\": F32(2,) does not fill data_offsets [0, 4]");
  expect_shape_refused("[0]", "F32(0,) does not fill data_offsets [0, 4]");
}

TEST(safetensors_hostile, offsets) {
  const auto expect_offsets_refused = [](const std::string& offsets, const std::string& part) {
    expect_header_refused(fields("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":" + offsets), part);
  };
  expect_offsets_refused("[4,0]", "data_offsets [4, 0] are reversed");
  expect_offsets_refused("[4,8]", "data_offsets [4, 8] lie outside the 4 bytes of data");
  expect_offsets_refused("[0,9223372036854775807]", "lie outside the 4 bytes");
  expect_offsets_refused("[0,3]", "F32(1,) does not fill data_offsets [0, 3]");
  expect_offsets_refused("[0]", "wanted two data_offsets, came 1");
  expect_offsets_refused("[]", "wanted two data_offsets, came 0");
  expect_offsets_refused("[0,4,4]", "wanted two data_offsets, came more");
  expect_offsets_refused("[-4,0]", "wanted numbers of 0 or more, came -4");
}

TEST(safetensors_hostile, data_that_overlaps_or_has_holes) {
  const auto two = [](int begin, int end) {
    return "{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", begin, end) + "}";
  };
  const std::string data = bytes_of(1.f, 2.f, 3.f);
  expect_refused(file_of(two(0, 4), data), "overlap another tensor's");
  expect_refused(file_of(two(2, 6), data), "tensor \"b\": data_offsets [2, 6] overlap another tensor's");
  expect_refused(file_of(two(8, 12), data), "tensor \"b\": data_offsets [8, 12] leave a hole from 4 on");
  expect_refused(file_of(two(4, 8), data), "the tensors end at byte 8 of 12 bytes of data");
  expect_refused(file_of("{}", data), "the tensors end at byte 0 of 12 bytes of data");
  const std::string hollow =
      "{" + entry("a", "F32", "[3]", 0, 12) + "," + entry("z", "F32", "[0]", 4, 4) + "}";
  expect_refused(file_of(hollow, data), "tensor \"z\": data_offsets [4, 4] overlap");
}

TEST(safetensors_hostile, bools_other_than_0_and_1) {
  expect_refused(file_of("{" + entry("flags", "BOOL", "[3]", 0, 3) + "}", std::string("\0\1\2", 3)),
                 "tensor \"flags\": wanted bytes of 0 and 1 as bools, came others");
}

TEST(safetensors_hostile, names_stay_on_one_short_line) {
  expect_header_refused("{\"a\\nb\\u001b[31m\":1}", "tensor \"a\\x0ab\\x1b[31m\"");
  expect_header_refused("{\"" + std::string(5000, 'x') + "\":1}", std::string(200, 'x') + "...\"");
}

TEST(safetensors_hostile, damaged_files_load_or_are_refused) {
  const test::TempDir folder;
  const std::string path = folder.file("some.safetensors");
  save_safetensors(path,
                   {{"a", ones({2, 3})}, {"b", ones({3}, DType::boolean)}, {"c", ones({2}, DType::i64)}},
                   {{"step", "3"}});
  const std::string whole = test::read_bytes(path);
  EXPECT_TRUE(rc::check([&] {
    std::string bytes = whole;
    for (int left = *rc::gen::inRange(1, 4); left > 0; --left)
      bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
    if (*rc::gen::inRange(0, 3) == 0) bytes.resize(*rc::gen::inRange<size_t>(0, bytes.size()));
    test::write_bytes(path, bytes);
    try {
      load_safetensors(path);
    } catch (const FileError&) {
    }
  }));
}
