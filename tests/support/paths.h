#pragma once

#include <string>

/// Where the tests' own files and the programs of this build lie.
namespace heed::test {

/// The path of something under tests/.
std::string source_path(const std::string& name);
/// The path of a fixture.
inline std::string fixture_path(const std::string& name) { return source_path("fixtures/" + name); }
/// The path of a program of the examples.
std::string program_path(const std::string& name);

}  // namespace heed::test
