#pragma once

#include <memory>
#include <string>

namespace heed {

/// Gives the ops that are recorded on this thread while it lives a place: `Scope scope("decoder.0")`. Scopes
/// nest, and their names are joined by dots. A layer opens one for each call; graph pictures and the messages
/// of anomaly mode show them.
class Scope {
 public:
  /// The full name of a scope; null where there is none.
  using Name = std::shared_ptr<const std::string>;

  explicit Scope(std::string name);
  /// Goes on in a scope that was left, whatever is open now.
  explicit Scope(Name name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// The scope that is open on this thread.
  static Name current();

 private:
  const Name& full_name();

  Scope* outer_;
  std::string own_;
  Name full_;
  bool is_joined_;  // full_ is known; it is made for the first node that wants it
};

}  // namespace heed
