// What HDF5 tells of an object that a call has opened, as far as another program needs it to make
// one like it (docs/formats/trace.md). The application's thread only, after the call.
#pragma once

#include <string>

#include "layers/trace/connector/callback_kinds.hpp"
#include "layers/trace/connector/objects.hpp"

namespace headrace::trace {

// Those calls that open what may have been there before the program.
constexpr bool opens_what_was_there(Callback callback) {
  return callback == Callback::file_open || callback == Callback::dataset_open ||
         callback == Callback::object_open || callback == Callback::datatype_open ||
         callback == Callback::attr_open;
}

// Of an object of that type, a JSON object of words of Arguments; empty of groups, of datasets that
// were told of before, and in files that the program makes. HDF5 answers from memory: no file is
// read.
std::string opened_words(const vol::Object& object, H5I_type_t type, TracedObject& traced);

}  // namespace headrace::trace
