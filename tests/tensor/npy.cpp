#include <heed/tensor/files/npy.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using test::bytes_of, test::expect_error;

namespace {

/// Magic, version, length of the header in this version's width, header and data.
std::string npy_of(char version, const std::string& header, const std::string& data) {
  const std::string length = version == 1 ? bytes_of(static_cast<uint16_t>(header.size()))
                                          : bytes_of(static_cast<uint32_t>(header.size()));
  return "\x93NUMPY" + std::string{version, '\0'} + length + header + data;
}

std::string header_of(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }   \n";
}

Tensor load_bytes(const std::string& bytes) {
  const test::TempDir folder;
  const std::string path = folder.file("some.npy");
  test::write_bytes(path, bytes);
  return load_npy(path);
}

void expect_refused(const std::string& bytes, const std::string& part) {
  const test::TempDir folder;
  const std::string path = folder.file("bad.npy");
  test::write_bytes(path, bytes);
  expect_error<FileError>([&] { load_npy(path); }, "[load_npy] \"" + path + "\"");
  expect_error<FileError>([&] { load_npy(path); }, part);
}

void expect_header_refused(const std::string& header, const std::string& part) {
  expect_refused(npy_of(1, header, bytes_of(1.f)), part);
}

}  // namespace

TEST(npy, reads_the_three_versions) {
  for (const char version : {1, 2, 3}) {
    const Tensor a = load_bytes(npy_of(version, header_of("<f4", "False", "(2, 1)"), bytes_of(1.5f, -2.f)));
    EXPECT_EQ(a.shape(), (Shape{2, 1}));
    EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1.5, -2}));
  }
}

TEST(npy, reads_the_types) {
  EXPECT_EQ(load_bytes(npy_of(1, header_of("<f8", "False", "()"), bytes_of(0.1))).item(), 0.1);
  const Tensor whole = load_bytes(npy_of(1, header_of("<i8", "False", "(1,)"), bytes_of(int64_t{-7})));
  EXPECT_EQ(whole.dtype(), DType::i64);
  EXPECT_EQ(whole.item(), -7);
  const Tensor flags = load_bytes(npy_of(1, header_of("|b1", "False", "(2,)"), std::string("\0\1", 2)));
  EXPECT_EQ(flags.to_vector<bool>(), (std::vector<bool>{false, true}));
  const Tensor half =
      load_bytes(npy_of(1, header_of("<f2", "False", "(2,)"), bytes_of(uint16_t{0x3e00}, uint16_t{1})));
  EXPECT_EQ(half.dtype(), DType::f32);
  EXPECT_EQ(half.to_vector<float>(), (std::vector<float>{1.5f, 0x1p-24f}));
}

TEST(npy, fortran_order_becomes_row_major) {
  const Tensor a =
      load_bytes(npy_of(1, header_of("<f4", "True", "(2, 3)"), bytes_of(0.f, 3.f, 1.f, 4.f, 2.f, 5.f)));
  EXPECT_TRUE(a.is_contiguous());
  EXPECT_TRUE(equal(a, tensor_of({{0, 1, 2}, {3, 4, 5}})));
}

TEST(npy, reads_headers_however_they_are_spaced) {
  const std::string data = bytes_of(1.f);
  for (const char* header : {"{'shape':(1,),'fortran_order':False,'descr':'<f4'}",
                             "{ \"descr\" : \"<f4\" , 'fortran_order' : False , 'shape' : ( 1 , ) }\n\n",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}"})
    EXPECT_EQ(load_bytes(npy_of(1, header, data)).numel(), 1) << header;
}

TEST(npy, writes_version_1_with_aligned_data) {
  const test::TempDir folder;
  const std::string path = folder.file("some.npy");
  save_npy(path, tensor_of({{0, 1, 2}, {3, 4, 5}}).transpose(0, 1));
  const std::string bytes = test::read_bytes(path);
  const std::string start = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
  ASSERT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(bytes.substr(10, start.size()), start);
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(128), bytes_of(0.f, 3.f, 1.f, 4.f, 2.f, 5.f));
}

TEST(npy, whatever_is_saved_comes_back_bit_by_bit) {
  const test::TempDir folder;
  const std::string path = folder.file("some.npy");
  EXPECT_TRUE(rc::check([&] {
    constexpr std::array kTypes{DType::f32, DType::f64, DType::i64, DType::boolean};
    const Tensor a =
        test::any_tensor(test::any_shape(), kTypes[static_cast<size_t>(test::any_between(0, 3))]);
    save_npy(path, a);
    RC_ASSERT(identical(load_npy(path), a));
  }));
}

