// The one source of the tests that is compiled with the names of folders: an object of any other is the same
// in every copy of the repository, and a compiler cache needs it once.
#include "tests/support/paths.h"

namespace heed::test {

std::string source_path(const std::string& name) { return HEED_TESTS_FOLDER "/" + name; }

std::string program_path(const std::string& name) { return HEED_PROGRAMS_FOLDER "/" + name; }

}  // namespace heed::test
