#include <heed/optim/internal/state_reader.h>

#include <heed/tensor/error.h>

namespace heed::optim::internal {

const Tensor& StateReader::get(const std::string& key) {
  const auto found = state_.find(key);
  if (found == state_.end()) raise<ValueError>("[{}] its state lacks \"{}\"", owner_, key);
  read_.insert(key);
  return found->second;
}

double StateReader::number(const std::string& key, DType dtype) {
  const Tensor& entry = get(key);
  if (entry.dtype() != dtype || entry.numel() != 1)
    raise<ShapeError>("[{}] wanted \"{}\" to be one {}, came {}", owner_, key, name_of(dtype),
                      describe(entry));
  return entry.item();
}

double StateReader::number(const std::string& key, DType dtype, double low, double high) {
  const double value = number(key, dtype);
  if (!(value >= low && value <= high))
    raise<ValueError>("[{}] wanted \"{}\" in [{}, {}], came {}", owner_, key, low, high, value);
  return value;
}

Tensor StateReader::tensor(const std::string& key, const Tensor& like) {
  const Tensor& entry = get(key);
  if (entry.shape() != like.shape() || entry.dtype() != like.dtype())
    raise<ShapeError>("[{}] wanted \"{}\" as {}, came {}", owner_, key, describe(like), describe(entry));
  return entry.clone();
}

void StateReader::expect_all_read() const {
  for (const auto& [key, tensor] : state_)
    if (!read_.contains(key)) raise<ValueError>("[{}] its state has an unexpected \"{}\"", owner_, key);
}

}  // namespace heed::optim::internal
