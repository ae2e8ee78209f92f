// What a call of HDF5 is about for layers that hold data back or keep what they have read.
#pragma once

#include "vol/dataset/touched.hpp"
#include "vol/effects.hpp"

namespace headrace::vol::coherence {

// How far what a layer holds back must have got before HDF5 carries out a call, the least first.
enum class Strength {
  none,
  nameless,  // nothing is held under the name of an object any more
  seen,      // HDF5 sees it, in memory perhaps
  emptied,   // it is in the file, and the layer holds nothing
  unmarked,  // nor does the file say that somebody holds something
};

// What the call needs that has one of these effects.
struct Need {
  unsigned effects;
  Strength strength;
};

struct Call {
  Effects effects;
  Object* object;  // that it is made for; null where it has none

  // Whether it has one of those effects: not only perhaps, as what the table does not have.
  [[nodiscard]] bool surely(unsigned any) const {
    return !effects.any(effect::unknown) && effects.any(any);
  }
};

// A program that flushes by an object, which may be one behind an external link, flushes the file
// of that one.
template <Callback callback>
constexpr bool is_of_other_file(const Arguments<callback>& args) {
  if constexpr (callback == Callback::file_specific)
    return args.operation->op_type == H5VL_FILE_FLUSH &&
           args.operation->args.flush.obj_type != H5I_FILE;
  else
    return false;
}

template <Callback callback>
Call call_of(const Arguments<callback>& args) {
  Call call{effects_of(args), object_of(args)};
  if (is_of_other_file(args)) call.effects.reach = Reach::process;
  return call;
}

// The name of a file that the call opens, or looks at while it is not open here; else null.
template <Callback callback>
const char* file_named_by(const Arguments<callback>& args) {
  if constexpr (callback == Callback::file_create || callback == Callback::file_open) {
    return args.name;
  } else if constexpr (callback == Callback::file_specific) {
    const auto& asked = *args.operation;
    if (asked.op_type == H5VL_FILE_IS_ACCESSIBLE) return asked.args.is_accessible.filename;
    return asked.op_type == H5VL_FILE_DELETE ? asked.args.del.filename : nullptr;
  } else {
    return nullptr;
  }
}

// The new extent that a dataset gets; null where it does not, or where the file says which.
template <Callback callback>
const hsize_t* extent_given_by(const Arguments<callback>& args) {
  if constexpr (callback == Callback::dataset_specific)
    return args.operation->op_type == H5VL_DATASET_SET_EXTENT ? args.operation->args.set_extent.size
                                                              : nullptr;
  else
    return nullptr;
}

// The file that is mounted in another one; else null.
template <Callback callback>
Object* mounted_by(const Arguments<callback>& args) {
  if constexpr (callback == Callback::group_specific)
    return args.operation->op_type == H5VL_GROUP_MOUNT
               ? &Object::from(args.operation->args.mount.child_file)
               : nullptr;
  else
    return nullptr;
}

// The kind of objects that the callback's optional operations are of.
constexpr H5VL_subclass_t kind_of(Callback callback) {
  if (callback == Callback::file_optional) return H5VL_SUBCLS_FILE;
  return callback == Callback::dataset_optional ? H5VL_SUBCLS_DATASET : H5VL_SUBCLS_NONE;
}

}  // namespace headrace::vol::coherence
