#include <heed/study/internal/log.h>

#include <algorithm>

#include <heed/autograd/checkpoint.h>

namespace heed::study::internal {

PointLog::PointLog(std::string name, nn::Module& module, Clock clock)
    : name_(std::move(name)), hook_(module.register_point_hook([this, clock](const nn::Point& point) {
        entries_.push_back(
            {std::string(point.name), point.value.data(), point.watch_grad(), ++*clock, recomputing()});
      })) {}

std::vector<Entry> PointLog::entries() const {
  std::vector<Entry> kept = entries_;
  if (std::ranges::any_of(kept, &Entry::recomputed))
    std::erase_if(kept, [](const Entry& entry) { return !entry.recomputed && !entry.gradient().defined(); });
  return kept;
}

ProjectionLog::ProjectionLog(nn::Linear& linear, Clock clock)
    : weight_(linear.weight()),
      hook_(linear.register_forward_hook(
          [this, clock](nn::Module&, std::span<const Variable> inputs, const Variable& output) {
            entries_.push_back({"", inputs[0].data(), watch_grad(output), ++*clock, recomputing()});
            return Variable();
          })) {}

const Entry* ProjectionLog::last_before(uint64_t order) const {
  const Entry* last = nullptr;
  for (const Entry& entry : entries_)
    if (entry.order < order) last = &entry;
  return last;
}

}  // namespace heed::study::internal
