#include "translate/data/dataset.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <heed/tensor/error.h>

#include "translate/corpus/corpus.h"
#include "translate/data/tasks.h"

namespace heed::translate {
namespace {

struct NamedTask {
  std::string_view prefix;
  Task task;
};

constexpr NamedTask kTasks[] = {{"copy:", Task::kCopy}, {"reverse:", Task::kReverse}};

const NamedTask* task_of(std::string_view data) {
  const auto* const found = std::find_if(std::begin(kTasks), std::end(kTasks), [&](const NamedTask& named) {
    return data.starts_with(named.prefix);
  });
  return found == std::end(kTasks) ? nullptr : found;
}

int64_t longest_of(const NamedTask& named, std::string_view data) {
  const std::string_view digits = data.substr(named.prefix.size());
  const char* const end = digits.data() + digits.size();
  int64_t longest = 0;
  const auto parsed = std::from_chars(digits.data(), end, longest);
  if (parsed.ec != std::errc{} || parsed.ptr != end || longest < 1 || longest > kTaskLongest)
    raise<ValueError>("[data] wanted {}N with N from 1 to {}, came \"{}\"", named.prefix, kTaskLongest, data);
  return longest;
}

}  // namespace

bool is_embedded(const std::string& data) { return data.empty() || task_of(data); }

int64_t longest_sentence(const std::string& data) {
  if (data.empty()) return kCorpusLongest;
  const NamedTask* const named = task_of(data);
  return named ? longest_of(*named, data) : 0;
}

LoadedPairs load_pairs(const std::string& data, const ReadOptions& options) {
  if (options.limit < 0)
    raise<ValueError>("[data] wanted a limit of 0 (all) or more, came {}", options.limit);
  if (data.empty()) return {corpus(options.limit > 0 ? options.limit : corpus_size(), 0), {}};
  if (const NamedTask* const named = task_of(data)) {
    const int64_t longest = longest_of(*named, data);
    const int64_t count = std::min(kTaskPairs, task_sentences(longest));
    return {task_pairs(named->task, longest, options.limit > 0 ? options.limit : count, 0), {}};
  }
  if (std::error_code unknown; !std::filesystem::exists(data, unknown))
    raise<FileError>("[data] {}: wanted a file of sentence pairs, copy:N or reverse:N, came none of them",
                     data);
  return read_pairs(data, options);
}

}  // namespace heed::translate
