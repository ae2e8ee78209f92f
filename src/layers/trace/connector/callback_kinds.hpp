// What kinds of callbacks there are for a trace, and what is looked for among their arguments.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "vol/arguments.hpp"
#include "vol/hooks.hpp"

namespace headrace::trace {

using vol::Callback;

// Callbacks of infos and wrapping are HDF5's own doing, and it asks what a connector is able to.
constexpr bool is_recorded(Callback callback) {
  return vol::works_on_objects(callback) && callback != Callback::introspect_get_conn_cls &&
         callback != Callback::introspect_get_cap_flags &&
         callback != Callback::introspect_opt_query;
}

template <Callback callback>
concept Recorded = is_recorded(callback);

constexpr bool is_of_file(Callback callback) {
  return callback == Callback::file_create || callback == Callback::file_open;
}

// Those that name a file, which may be what a process does first: some are made of no object.
template <Callback callback>
bool names_file(const vol::Arguments<callback>& args) {
  if constexpr (callback == Callback::file_specific) return args.object == nullptr;
  return is_of_file(callback);
}

constexpr bool is_transfer(Callback callback) {
  return callback == Callback::dataset_read || callback == Callback::dataset_write;
}

// Those that return an object.
constexpr bool opens(Callback callback) {
  const std::string_view name = vol::kCallbackNames[static_cast<std::size_t>(callback)];
  return name.ends_with("_create") ? name != "link_create"
                                   : name.ends_with("_open") || name == "datatype_commit";
}

constexpr bool closes(Callback callback) {
  return std::string_view(vol::kCallbackNames[static_cast<std::size_t>(callback)])
      .ends_with("_close");
}

// What a callback works on for sure; others have a place among their arguments that tells, or are
// made for objects of several kinds: a file may be asked for its group.
constexpr H5I_type_t type_of(Callback callback) {
  const std::string_view name = vol::kCallbackNames[static_cast<std::size_t>(callback)];
  if (name.starts_with("dataset_")) return H5I_DATASET;
  return name == "file_close" ? H5I_FILE : H5I_BADID;
}

// What a callback opens or makes.
constexpr H5I_type_t opened_by(Callback callback) {
  const std::string_view name = vol::kCallbackNames[static_cast<std::size_t>(callback)];
  if (name.starts_with("group_")) return H5I_GROUP;
  if (name.starts_with("datatype_")) return H5I_DATATYPE;
  return name.starts_with("attr_") ? H5I_ATTR : type_of(callback);
}

// Where the object lies that a call is for, as seen from what it is given; null where it is that.
template <Callback callback>
const H5VL_loc_params_t* place_of(const vol::Arguments<callback>& args) {
  if constexpr (requires { args.place; })
    return args.place;
  else if constexpr (requires { args.from_place; })
    return args.from_place;
  else
    return nullptr;
}

template <Callback callback>
const char* name_in(const vol::Arguments<callback>& args) {
  if constexpr (requires { args.name; })
    return args.name;
  else
    return nullptr;
}

// Whether the call ends later.
template <Callback callback>
bool is_in_event_set(const vol::Arguments<callback>& args) {
  if constexpr (requires { args.req; })
    return args.req != nullptr;
  else
    return false;
}

// Those that a program makes again to make what it made; others are of HDF5's own making or waits.
constexpr bool has_arguments(Callback callback) {
  const std::string_view name = vol::kCallbackNames[static_cast<std::size_t>(callback)];
  return is_recorded(callback) && !closes(callback) && !name.starts_with("blob_") &&
         !name.starts_with("request_");
}

}  // namespace headrace::trace
