// What programs ask of a layer by name: HDF5's optional operations.
#pragma once

#include <span>

#include "vol/object.hpp"

namespace headrace::vol {

// `carry_out` may throw Error; `args` are the program's.
struct Operation {
  const char* name;
  H5VL_subclass_t kind;
  void (*carry_out)(Object& object, void* args);
  int number = -1;  // the library's; none yet
};

// Makes the operations known to the library, by their names.
void register_operations(std::span<Operation> operations);

// The operation that the library's number means; null when it is none of these.
const Operation* find_operation(std::span<const Operation> operations, H5VL_subclass_t kind,
                                int number);

// Whether a connector below knows the operation of that name for an object.
bool is_known_below(const Object& object, H5VL_subclass_t kind, const char* name);

// Takes what fits of `args` into a struct, or of an answer into `args`. Either begins with its
// size, and a caller may have been made with a shorter one. Throws Error when it tells none.
void take_arguments(const void* args, void* given, std::size_t size);
void give_answer(void* args, const void* answer, std::size_t size);

}  // namespace headrace::vol
