// What the arguments of a call mean, in words. The callbacks' signatures have so few types in
// common that one function for each type explains nearly all; dataset_read and dataset_write, whose
// arguments are arrays, have one of their own.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/enum_name.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/callbacks.hpp"
#include "vol/dataset/transfer.hpp"
#include "vol/object.hpp"

namespace log_calls {

using namespace headrace;
using vol::Callback;

// ---- one argument, by its type; nothing where it says nothing

inline std::string words(const char* text) {
  return text == nullptr ? "no name" : '"' + std::string(text) + '"';
}

inline std::string words(unsigned flags) {  // of file_create and file_open
  if ((flags & 4U) != 0) return "must be new";
  if ((flags & 2U) != 0) return "made empty";
  return (flags & 1U) != 0 ? "to write" : "to read";
}

inline std::string words(hid_t id) {
  const PrivateErrors own;
  const H5I_type_t type = h5.Iget_type(id);
  if (type == H5I_DATATYPE)
    return enum_name(h5.Tget_class(id)) + " of " + std::to_string(h5.Tget_size(id)) + " bytes";
  if (type == H5I_DATASPACE) return std::to_string(h5.Sget_select_npoints(id)) + " element(s)";
  return {};  // property lists, and 0 in their place
}

inline std::string words(const H5VL_loc_params_t* place) {
  const auto& [name, order, field, n, lapl] = place->loc_data.loc_by_idx;
  if (place->type == H5VL_OBJECT_BY_NAME) return words(place->loc_data.loc_by_name.name);
  return place->type == H5VL_OBJECT_BY_IDX ? "number " + std::to_string(n) + " in " + words(name)
                                           : "";
}

inline std::string words(H5VL_optional_args_t* args) {
  return "operation " + std::to_string(args->op_type);
}

template <typename Args>
  requires std::is_enum_v<decltype(Args::op_type)>
std::string words(Args* args) {
  std::string text = enum_name(args->op_type);
  if constexpr (std::is_same_v<Args, H5VL_attr_specific_args_t>) {
    if (args->op_type == H5VL_ATTR_EXISTS) text += ' ' + words(args->args.exists.name);
    if (args->op_type == H5VL_ATTR_DELETE) text += ' ' + words(args->args.del.name);
  }
  return text;
}

template <typename T>
std::string words(T /*argument*/) {
  return {};
}

// ---- the object that a call works on

// The name of an object of ours, asked of the connector below. `type` must be its true one.
inline std::string name_of(void* object, H5I_type_t type) {
  if (object == nullptr) return {};
  const PrivateErrors own;
  const vol::Object& found = vol::Object::from(object);
  void* under = found.under;
  const vol::UnderRef& connector = found.connector;
  std::array<char, 256> name{"?"};
  std::size_t length = 0;
  if (type == H5I_FILE) {
    H5VL_file_get_args_t args{H5VL_FILE_GET_NAME, {}};
    args.args.get_name = {type, name.size() - 1, name.data(), &length};
    h5.VLfile_get(under, connector->id(), &args, kDefaultPlist, nullptr);
    return name.data();
  }
  const H5VL_loc_params_t self{type, H5VL_OBJECT_BY_SELF, {}};
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_NAME, {}};
  args.args.get_name = {name.size() - 1, name.data(), &length};
  h5.VLobject_get(under, &self, connector->id(), &args, kDefaultPlist, nullptr);
  if (type != H5I_ATTR) return name.data();
  const std::string owner = name.data();
  H5VL_attr_get_args_t attribute_args{H5VL_ATTR_GET_NAME, {}};
  attribute_args.args.get_name = {self, name.size() - 1, name.data(), &length};
  h5.VLattr_get(under, connector->id(), &attribute_args, kDefaultPlist, nullptr);
  return owner + '@' + name.data();
}

// What kind of object a callback works on, where its name tells for certain: others do not, a
// dataset may be flushed by file_specific, an attribute looked up by attr_get on a group.
constexpr H5I_type_t object_type(Callback callback) {
  const std::string_view name = vol::kCallbackNames[static_cast<std::size_t>(callback)];
  if (name.starts_with("dataset_")) return H5I_DATASET;
  if (name.starts_with("datatype_")) return H5I_DATATYPE;
  if (name == "attr_read" || name == "attr_write" || name == "attr_close") return H5I_ATTR;
  if (name == "group_close") return H5I_GROUP;
  return name == "file_close" ? H5I_FILE : H5I_BADID;
}

// ---- whole calls: "object  argument, argument, "

template <typename... Args>
std::string explain(const std::string& object, Args... args) {
  std::string text = object + (object.empty() ? " " : "  ");
  ((text += words(args), text += text.back() == ' ' ? "" : ", "), ...);
  return text;
}

template <Callback callback, typename... Args>
std::string meaning(Args... args) {
  return explain("", args...);
}

template <Callback callback, typename... Args>
  requires(object_type(callback) != H5I_BADID)
std::string meaning(void* object, Args... args) {
  return explain(name_of(object, object_type(callback)), args...);
}

template <Callback callback, typename... Args>
std::string meaning(void* object, const H5VL_loc_params_t* place, Args... args) {
  return explain(name_of(object, place->obj_type), place, args...);
}

template <Callback callback, typename Buffers>
std::string meaning(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                    hid_t file_space[], hid_t /*dxpl*/, Buffers /*buffers*/, void** /*request*/) {
  std::string names;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    names += name_of(dset[i], H5I_DATASET) + ' ';
    bytes += vol::Transfer(vol::Object::from(dset[i]), mem_type[i], mem_space[i], file_space[i],
                           kDefaultPlist)
                 .bytes();
  }
  return names + ' ' + std::to_string(count) + " dataset(s), " + std::to_string(bytes) + " bytes, ";
}

}  // namespace log_calls
