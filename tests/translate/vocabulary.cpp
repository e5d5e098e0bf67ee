#include "translate/data/vocabulary.h"

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include "scratch.h"

namespace heed::translate {
namespace {

const std::vector<Sentence> kSentences = {{"b", "a", "b"}, {"é", "z", "a"}, {"b", "z"}, {"rare"}};

Vocabulary loaded(std::string_view bytes) {
  const Scratch scratch;
  return Vocabulary::load(scratch.file(bytes));
}

TEST(vocabulary, words_come_by_frequency_then_bytes) {
  const Vocabulary all(kSentences, 1);
  const Sentence expected = {"<unk>", "<pad>", "<bos>", "<eos>", "b", "a", "z", "rare", "é"};
  ASSERT_EQ(all.size(), 9);
  for (int64_t id = 0; id < all.size(); ++id) EXPECT_EQ(all.word(id), expected[static_cast<size_t>(id)]);
  for (int64_t id = 4; id < all.size(); ++id) EXPECT_EQ(all.id(all.word(id)), id);
  EXPECT_EQ(Vocabulary(kSentences, 2).size(), 7);
  EXPECT_EQ(Vocabulary({}, 1).size(), 4);
}

TEST(vocabulary, unknown_words_and_ids) {
  const Vocabulary vocabulary(kSentences, 2);
  EXPECT_EQ(vocabulary.encode({"b", "rare", "a"}), (std::vector<int64_t>{4, Vocabulary::kUnknown, 5}));
  EXPECT_EQ(message_of<IndexError>([&] { vocabulary.word(7); }),
            "[Vocabulary::word] wanted an id from 0 to 6, came 7");
  EXPECT_THROW(vocabulary.word(-1), IndexError);
  EXPECT_THROW(vocabulary.decode(std::vector<int64_t>{99}), IndexError);
}

TEST(vocabulary, a_text_cannot_spell_a_marker) {
  const std::vector<Sentence> sentences = {{"<eos>", "<pad>", "a"}};
  const Vocabulary vocabulary(sentences, 1);
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_EQ(vocabulary.id("<eos>"), Vocabulary::kUnknown);
  EXPECT_EQ(vocabulary.id("<pad>"), Vocabulary::kUnknown);
}

TEST(vocabulary, decode_stops_at_the_end_marker) {
  const Vocabulary vocabulary(kSentences, 1);
  EXPECT_EQ(vocabulary.decode(std::vector<int64_t>{2, 4, 0, 1, 5, 3, 6, 6}), "b <unk> a");
  EXPECT_EQ(vocabulary.decode(std::vector<int64_t>{}), "");
  EXPECT_EQ(vocabulary.decode(std::vector<int64_t>{3}), "");
}

TEST(vocabulary, refuses_what_it_could_not_load_again) {
  const std::vector<Sentence> sentences = {{"a b"}};
  EXPECT_THROW(Vocabulary(sentences, 1), ValueError);
  EXPECT_THROW(Vocabulary(kSentences, 0), ValueError);
}

TEST(vocabulary, saves_and_loads) {
  const Scratch scratch;
  const std::filesystem::path path = scratch.folder() / "words";
  const Vocabulary vocabulary(kSentences, 1);
  vocabulary.save(path);
  EXPECT_EQ(contents_of(path), "<unk>\n<pad>\n<bos>\n<eos>\nb\na\nz\nrare\né\n");
  EXPECT_EQ(Vocabulary::load(path), vocabulary);
  EXPECT_EQ(Vocabulary::load(path).id("é"), 8);
  Vocabulary({}, 1).save(path);  // over an old one
  EXPECT_EQ(Vocabulary::load(path).size(), 4);
}

TEST(vocabulary, a_failed_save_leaves_nothing_behind) {
  const Scratch scratch;
  const Vocabulary vocabulary(kSentences, 1);
  EXPECT_THROW(vocabulary.save(scratch.folder() / "none" / "words"), FileError);
  std::filesystem::create_directories(scratch.folder() / "taken" / "full");
  EXPECT_THROW(vocabulary.save(scratch.folder() / "taken"), FileError);
  size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder()))
    entries += entry.exists() ? 1 : 0;
  EXPECT_EQ(entries, 1u);
}

TEST(vocabulary, hostile_files) {
  const std::string markers = "<unk>\n<pad>\n<bos>\n<eos>\n";
  const auto refused = [](std::string_view bytes, std::string_view part) {
    const std::string message = message_of<FileError>([&] { loaded(bytes); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  EXPECT_EQ(loaded(markers).size(), 4);
  refused("", ":0: wanted <unk>, came the end of the file");
  refused("<unk>\n<pad>\n", ":2: wanted <bos>, came the end of the file");
  refused("<unk>\n<bos>\n<pad>\n<eos>\n", ":2: wanted <pad>, came something else");
  refused("<unk>\r\n<pad>\r\n<bos>\r\n<eos>\r\n", ":1: wanted <unk>");
  refused("<unk>\n<pad>\n<bos>\n<eos>", ":4: wanted <eos>");
  refused(markers + "a\nb\na\n", ":7: wanted each word once, came \"a\" again");
  refused(markers + "a\n\nb\n", ":6: wanted a line with one word, came an empty one");
  refused(markers + "a\tb\n", ":5: wanted a line with one word, came one with white space");
  refused(markers + "a b\n", ":5:");
  refused(markers + "\xE9\n", "broken UTF-8");
  refused(markers + "<pad>\n", ":5: wanted a line with one word, came a second marker");
  refused(markers + "a\nhal", ":6: wanted a line with one word, came one without a line feed");
  refused(markers + std::string((size_t{1} << 20) + 1, 'x') + "\n", "more than a mebibyte");
  refused(std::string("\x7F"
                      "ELF\0\0",
                      6),
          ":1: wanted <unk>");
}

TEST(vocabulary, missing_file_and_directory) {
  const Scratch scratch;
  const std::string message = message_of<FileError>([&] { Vocabulary::load(scratch.folder() / "none"); });
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
  EXPECT_THROW(Vocabulary::load(scratch.folder()), FileError);
}

}  // namespace
}  // namespace heed::translate
