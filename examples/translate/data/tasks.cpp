#include "translate/data/tasks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <heed/tensor/error.h>
#include <heed/tensor/random.h>

namespace heed::translate {
namespace {

constexpr int64_t kLetters = 26;
constexpr int64_t kCountless = int64_t{1} << 62;

Sentence random_sentence(int64_t longest, Generator& generator) {
  Sentence sentence(1 + generator.below(static_cast<uint64_t>(longest)));
  for (std::string& word : sentence) word = static_cast<char>('a' + generator.below(kLetters));
  return sentence;
}

SentencePair pair_of(Task task, Sentence source) {
  SentencePair pair{source, std::move(source), {}};
  const int length = static_cast<int>(pair.source.size());
  if (task == Task::kReverse) std::reverse(pair.target.begin(), pair.target.end());
  for (int i = 0; i < length; ++i) pair.alignment.emplace_back(i, task == Task::kCopy ? i : length - 1 - i);
  return pair;
}

}  // namespace

int64_t task_sentences(int64_t longest) {
  int64_t all = 0;
  for (int64_t length = 1; length <= longest; ++length) {
    if (all >= kCountless / (2 * kLetters)) return kCountless;
    all = kLetters * (all + 1);
  }
  return all;
}

std::vector<SentencePair> task_pairs(Task task, int64_t longest, int64_t count, uint64_t seed) {
  if (longest < 1) raise<ValueError>("[task_pairs] wanted sentences of 1 letter or more, came {}", longest);
  if (count < 0 || count > task_sentences(longest))
    raise<ValueError>("[task_pairs] wanted from 0 to {} pairs, which is all there are, came {}",
                      task_sentences(longest), count);
  Generator generator(seed);
  std::set<Sentence> seen;
  std::vector<SentencePair> pairs;
  while (static_cast<int64_t>(pairs.size()) < count) {
    Sentence source = random_sentence(longest, generator);
    if (seen.insert(source).second) pairs.push_back(pair_of(task, std::move(source)));
  }
  return pairs;
}

}  // namespace heed::translate
