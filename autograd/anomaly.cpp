#include <heed/autograd/anomaly.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <heed/autograd/backtrace.h>

namespace heed {
namespace {

thread_local bool enabled_here = false, infinity_allowed_here = false, inside_backward = false;

template <class T, class Wanted>
std::optional<int64_t> first_place(std::span<const T> values, Wanted wanted) {
  const auto found = std::ranges::find_if(values, wanted);
  if (found == values.end()) return std::nullopt;
  return found - values.begin();
}

/// Where a tensor holds a NaN (or an infinity), as a flat place.
std::optional<int64_t> find_value(const Tensor& tensor, bool nan) {
  const auto search = [&]<class T>(std::span<const T> values) {
    return nan ? first_place(values, [](T x) { return std::isnan(x); })
               : first_place(values, [](T x) { return std::isinf(x); });
  };
  if (!tensor.defined() || !is_floating(tensor.dtype())) return std::nullopt;
  if (tensor.dtype() == DType::f64) return search(tensor.contiguous().span<double>());
  return search(tensor.to(DType::f32).contiguous().span<float>());
}

/// "NaN at (2, 1)".
std::string finding(const Tensor& tensor, bool nan, int64_t place) {
  Dims index = Dims::filled(tensor.rank(), 0);
  int64_t rest = place;
  for (int64_t axis = tensor.rank() - 1; axis >= 0; --axis) {
    index[axis] = rest % tensor.size(axis);
    rest /= tensor.size(axis);
  }
  const char* value = "NaN";
  if (!nan) value = tensor.contiguous().reshape({-1}).at({place}) > 0 ? "inf" : "-inf";
  return fmt::format("{} at {}", value, index);
}

std::string in_scope(const std::string& scope) { return scope.empty() ? "" : " in " + scope; }

/// Which input holds NaN already (or an infinity); -1 if none.
int64_t holder(std::span<const Variable* const> inputs, bool nan) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->defined() && find_value(inputs[i]->data(), nan)) return static_cast<int64_t>(i);
  return -1;
}

std::string message(const std::string& finding, const std::vector<std::string>& backtrace) {
  constexpr size_t kMostCalls = 12;
  if (backtrace.empty()) return fmt::format("[anomaly] {}; it was recorded outside of anomaly mode", finding);
  const size_t shown = std::min(backtrace.size(), kMostCalls);
  return fmt::format(
      "[anomaly] {}; called by {}", finding,
      fmt::join(backtrace.begin(), backtrace.begin() + static_cast<std::ptrdiff_t>(shown), " <- "));
}

}  // namespace

bool anomaly_enabled() { return enabled_here; }

AnomalyMode::AnomalyMode(bool enabled) : before_(std::exchange(enabled_here, enabled)) {}
AnomalyMode::~AnomalyMode() { enabled_here = before_; }

AllowInfinity::AllowInfinity(bool allowed)
    : before_(std::exchange(infinity_allowed_here, infinity_allowed_here || allowed)) {}
AllowInfinity::~AllowInfinity() { infinity_allowed_here = before_; }

AnomalyError::AnomalyError(const std::string& finding, std::string op, std::string scope,
                           std::vector<std::string> backtrace)
    : Error(message(finding, backtrace)),
      op_(std::move(op)),
      scope_(std::move(scope)),
      backtrace_(std::move(backtrace)) {}

namespace internal {

bool infinity_allowed() { return infinity_allowed_here; }

InsideBackward::InsideBackward(bool inside) : before_(std::exchange(inside_backward, inside)) {}
InsideBackward::~InsideBackward() { inside_backward = before_; }

void expect_finite_results(const char* op, std::span<const Tensor> outputs,
                           std::span<const Variable* const> inputs) {
  if (inside_backward) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const bool nan : {true, false}) {
      const std::optional<int64_t> place = find_value(outputs[i], nan);
      if (!place) continue;
      const int64_t source = holder(inputs, nan);
      if (!nan && (infinity_allowed_here || source >= 0)) continue;
      const Scope::Name scope = Scope::current();
      std::string text =
          fmt::format("{}{} made {} of output {} {}", op, in_scope(scope == nullptr ? "" : *scope),
                      finding(outputs[i], nan, *place), i, describe(outputs[i]));
      if (source >= 0) text += fmt::format(", passing it on from input {}", source);
      throw AnomalyError(text, op, scope == nullptr ? "" : *scope, Backtrace().lines());
    }
  }
}

void expect_finite_grad(const Node& node, const char* what, size_t place, const Variable& grad) {
  if (!grad.defined()) return;
  for (const bool nan : {true, false}) {
    const std::optional<int64_t> found = find_value(grad.data(), nan);
    if (!found) continue;
    const std::string text =
        fmt::format("backward of {}{} found {} of {} {} {}", node.name(), in_scope(node.scope()),
                    finding(grad.data(), nan, *found), what, place, describe(grad.data()));
    throw AnomalyError(text, node.name(), node.scope(),
                       node.backtrace() == nullptr ? std::vector<std::string>() : node.backtrace()->lines());
  }
}

}  // namespace internal
}  // namespace heed
