// Calls whose path leads through an external link or a mount: they are made once more, in the file
// that it leads to.
#pragma once

#include "layers/object/connector/containers.hpp"
#include "vol/under.hpp"

namespace headrace::object {

// The file that a way out of another one leads to, open as long as this lives. It may be native.
// Throws Error.
class LinkedFile {
 public:
  // `from`: an open object of the file that the way begins in. `list`: a link access list, or 0.
  LinkedFile(const void* from, const Outside& way, hid_t list);
  LinkedFile(const LinkedFile&) = delete;
  LinkedFile& operator=(const LinkedFile&) = delete;
  ~LinkedFile();
  // The file, or of one that is mounted or has mounts the root group.
  [[nodiscard]] void* get() const { return file_; }
  [[nodiscard]] H5I_type_t type() const { return root_ == nullptr ? H5I_FILE : H5I_GROUP; }
  // What the way goes on to.
  [[nodiscard]] const char* path() const { return path_.c_str(); }
  // A location of the call, as it is there.
  [[nodiscard]] H5VL_loc_params_t there(const Outside& way, const H5VL_loc_params_t& where) const;

 private:
  void open_external(const void* from, const Outside& way, hid_t list);

  static thread_local unsigned depth_;
  std::string path_;
  Id<Kind::file> id_;
  std::unique_ptr<Open> root_;
  void* file_ = nullptr;
};

// The link access list of a location, or 0.
inline hid_t list_of(const H5VL_loc_params_t& where) {
  if (where.type == H5VL_OBJECT_BY_NAME) return where.loc_data.loc_by_name.lapl_id;
  return where.type == H5VL_OBJECT_BY_IDX ? where.loc_data.loc_by_idx.lapl_id : kDefaultPlist;
}

// Whether all that is asked is whether an object exists, and its file cannot be opened: as natively
// it does not exist, then.
bool exists_not(const void* self, const Outside& way, const H5VL_loc_params_t& where,
                const H5VL_object_specific_args_t* args, hid_t dxpl, void** req);

// Of a callback whose path is in its location, or else in the name that it creates or opens.
template <vol::Callback callback, auto function, typename Signature = decltype(function)>
struct Across;

template <vol::Callback callback, auto function, typename R, typename... Rest>
struct Across<callback, function, R (*)(void*, const H5VL_loc_params_t*, Rest...)> {
  static R call(void* self, const H5VL_loc_params_t* where, Rest... rest) {
    try {
      return function(self, where, rest...);
    } catch (const Outside& way) {
      if constexpr (callback == vol::Callback::object_specific)
        if (exists_not(self, way, *where, rest...)) return 0;
      const LinkedFile file(self, way, list_of(*where));
      const H5VL_loc_params_t there = file.there(way, *where);
      std::tuple<Rest...> given(rest...);
      if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Rest...>>, const char*>)
        if (where->type == H5VL_OBJECT_BY_SELF && !way.is_same_path)
          std::get<0>(given) = file.path();
      const auto again = vol::Route<callback>::direct(own_class());
      return std::apply([&](Rest... all) { return again(file.get(), &there, all...); }, given);
    }
  }
};

// Calls that have their location in their arguments, or two of them.
struct AcrossFiles : Containers {
  static herr_t attr_get(void* self, H5VL_attr_get_args_t* args, hid_t dxpl, void** req);
  static herr_t group_get(void* self, H5VL_group_get_args_t* args, hid_t dxpl, void** req);
  static herr_t group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                               void** req);
  static herr_t object_optional(void* self, Loc where, H5VL_optional_args_t* args, hid_t dxpl,
                                void** req);
  static herr_t optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req);
  static herr_t group_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req);
  static herr_t link_create(H5VL_link_create_args_t* args, void* self, Loc where, hid_t lcpl,
                            hid_t lapl, hid_t dxpl, void** req);
  static herr_t link_copy(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                          hid_t lapl, hid_t dxpl, void** req);
  static herr_t link_move(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                          hid_t lapl, hid_t dxpl, void** req);
  static herr_t object_copy(void* from, Loc from_where, const char* from_name, void* to,
                            Loc to_where, const char* to_name, hid_t ocpypl, hid_t lcpl, hid_t dxpl,
                            void** req);
#define HEADRACE_ACROSS(name)                  \
  static constexpr vol::signature::name name = \
      &Across<vol::Callback::name, &Containers::name>::call;
  HEADRACE_ACROSS(attr_create)
  HEADRACE_ACROSS(attr_open)
  HEADRACE_ACROSS(attr_specific)
  HEADRACE_ACROSS(dataset_create)
  HEADRACE_ACROSS(dataset_open)
  HEADRACE_ACROSS(datatype_commit)
  HEADRACE_ACROSS(datatype_open)
  HEADRACE_ACROSS(group_create)
  HEADRACE_ACROSS(group_open)
  HEADRACE_ACROSS(link_get)
  HEADRACE_ACROSS(link_specific)
  HEADRACE_ACROSS(object_get)
  HEADRACE_ACROSS(object_open)
  HEADRACE_ACROSS(object_specific)
#undef HEADRACE_ACROSS
};

}  // namespace headrace::object
