// Which calls HDF5 carries out without a look at the raw data of datasets.
#pragma once

#include "vol/callbacks.hpp"

namespace headrace::vol {

// Callbacks in which it never reads, writes or counts what a dataset holds, and which programs make
// between the reads and writes of datasets.
constexpr bool leaves_raw_data_alone(Callback callback) {
  switch (callback) {
    case Callback::attr_create:
    case Callback::attr_open:
    case Callback::attr_read:
    case Callback::attr_write:
    case Callback::attr_get:
    case Callback::attr_specific:
    case Callback::attr_close:
    case Callback::dataset_create:
    case Callback::dataset_open:
    case Callback::dataset_read:  // see to it themselves
    case Callback::dataset_write:
    case Callback::dataset_close:
    case Callback::group_create:
    case Callback::group_open:
    case Callback::group_close:
    case Callback::link_create:
    case Callback::link_get:
    case Callback::object_open:
    case Callback::introspect_get_conn_cls:
    case Callback::introspect_get_cap_flags:
    case Callback::introspect_opt_query:
    case Callback::request_wait:
    case Callback::request_notify:
    case Callback::request_cancel:
    case Callback::request_specific:
    case Callback::request_optional:
    case Callback::request_free:
    case Callback::token_cmp:
    case Callback::token_to_str:
    case Callback::token_from_str:
      return true;
    default:
      return false;
  }
}

// The same of a call, by its arguments: whatever is not known does look.
template <typename... Args>
bool leaves_raw_data_alone(const Args&... /*args*/) {
  return false;
}
inline bool leaves_raw_data_alone(void* const& /*self*/, H5VL_dataset_get_args_t* const& args,
                                  const hid_t& /*dxpl*/, void** const& /*req*/) {
  return args->op_type != H5VL_DATASET_GET_SPACE_STATUS &&
         args->op_type != H5VL_DATASET_GET_STORAGE_SIZE;
}

inline bool leaves_raw_data_alone(void* const& /*self*/, const H5VL_loc_params_t* const& /*loc*/,
                                  H5VL_link_specific_args_t* const& args, const hid_t& /*dxpl*/,
                                  void** const& /*req*/) {
  return args->op_type == H5VL_LINK_EXISTS;
}

// Whether a call may delete objects.
template <typename... Args>
bool unlinks(const Args&... /*args*/) {
  return false;
}
inline bool unlinks(void* const& /*self*/, const H5VL_loc_params_t* const& /*loc*/,
                    H5VL_link_specific_args_t* const& args, const hid_t& /*dxpl*/,
                    void** const& /*req*/) {
  return args->op_type == H5VL_LINK_DELETE;
}
inline bool unlinks(void* const& /*self*/, const H5VL_loc_params_t* const& /*loc*/,
                    H5VL_object_specific_args_t* const& args, const hid_t& /*dxpl*/,
                    void** const& /*req*/) {
  return args->op_type == H5VL_OBJECT_CHANGE_REF_COUNT;
}

}  // namespace headrace::vol
