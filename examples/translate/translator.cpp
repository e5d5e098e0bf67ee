#include "translate/translator.h"

#include <heed/autograd/grad_mode.h>
#include <heed/nn/bahdanau.h>
#include <heed/nn/transformer_model.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/files/atomic_file.h>
#include <heed/tensor/files/safetensors.h>
#include <heed/tensor/kernels/extremes.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "translate/data/batches.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto kConfigFile = "config.json";
constexpr auto kWeightsFile = "model.safetensors";
constexpr auto kSourceFile = "source.vocabulary";
constexpr auto kTargetFile = "target.vocabulary";
constexpr int64_t kDecodingBatch = 128;

std::unique_ptr<nn::EncoderDecoder> build(const Architecture& a, int64_t source, int64_t target) {
  if (a.kind == ModelKind::bahdanau)
    return std::make_unique<nn::Bahdanau>(nn::BahdanauOptions{.source_vocabulary = source,
                                                              .target_vocabulary = target,
                                                              .width = a.width,
                                                              .layers = a.layers,
                                                              .dropout = a.dropout});
  return std::make_unique<nn::TransformerModel>(
      nn::TransformerModelOptions{.source_vocabulary = source,
                                  .target_vocabulary = target,
                                  .stack = {.width = a.width,
                                            .feed_forward = a.feed_forward,
                                            .heads = a.heads,
                                            .layers = a.layers,
                                            .dropout = a.dropout}});
}

json to_json(const Architecture& a) {
  return {{"model", name_of(a.kind)}, {"width", a.width},   {"feed_forward", a.feed_forward},
          {"heads", a.heads},         {"layers", a.layers}, {"length", a.length},
          {"dropout", a.dropout}};
}

Architecture from_json(const json& config) {
  Architecture a;
  a.kind = model_kind_by_name(config.at("model").get<std::string>());
  const auto number = [&](const char* key) {
    constexpr int64_t kMost = 1 << 16;
    const auto value = config.at(key).get<int64_t>();
    if (value < 1 || value > kMost) raise<ValueError>("wanted \"{}\" in [1, {}], came {}", key, kMost, value);
    return value;
  };
  a.width = number("width");
  a.feed_forward = number("feed_forward");
  a.heads = number("heads");
  a.layers = number("layers");
  a.length = number("length");
  a.dropout = config.at("dropout").get<double>();
  return a;
}

Architecture read_architecture(const fs::path& path) {
  std::ifstream file(path);
  if (!file)
    raise<FileError>("[model] {}: wanted a model's folder, came one without {}", path.parent_path().string(),
                     kConfigFile);
  try {
    return from_json(json::parse(file));
  } catch (const json::exception& problem) {
    raise<FileError>("[model] {}: wanted a model's configuration, came: {}", path.string(), problem.what());
  } catch (const ValueError& problem) {
    raise<FileError>("[model] {}: {}", path.string(), problem.what());
  }
}

}  // namespace

Architecture architecture_of(const Preset& preset, ModelKind kind) {
  return {.kind = kind,
          .width = preset.width,
          .feed_forward = preset.feed_forward,
          .heads = preset.heads,
          .layers = preset.layers,
          .length = preset.length,
          .dropout = preset.dropout};
}

Translator::Translator(const Architecture& architecture, Vocabulary source, Vocabulary target)
    : architecture_(architecture),
      source_(std::move(source)),
      target_(std::move(target)),
      model_(build(architecture, source_.size(), target_.size())) {}

std::vector<std::string> Translator::translate(const std::vector<std::string>& sentences) {
  const NoGrad guard;
  model_->eval();
  std::vector<Sentence> cleaned;
  cleaned.reserve(sentences.size());
  for (const std::string& sentence : sentences) cleaned.push_back(words(sentence));
  std::vector<std::string> translations(sentences.size());
  std::vector<size_t> places;  // of the sentences that have words
  std::vector<Sentence> asked;
  for (size_t i = 0; i < cleaned.size(); ++i)
    if (!cleaned[i].empty()) places.push_back(i), asked.push_back(cleaned[i]);
  for (size_t begin = 0; begin < asked.size(); begin += kDecodingBatch) {
    const size_t count = std::min<size_t>(kDecodingBatch, asked.size() - begin);
    const auto done = translate_batch(std::span(asked).subspan(begin, count));
    for (size_t i = 0; i < count; ++i) translations[places[begin + i]] = done[i];
  }
  return translations;
}

std::vector<std::string> Translator::translate_batch(std::span<const Sentence> sentences) {
  const auto rows = static_cast<int64_t>(sentences.size());
  std::vector<Encoded> encoded;
  std::vector<int64_t> all;
  for (const Sentence& sentence : sentences) {
    all.push_back(static_cast<int64_t>(all.size()));
    encoded.push_back(encode_pair({sentence, {}, {}}, source_, target_, architecture_.length));
  }
  const Batch batch = make_batch(encoded, all, architecture_.length);
  const auto decoding = model_->start(from_values<int64_t>(batch.source, {rows, batch.length}),
                                      from_values<int64_t>(batch.source_lengths, {rows}));
  Tensor ids = full({rows}, Vocabulary::kBegin, DType::i64);
  std::vector<std::vector<int64_t>> chosen(sentences.size());
  std::vector<bool> finished(sentences.size());
  for (int64_t step = 0; step < architecture_.length && std::ranges::count(finished, false) > 0; ++step) {
    ids = kernels::argmax(decoding->step(ids).data(), -1);
    const auto next = ids.span<int64_t>();
    for (size_t i = 0; i < sentences.size(); ++i) {
      finished[i] = finished[i] || next[i] == Vocabulary::kEnd;
      if (!finished[i]) chosen[i].push_back(next[i]);
    }
  }
  std::vector<std::string> translations;
  translations.reserve(chosen.size());
  for (const auto& words_chosen : chosen) translations.push_back(target_.decode(words_chosen));
  return translations;
}

void Translator::save(const fs::path& folder) const {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    raise<FileError>("[model] {}: cannot make this folder: {}", folder.string(), problem.message());
  source_.save(folder / kSourceFile);
  target_.save(folder / kTargetFile);
  const std::string config = to_json(architecture_).dump(2) + "\n";
  write_file_atomically((folder / kConfigFile).string(),
                        [&](FileWriter& file) { file.write(std::as_bytes(std::span(config))); });
  save_safetensors((folder / kWeightsFile).string(), model_->state_dict());
}

Translator Translator::load(const fs::path& folder) {
  const Architecture architecture = read_architecture(folder / kConfigFile);
  try {
    Translator translator(architecture, Vocabulary::load(folder / kSourceFile),
                          Vocabulary::load(folder / kTargetFile));
    translator.model_->load_state_dict(load_safetensors((folder / kWeightsFile).string()).tensors);
    return translator;
  } catch (const ValueError& problem) {
    raise<FileError>("[model] {}: its files do not belong together: {}", folder.string(), problem.what());
  }
}

}  // namespace heed::translate
