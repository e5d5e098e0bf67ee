#pragma once

namespace heed {

/// True if operations on this thread are recorded.
bool grad_enabled();

/// While it lives, sets recording on this thread; afterwards it is as it was, exceptions or not.
class GradMode {
 public:
  explicit GradMode(bool enabled);
  ~GradMode();
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool before_;
};

/// Nothing is recorded on this thread while it lives.
class NoGrad : GradMode {
 public:
  NoGrad() : GradMode(false) {}
};

/// Recording is on for this thread while it lives, also inside a NoGrad.
class EnableGrad : GradMode {
 public:
  EnableGrad() : GradMode(true) {}
};

namespace internal {

/// While it lives, ops on this thread are recorded without their saved values: only what came from what.
class RecordStructure : GradMode {
 public:
  RecordStructure();
  ~RecordStructure();

 private:
  bool before_;
};

bool records_structure_only();

}  // namespace internal
}  // namespace heed
