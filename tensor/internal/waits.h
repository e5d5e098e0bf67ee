#pragma once

namespace heed::internal {

/// Called before work is shared out for the first time: from then on, OpenMP threads that wait do so asleep.
///
/// GNU's OpenMP lets a thread that waits spin for about a millisecond, which beside another busy process
/// makes small parallel loops twenty times slower: the spinning thread holds the processor that the awaited
/// one needs. It spins a thousandth of that when it knows of more threads than there are processors. So a
/// team of two is started here and left asleep; where the library counts differently, nothing is lost.
void sleep_while_waiting();

}  // namespace heed::internal
