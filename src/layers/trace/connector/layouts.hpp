// What a trace says of the elements and the layout of a dataset.
#pragma once

#include <cstdint>
#include <string>

#include "vol/object.hpp"

namespace headrace::trace {

// A fact, see docs/formats/trace.md. HDF5 answers from memory, so that a rank may ask on its own.
std::string layout_of(const vol::Object& dataset, std::uint32_t id);

// What is told of a datatype: its class, its size in bytes, and its order where it has one.
std::string type_words(hid_t type);

// A list of JSON numbers.
template <typename Numbers>
std::string list_of_numbers(const Numbers& numbers) {
  std::string list = "[";
  for (const auto number : numbers) {
    if (list.size() > 1) list += ',';
    list += std::to_string(number);
  }
  return list + ']';
}

}  // namespace headrace::trace
