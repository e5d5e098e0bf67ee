#pragma once

#include <map>
#include <string>

#include <heed/tensor/random.h>

/// All that a run of training needs to go on to the last bit as if it had never stopped, in one file:
///
///     save_snapshot(path, {{"model", model.state_dict()},
///                          {"optimizer", optimizer.state_dict()},
///                          {"average", average.state_dict()},
///                          {"random", state_of(default_generator())},
///                          {"place", {{"step", scalar(step, DType::i64)}}}});
///     Snapshot snapshot = load_snapshot(path);
///     model.load_state_dict(snapshot.at("model"));
///     restore(default_generator(), snapshot.at("random"));
///
/// A schedule is a function of the step and needs no more than that.
namespace heed::optim {

/// States by the name of what they are of.
using Snapshot = std::map<std::string, std::map<std::string, Tensor>>;

/// Writes a safetensors file with the entries `<part>/<entry>`. ValueError for a part without entries,
/// without a name or with a "/" in it, and the errors of save_safetensors.
void save_snapshot(const std::string& path, const Snapshot& snapshot);
/// Reads it again. FileError, also for a file that is no snapshot.
Snapshot load_snapshot(const std::string& path);

/// Where a generator is: `seed` and `position`, whose 64 bits are i64 numbers.
std::map<std::string, Tensor> state_of(const Generator& generator);
/// Brings it there. ValueError or ShapeError, with nothing changed, for anything else.
void restore(Generator& generator, const std::map<std::string, Tensor>& state);

}  // namespace heed::optim
