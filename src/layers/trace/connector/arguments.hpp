// What a call was given, as far as another program needs it to make the call again
// (docs/formats/trace.md). The application's thread only, after the call; what is asked of HDF5
// keeps the error stack as it was.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "vol/callbacks.hpp"
#include "vol/object.hpp"

namespace headrace::trace {

// One argument as JSON: `null` for those that another program need not know.
class Arguments {
 public:
  static std::string word(void* object);
  static std::string word(const H5VL_loc_params_t* place);
  static std::string word(const char* text);
  static std::string word(hid_t id);  // of a property list, a datatype or a dataspace
  // The same of what HDF5 has encoded one to.
  static std::string word_of_encoded(std::span<const unsigned char> bytes, H5I_type_t type);
  static std::string word(unsigned flags) { return std::to_string(flags); }
  static std::string word(bool flag) { return flag ? "true" : "false"; }
  static std::string word(const H5VL_attr_specific_args_t* args);
  static std::string word(const H5VL_attr_get_args_t* args);
  static std::string word(const H5VL_file_specific_args_t* args);
  static std::string word(const H5VL_link_create_args_t* args);
  static std::string word(const H5VL_link_get_args_t* args);
  static std::string word(const H5VL_link_specific_args_t* args);
  static std::string word(const H5VL_object_specific_args_t* args);
  template <typename Other>
  static std::string word(const Other& /*other*/) {
    return "null";
  }

  // All of a call's, a JSON array.
  template <typename... Args>
  static std::string words(const Args&... args) {
    std::string list;
    ((list += (list.empty() ? "" : ",") + word(unified(args))), ...);
    return '[' + list + ']';
  }

  // Those of an `H5Dset_extent`; null where the call is another one.
  static std::string extent(const vol::Object& dataset, const H5VL_dataset_specific_args_t& args);
  // What only the native connector does: where it looks, or what it is told; null of all others.
  static std::string native(vol::Callback callback, const H5VL_optional_args_t& args);
  // A list for each dataset: the object, the types and the dataspaces.
  static std::string transfers(std::size_t count, void* const datasets[], const hid_t mem_type[],
                               const hid_t mem_space[], const hid_t file_space[]);
  // How many elements or characters there are in each of the sequences of variable length that a
  // program writes, no more than a fixed number of them; null where they are none.
  static std::string lengths(hid_t type, std::size_t elements, const void* buffer);

 private:
  static std::string space_word(hid_t space);
  // Overloads go by the types of HDF5's pointers, whether it lends or gives what is there.
  template <typename T>
  static const T* unified(T* const& pointer) {
    return pointer;
  }
  static void* unified(void* const& object) { return object; }
  template <typename T>
  static T unified(const T& value) {
    return value;
  }
};

}  // namespace headrace::trace