TEST(npy, what_it_cannot_write) {
  const test::TempDir folder;
  const std::string path = folder.file("some.npy");
  expect_error<DTypeError>([&] { save_npy(path, zeros({2}, DType::bf16)); },
                           "[save_npy] wanted f32, f64, i64 or bool, came bf16(2,)");
  expect_error<ValueError>([&] { save_npy(path, Tensor{}); }, "undefined");
  expect_error<FileError>([&] { save_npy(folder.file("no/file"), zeros({2})); }, "No such file or directory");
  EXPECT_TRUE(folder.names().empty());
}

TEST(npy, files_that_are_cut_short_or_no_npy) {
  expect_refused("", "wanted a .npy file, came 0 bytes");
  expect_refused("\x93NUMPY\1", "came 7 bytes");
  expect_refused("\x93NUMPX" + std::string("\1\0\0\0", 4), "begins otherwise");
  expect_refused("\x93NUMPY" + std::string("\4\0\0\0", 4), "wanted version 1, 2 or 3 of the format, came 4");
  expect_refused("\x93NUMPY" + std::string("\1\0\5", 3), "came the end of the file");
  expect_refused("\x93NUMPY" + std::string("\1\0\5\0{", 5), "the header has 5 bytes, the file only 1 more");
  expect_refused("\x93NUMPY" + std::string("\2\0\xff\xff\xff\xff", 6),
                 "wanted a header of at most 1048576 bytes");
  const std::string whole = npy_of(1, header_of("<f4", "False", "(2,)"), bytes_of(1.f, 2.f));
  expect_refused(whole.substr(0, whole.size() - 1), "(2,) of type <f4 does not fill 7 bytes of data");
  expect_refused(whole + "x", "does not fill 9 bytes of data");
  const test::TempDir folder;
  expect_error<FileError>([&] { load_npy(folder.file("none")); }, "No such file or directory");
}

TEST(npy, headers_that_are_none) {
  expect_header_refused("", "wanted \"{\" at byte 0 of the header, came \"\"");
  expect_header_refused("{", "wanted \"'\"");
  expect_header_refused("{}", "wanted descr at byte 2");
  expect_header_refused("{'descr", "wanted the end of a string");
  expect_header_refused("{'size': 3}", "wanted descr, fortran_order and shape, once each");
  expect_header_refused("{'descr': '<f4', 'descr': '<f4'}", "once each");
  expect_header_refused("{'descr': '<f4'", "wanted \",\"");
  expect_header_refused("{'descr': '<f4'}", "wanted fortran_order");
  expect_header_refused("{'descr': [('a', '<f4')]}", "wanted \"'\"");
  expect_header_refused(header_of("<f4", "Maybe", "(1,)"), "wanted True or False");
  expect_header_refused(header_of("<f4", "False", "1"), "wanted \"(\"");
  expect_header_refused(header_of("<f4", "False", "(1 2)"), "wanted \",\"");
  expect_header_refused(header_of("<f4", "False", "(,)"), "wanted a size");
  expect_header_refused(header_of("<f4", "False", "(1,)") + "x", "wanted the end of the header");
  expect_header_refused(std::string(1000, '{'), "wanted \"'\"");
}

TEST(npy, sizes_and_types_that_do_not_fit) {
  expect_header_refused(header_of("<f4", "False", "(-1,)"), "wanted a size from 0 to 2^63 - 1");
  expect_header_refused(header_of("<f4", "False", "(9223372036854775808,)"), "wanted a size");
  expect_header_refused(header_of("<f4", "False", "(4294967296, 4294967296)"), "are too large");
  expect_header_refused(header_of("<f4", "True", "(4611686018427387905,)"), "does not fill 4 bytes");
  expect_header_refused(header_of("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), "wanted at most 8 axes");
  for (const std::string descr : {">f4", "<i4", "<c8", "|O", "|S3", "f4"})
    expect_header_refused(header_of(descr, "False", "(1,)"), "came type \"" + descr + "\"");
  expect_refused(npy_of(1, header_of("|b1", "False", "(1,)"), "\2"), "wanted bytes of 0 and 1 as bools");
}

TEST(npy, damaged_files_load_or_are_refused) {
  const test::TempDir folder;
  const std::string path = folder.file("some.npy");
  save_npy(path, ones({2, 3}));
  const std::string whole = test::read_bytes(path);
  EXPECT_TRUE(rc::check([&] {
    std::string bytes = whole;
    for (int left = *rc::gen::inRange(1, 4); left > 0; --left)
      bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
    if (*rc::gen::inRange(0, 3) == 0) bytes.resize(*rc::gen::inRange<size_t>(0, bytes.size()));
    test::write_bytes(path, bytes);
    try {
      load_npy(path);
    } catch (const FileError&) {
    }
  }));
}
