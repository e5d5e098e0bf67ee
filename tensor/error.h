#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace heed {

/// Base of every error that heed throws. The message is one line: `[op] what was wanted, what came`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes, ranks or axes that do not fit together.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// An element type that the operation does not take.
class DTypeError : public Error {
 public:
  using Error::Error;
};

/// An index or an id outside its range.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// A file that is missing, damaged, or cannot be written.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Memory that the system would not give.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// A number or an option outside what the operation takes.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// A graph of gradients used in a way it does not allow.
class GraphError : public Error {
 public:
  using Error::Error;
};

/// Throws E with a formatted message: `raise<ShapeError>("[matmul] inner sizes differ: {} x {}", a, b)`.
template <class E, class... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  throw E(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace heed
