#include <heed/optim/snapshot.h>

#include <heed/optim/internal/state_reader.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/error.h>
#include <heed/tensor/files/safetensors.h>

namespace heed::optim {
namespace {

Tensor bits_of(uint64_t value) {
  Tensor number = Tensor::empty({}, DType::i64);
  *number.mutable_data<int64_t>() = static_cast<int64_t>(value);
  return number;
}

uint64_t bits_from(internal::StateReader& reader, const std::string& key) {
  return static_cast<uint64_t>(*reader.tensor(key, bits_of(0)).data<int64_t>());
}

}  // namespace

void save_snapshot(const std::string& path, const Snapshot& snapshot) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [part, state] : snapshot) {
    if (part.empty() || part.find('/') != std::string::npos)
      raise<ValueError>("[snapshot] wanted a part's name without \"/\", came \"{}\"", part);
    if (state.empty()) raise<ValueError>("[snapshot] the part \"{}\" has no entries", part);
    for (const auto& [name, tensor] : state) tensors.emplace(fmt::format("{}/{}", part, name), tensor);
  }
  save_safetensors(path, tensors);
}

Snapshot load_snapshot(const std::string& path) {
  Snapshot snapshot;
  for (auto& [key, tensor] : load_safetensors(path).tensors) {
    const size_t slash = key.find('/');
    if (slash == std::string::npos || slash == 0)
      raise<FileError>("[snapshot] {}: \"{}\" is no entry of a part", path, key);
    snapshot[key.substr(0, slash)].emplace(key.substr(slash + 1), tensor);
  }
  return snapshot;
}

std::map<std::string, Tensor> state_of(const Generator& generator) {
  return {{"seed", bits_of(generator.seed())}, {"position", bits_of(generator.position())}};
}

void restore(Generator& generator, const std::map<std::string, Tensor>& state) {
  internal::StateReader reader("generator", state);
  const uint64_t seed = bits_from(reader, "seed"), position = bits_from(reader, "position");
  reader.expect_all_read();
  generator.restore(seed, position);
}

}  // namespace heed::optim
