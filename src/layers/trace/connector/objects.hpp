// What a trace calls the files and objects of a program, and what it says of datasets. The
// application's thread only; what is asked of HDF5 keeps the error stack as it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "layers/trace/connector/known_paths.hpp"
#include "vol/object.hpp"

namespace headrace::trace {

// Kept with a file (UnderConnector::state).
struct TracedFile {
  std::uint32_t id = 0;
  bool created = false;   // the program has made it with this handle
  bool parallel = false;  // ranks have opened it together
  unsigned level = 0;     // how many connectors of this layer are above
  KnownPaths known;
};

// Kept with each id of the program (Object::state). Several may be of one object.
struct TracedObject {
  explicit TracedObject(KnownRef object, std::uint32_t of_attribute = 0)
      : known(std::move(object)), name(of_attribute) {}

  KnownRef known;      // never null
  std::uint32_t name;  // of an attribute; what is known is of the object that has it
  // Of an attribute: elements, where known.
  std::uint64_t elements = 0;
  bool counted = false;
  // Of a dataset: all of it, as it was at a time of known_extents().
  std::uint32_t whole_shape = 0;
  std::uint64_t whole_elements = 0;
  std::uint64_t whole_time = 0;
};

// Names may lead to other objects from now on: an object that is opened has an id of its own.
inline void forget_paths() { KnownPaths::forget_all(); }
// A number that is another one after extents may have changed, and never 0.
std::uint64_t known_extents();
void forget_extents();

// Tells of a file that has been opened. `level`: how many connectors of this layer are above.
void tell_file(vol::Object& file, const char* name, bool created, bool parallel, unsigned level);

// What is kept with an object that a program holds; null where the trace knows nothing of its file.
// HDF5 is asked for its name where the program has come by it in a call that is none of opening:
// in an iteration, say.
TracedObject* traced(vol::Object& object, H5I_type_t type);

// That of an object that was made without one, and is to be linked later.
inline constexpr std::string_view kNoPath = "(no name)";
inline constexpr std::string_view kUnknownPath = "?";

// The path of what a call looks for below `parent`: by the place, and by the name, which is null
// where the call has none. Valid until the next call of this function.
std::string_view path_below(const TracedObject& parent, const H5VL_loc_params_t& place,
                            const char* name);

// Tells of an object that a call has opened or made.
void tell_object(vol::Object& object, H5I_type_t type, std::string_view path);
// Tells of an attribute that a call has opened or made of what it looked for. `name` may be null.
void tell_attribute(vol::Object& attribute, const TracedObject& parent,
                    const H5VL_loc_params_t& place, const char* name);
// Tells the name of an object that was made without one and is linked now: it keeps its id.
void tell_name(vol::Object& object, H5I_type_t type, std::string_view path);

// Tells of a dataset's elements and layout, once for each path, when a program has opened or made
// it over MPI: all ranks do so together where HDF5 needs them for the answer.
void note_opened(vol::Object& dataset, TracedObject& traced);
// The same elsewhere. `bytes`: of a transfer. Not before the second one of few bytes: questions
// cost as much as opening a tiny dataset.
void note_transfer(vol::Object& dataset, TracedObject& traced, std::uint64_t bytes);

}  // namespace headrace::trace
