// What a trace says of the process that it is of.
#pragma once

#include <string>

#include "base/report/json.hpp"

namespace headrace::trace {

// `anonymous`: without the words of the command.
JsonObject process_facts(bool anonymous);

// Whether the parent runs what this process runs, with the same words: it has forked this one, as
// Python's multiprocessing does.
bool is_parents_program();

// A list of the names of HDF5's callbacks, in the order of their numbers.
std::string callback_names();

}  // namespace headrace::trace
