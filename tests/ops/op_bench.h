#pragma once

#include <iosfwd>
#include <string>

namespace heed::test {

/// Times every case whose name contains `filter`, in f32, and prints a table with a line for each: the median
/// times of its forward and of its backward, and for a fused op those of its reference, both together, and
/// how many times longer that takes. Returns what the program should: 0, or 2 after one line on `errors`
/// where no case has such a name.
int bench_op_cases(const std::string& filter, std::ostream& table, std::ostream& errors);

}  // namespace heed::test
