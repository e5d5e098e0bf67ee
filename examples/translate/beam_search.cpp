#include "translate/beam_search.h"

#include <heed/tensor/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed::translate {
namespace {

/// A hypothesis that may be kept: one of the model's rows, and a token that follows it.
struct Candidate {
  int64_t row = 0;
  int64_t token = 0;
  double log_probability = 0;
};

/// The likeliest candidates of one sentence; of equal ones the first that came.
class Best {
 public:
  explicit Best(int64_t most) : most_(static_cast<size_t>(most)) {}

  void offer(const Candidate& candidate) {
    if (kept_.size() == most_ && !(candidate.log_probability > kept_.back().log_probability)) return;
    const auto worse = std::ranges::upper_bound(kept_, candidate.log_probability, std::greater<>{},
                                                &Candidate::log_probability);
    kept_.insert(worse, candidate);
    if (kept_.size() > most_) kept_.pop_back();
  }

  const std::vector<Candidate>& kept() const { return kept_; }

 private:
  size_t most_;
  std::vector<Candidate> kept_;
};

/// One sentence's part of the search.
struct Beam {
  std::vector<Hypothesis> live;  // one for each of the model's rows that are of this sentence
  std::vector<Hypothesis> finished;
};

class Search {
 public:
  Search(StepModel& model, int64_t sentences, const BeamOptions& options)
      : model_(model), options_(options), beams_(static_cast<size_t>(sentences)) {
    for (Beam& beam : beams_) beam.live.emplace_back();
  }

  std::vector<std::vector<Hypothesis>> run() {
    for (int64_t length = 1; length <= options_.max_length && rows() > 0; ++length) advance();
    std::vector<std::vector<Hypothesis>> results;
    results.reserve(beams_.size());
    for (Beam& beam : beams_) results.push_back(best_of(beam));
    return results;
  }

 private:
  int64_t rows() const {
    return std::accumulate(beams_.begin(), beams_.end(), int64_t{0}, [](int64_t sum, const Beam& beam) {
      return sum + static_cast<int64_t>(beam.live.size());
    });
  }

  double score(double log_probability, size_t length) const {
    return log_probability / std::pow(static_cast<double>(length), options_.length_penalty);
  }

  std::vector<int64_t> last_tokens() const {
    std::vector<int64_t> tokens;
    for (const Beam& beam : beams_)
      for (const Hypothesis& hypothesis : beam.live)
        tokens.push_back(hypothesis.tokens.empty() ? options_.begin : hypothesis.tokens.back());
    return tokens;
  }

  void advance() {
    const std::vector<int64_t> tokens = last_tokens();
    const Tensor follows = model_.step(tokens);
    std::vector<int64_t> selected;
    int64_t row = 0;
    for (Beam& beam : beams_) {
      const auto count = static_cast<int64_t>(beam.live.size());
      keep(beam, likeliest(beam, follows, row), row, selected);
      row += count;
    }
    std::vector<int64_t> all(tokens.size());
    std::iota(all.begin(), all.end(), int64_t{0});
    if (selected != all && !selected.empty()) model_.select(selected);
  }

  /// The candidates of a beam whose first row is `first`, from follows (rows, vocabulary).
  std::vector<Candidate> likeliest(const Beam& beam, const Tensor& follows, int64_t first) const {
    const int64_t vocabulary = follows.size(1);
    const auto all = follows.span<float>();
    Best best(options_.beam);
    for (size_t i = 0; i < beam.live.size(); ++i) {
      const int64_t row = first + static_cast<int64_t>(i);
      for (int64_t token = 0; token < vocabulary; ++token) {
        const double log_probability = all[static_cast<size_t>(row * vocabulary + token)];
        if (std::isnan(log_probability))
          raise<ValueError>("[beam_search] wanted log-probabilities, came NaN for token {}", token);
        if (std::isfinite(log_probability))
          best.offer({row, token, beam.live[i].log_probability + log_probability});
      }
    }
    return best.kept();
  }

  /// The beam's hypotheses are now the candidates; `selected` gets the rows of those that go on.
  void keep(Beam& beam, const std::vector<Candidate>& candidates, int64_t first,
            std::vector<int64_t>& selected) const {
    std::vector<Hypothesis> live;
    std::vector<int64_t> rows;
    for (const Candidate& candidate : candidates) {
      Hypothesis next = beam.live[static_cast<size_t>(candidate.row - first)];
      next.log_probability = candidate.log_probability;
      next.score = score(candidate.log_probability, next.tokens.size() + 1);
      next.finished = candidate.token == options_.end;
      if (next.finished) {
        beam.finished.push_back(std::move(next));
      } else {
        next.tokens.push_back(candidate.token);
        live.push_back(std::move(next));
        rows.push_back(candidate.row);
      }
    }
    sort_by_score(beam.finished);
    if (!live.empty() && is_settled(beam, live.front())) live.clear(), rows.clear();
    beam.live = std::move(live);
    selected.insert(selected.end(), rows.begin(), rows.end());
  }

  static void sort_by_score(std::vector<Hypothesis>& hypotheses) {
    std::ranges::stable_sort(hypotheses, std::greater<>{}, &Hypothesis::score);
  }

  /// Whether nothing that starts with the likeliest live hypothesis can get among the best: its probability
  /// only falls, and no length divides it more than the greatest.
  bool is_settled(const Beam& beam, const Hypothesis& likeliest) const {
    const auto wanted = static_cast<size_t>(options_.beam);
    return beam.finished.size() >= wanted &&
           score(likeliest.log_probability, static_cast<size_t>(options_.max_length)) <=
               beam.finished[wanted - 1].score;
  }

  std::vector<Hypothesis> best_of(Beam& beam) const {
    std::vector<Hypothesis> best = std::move(beam.finished);
    sort_by_score(beam.live);
    best.insert(best.end(), beam.live.begin(), beam.live.end());
    best.resize(std::min(best.size(), static_cast<size_t>(options_.beam)));
    return best;
  }

  StepModel& model_;
  const BeamOptions& options_;
  std::vector<Beam> beams_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(StepModel& model, int64_t sentences,
                                                 const BeamOptions& options) {
  if (options.beam < 1) raise<ValueError>("[beam_search] wanted a beam of 1 or more, came {}", options.beam);
  if (options.max_length < 1)
    raise<ValueError>("[beam_search] wanted a length of 1 or more, came {}", options.max_length);
  if (!(options.length_penalty >= 0))
    raise<ValueError>("[beam_search] wanted a length penalty of 0 or more, came {}", options.length_penalty);
  return Search(model, sentences, options).run();
}

}  // namespace heed::translate
