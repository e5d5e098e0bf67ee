#include <heed/autograd/grad_mode.h>

#include <utility>

namespace heed {
namespace {

thread_local bool enabled_here = true;

}  // namespace

bool grad_enabled() { return enabled_here; }

GradMode::GradMode(bool enabled) : before_(std::exchange(enabled_here, enabled)) {}

GradMode::~GradMode() { enabled_here = before_; }

}  // namespace heed
