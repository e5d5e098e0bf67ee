#pragma once

namespace heed::translate {

/// Takes the standard descriptors that whoever started the program has closed, such that using them fails: a
/// file that is opened later would otherwise be the one that is printed to.
void reserve_standard_streams();

/// Sends what was printed on its way. FileError when that, or anything printed before, cannot be written.
void flush_output();

}  // namespace heed::translate
