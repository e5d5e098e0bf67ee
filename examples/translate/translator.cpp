#include "translate/translator.h"

#include <heed/nn/eval_mode.h>
#include <heed/tensor/error.h>
#include <heed/tensor/files/atomic_file.h>
#include <heed/tensor/files/safetensors.h>

#include <algorithm>

#include "translate/decoding.h"
#include "translate/json_file.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

constexpr auto kConfigFile = "config.json";
constexpr auto kSourceFile = "source.vocabulary";
constexpr auto kTargetFile = "target.vocabulary";
/// Hypotheses that are kept at once, of as many sentences as that makes.
constexpr int64_t kDecodingBatch = 128;

Architecture read_architecture(const fs::path& path) {
  if (!fs::exists(path))
    raise<FileError>("[model] {}: wanted a model's folder, came one without {}", path.parent_path().string(),
                     kConfigFile);
  try {
    return architecture_from_json(read_small_file("model", path));
  } catch (const ValueError& problem) {
    raise<FileError>("[model] {}: {}", path.string(), problem.what());
  }
}

/// The wider the beam, the fewer: memory is to grow with neither. (A beam below 1 is refused later.)
size_t sentences_at_once(int64_t beam) {
  return static_cast<size_t>(std::max<int64_t>(kDecodingBatch / std::max<int64_t>(beam, 1), 1));
}

}  // namespace

Translator::Translator(const Architecture& architecture, Vocabulary source, Vocabulary target)
    : architecture_(architecture),
      source_(std::move(source)),
      target_(std::move(target)),
      model_(build_model(architecture, source_.size(), target_.size())) {}

std::vector<Translation> Translator::translate(const std::vector<std::string>& sentences,
                                               const TranslateOptions& options) {
  const nn::EvalMode evaluation(*model_);
  std::vector<size_t> places;  // of the sentences that have words
  std::vector<Sentence> asked;
  for (size_t i = 0; i < sentences.size(); ++i) {
    Sentence cleaned = words(sentences[i]);
    if (!cleaned.empty()) places.push_back(i), asked.push_back(std::move(cleaned));
  }
  std::vector<Translation> translations(sentences.size());
  const size_t most = sentences_at_once(options.beam);
  for (size_t begin = 0; begin < asked.size(); begin += most) {
    const size_t count = std::min(most, asked.size() - begin);
    auto done = decode(*this, std::span(asked).subspan(begin, count), options);
    for (size_t i = 0; i < count; ++i) translations[places[begin + i]] = std::move(done[i]);
  }
  return translations;
}

std::vector<std::string> Translator::translate(const std::vector<std::string>& sentences) {
  std::vector<std::string> texts;
  texts.reserve(sentences.size());
  for (Translation& translation : translate(sentences, {})) texts.push_back(std::move(translation.text));
  return texts;
}

void Translator::save(const fs::path& folder) const {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    raise<FileError>("[model] {}: cannot make this folder: {}", folder.string(), problem.message());
  source_.save(folder / kSourceFile);
  target_.save(folder / kTargetFile);
  const std::string config = to_json(architecture_);
  write_file_atomically((folder / kConfigFile).string(),
                        [&](FileWriter& file) { file.write(std::as_bytes(std::span(config))); });
  save_weights(folder);
}

void Translator::save_weights(const fs::path& folder) const {
  save_safetensors(weights_path(folder).string(), model_->state_dict());
}

Translator Translator::load(const fs::path& folder) {
  const Architecture architecture = read_architecture(folder / kConfigFile);
  try {
    auto source = Vocabulary::load(folder / kSourceFile), target = Vocabulary::load(folder / kTargetFile);
    const auto weights = load_safetensors(weights_path(folder).string()).tensors;
    expect_fitting(architecture, source.size(), target.size(), weights);
    Translator translator(architecture, std::move(source), std::move(target));
    load_weights(translator.model(), weights);
    return translator;
  } catch (const FileError&) {
    throw;  // names its file
  } catch (const Error& problem) {
    raise<FileError>("[model] {}: cannot be loaded: {}", folder.string(), problem.what());
  }
}

std::vector<fs::path> model_paths(const fs::path& folder) {
  return {folder / kConfigFile, folder / kSourceFile, folder / kTargetFile, weights_path(folder)};
}

fs::path weights_path(const fs::path& folder) { return folder / "model.safetensors"; }

}  // namespace heed::translate
