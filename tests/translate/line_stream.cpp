#include "translate/line_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <heed/tensor/error.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <array>

#include "tests/translate/scratch.h"
#include "translate/data/lines.h"

namespace heed::translate {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Pipe() {
    close(ends_[0]);
    finish();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reading_end() const { return ends_[0]; }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void finish() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) : descriptor_(open(path.c_str(), O_RDONLY)) {
    EXPECT_GE(descriptor_, 0);
  }
  ~OpenFile() { close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::vector<std::string> all_of(LineStream& lines) {
  std::vector<std::string> all;
  while (lines.next()) all.push_back(lines.text());
  return all;
}

std::vector<std::string> lines_in(const std::string& bytes) {
  const Scratch scratch;
  const OpenFile file(scratch.file(bytes));
  LineStream lines(file.descriptor(), "a file");
  return all_of(lines);
}

using Lines = std::vector<std::string>;

TEST(line_stream, a_last_line_needs_no_line_feed) {
  EXPECT_EQ(lines_in(""), Lines{});
  EXPECT_EQ(lines_in("\n"), Lines{""});
  EXPECT_EQ(lines_in("a\n\nb\n"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_in("a\nb"), (Lines{"a", "b"}));
}

TEST(line_stream, only_the_first_line_loses_a_byte_order_mark) {
  EXPECT_EQ(lines_in("\xEF\xBB\xBF"
                     "a\n\xEF\xBB\xBF"
                     "b\n"),
            (Lines{"a",
                   "\xEF\xBB\xBF"
                   "b"}));
  EXPECT_EQ(lines_in("\xEF\xBB\xBF"), Lines{""});
}

TEST(line_stream, a_line_is_as_long_as_it_may_be) {
  const std::string longest(LineReader::kLongestLine, 'a');
  EXPECT_EQ(lines_in(longest + "\nb"), (Lines{longest, "b"}));
  for (const std::string& end : {std::string("a"), std::string("a\n"), std::string(1 << 20, 'a')})
    EXPECT_EQ(message_of<ValueError>([&] { lines_in("b\n" + longest + end); }),
              "[lines] a file, line 2: wanted at most 1048576 bytes, came more");
}

TEST(line_stream, tells_whether_it_would_wait) {
  Pipe pipe;
  LineStream lines(pipe.reading_end(), "a pipe");
  EXPECT_TRUE(lines.is_waiting());
  pipe.write("a\nb\nc");
  EXPECT_FALSE(lines.is_waiting());
  ASSERT_TRUE(lines.next());
  EXPECT_FALSE(lines.is_waiting());  // b was read with a
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), "b");
  EXPECT_TRUE(lines.is_waiting());  // c may go on
  pipe.finish();
  EXPECT_FALSE(lines.is_waiting());
  EXPECT_EQ(all_of(lines), Lines{"c"});
  EXPECT_EQ(lines.number(), 3);
}

TEST(line_stream, names_what_cannot_be_read) {
  const Scratch scratch;
  const OpenFile folder(scratch.folder());
  LineStream lines(folder.descriptor(), "the input");
  EXPECT_EQ(message_of<FileError>([&] { lines.next(); }),
            "[lines] the input: wanted something readable, came: Is a directory");
}

RC_GTEST_PROP(line_stream, lines_come_out_as_they_went_in, ()) {
  const auto wanted =
      *rc::gen::container<Lines>(rc::gen::container<std::string>(rc::gen::element('a', 'b', ' ', '\r')));
  std::string text;
  for (const std::string& line : wanted) text += line + "\n";
  const auto cut = *rc::gen::inRange<size_t>(0, text.size() + 1);
  Pipe pipe;
  LineStream lines(pipe.reading_end(), "a pipe");
  pipe.write(text.substr(0, cut));
  Lines came;
  while (!lines.is_waiting() && lines.next()) came.push_back(lines.text());
  pipe.write(text.substr(cut));
  pipe.finish();
  while (lines.next()) came.push_back(lines.text());
  RC_ASSERT(came == wanted);
}

}  // namespace
}  // namespace heed::translate
