#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::translate {

/// The words of one sentence, in order.
using Sentence = std::vector<std::string>;

/// Text in the one form that all of the translator works on: composed (NFC), in lower case by Unicode's
/// simple case mapping, every white space (U+00A0, U+202F and U+2009 among it) and every control character a
/// plain space, both typographic apostrophes a straight one, and a space before each `, . ! ?` that has none.
/// Throws ValueError, naming the byte offset, when `utf8` is not valid UTF-8.
std::string clean(std::string_view utf8);

/// The words of a text: clean(utf8), cut at runs of spaces. `j'ai` stays one word, for either apostrophe.
Sentence words(std::string_view utf8);

/// Words with single spaces between them.
std::string joined(const Sentence& sentence);

/// Whether `text` can be one word: not empty, valid UTF-8, no white space of any kind, no control character.
bool is_word(std::string_view text);

/// The text without the mark U+FEFF that some programs put in front of a file.
std::string_view without_byte_order_mark(std::string_view utf8);

}  // namespace heed::translate
