#include <heed/autograd/grad_mode.h>

#include <utility>

namespace heed {
namespace {

thread_local bool enabled_here = true, structure_only = false;

}  // namespace

bool grad_enabled() { return enabled_here; }

GradMode::GradMode(bool enabled) : before_(std::exchange(enabled_here, enabled)) {}

GradMode::~GradMode() { enabled_here = before_; }

namespace internal {

RecordStructure::RecordStructure() : GradMode(true), before_(std::exchange(structure_only, true)) {}
RecordStructure::~RecordStructure() { structure_only = before_; }

bool records_structure_only() { return structure_only; }

}  // namespace internal
}  // namespace heed
