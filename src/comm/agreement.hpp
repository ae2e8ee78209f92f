// How ranks agree on what has become of a step, before one that some of them could wait in.
#pragma once

#include <exception>
#include <string>

#include "base/error.hpp"
#include "comm/communicator.hpp"

namespace headrace {

std::string text_of(const std::exception_ptr& error);

// Collective. Throws Error, on all ranks that of the first that has one; a process that is alone
// its own.
void agree(Communicator& ranks, const std::exception_ptr& error);

template <typename Action>
void do_together(Communicator& ranks, const Action& action) {
  agree(ranks, error_of(action));
}

// Collective: rank 0's text becomes everyone's.
void share(Communicator& ranks, std::string& text);

}  // namespace headrace
