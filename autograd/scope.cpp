#include <heed/autograd/scope.h>

#include <utility>

namespace heed {
namespace {

thread_local Scope* innermost = nullptr;

}  // namespace

Scope::Scope(std::string name)
    : outer_(std::exchange(innermost, this)), own_(std::move(name)), is_joined_(false) {}

Scope::Scope(Name name) : outer_(std::exchange(innermost, this)), full_(std::move(name)), is_joined_(true) {}

Scope::~Scope() { innermost = outer_; }

Scope::Name Scope::current() { return innermost == nullptr ? nullptr : innermost->full_name(); }

const Scope::Name& Scope::full_name() {
  if (is_joined_) return full_;
  is_joined_ = true;
  full_ = outer_ == nullptr ? nullptr : outer_->full_name();
  if (own_.empty()) return full_;
  full_ = std::make_shared<const std::string>(full_ == nullptr ? own_ : *full_ + "." + own_);
  return full_;
}

}  // namespace heed
