// The rule for datasets that all ranks read whole and together: one rank reads, and sends what it
// has read to the others, where HDF5 would have each of them read (and decode) everything.
//
// Applies with `read_once=true`, to collective reads of one dataset whose elements are nothing but
// their bytes, into memory of one piece. Whether all ranks read the whole of the same dataset
// they ask each other before, with one number. What the transfer list tells after such a read is
// what it told before it. Memory: none.
#pragma once

#include "layers/tune/connector/file_state.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::tune {

// Collective where it is called for a collective transfer of a file that has `ranks`. None where
// the ranks are to read as ever. Throws Error, on all ranks, with the cause of the one that reads.
std::optional<herr_t> read_once(const vol::Transfer& read, void* buffer, Communicator& ranks);

}  // namespace headrace::tune
