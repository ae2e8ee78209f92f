// Calls whose path leads through an external link: they are made once more, in the file that it
// leads to.
#pragma once

#include "layers/object/connector/containers.hpp"
#include "vol/under.hpp"

namespace headrace::object {

// The file that an external link of another one leads to, open as long as this lives. It may be
// native. Throws Error.
class LinkedFile {
 public:
  // `from`: an open object of the file with the link. `list`: a link access list, or 0.
  LinkedFile(const void* from, const Outside& way, hid_t list);
  LinkedFile(const LinkedFile&) = delete;
  LinkedFile& operator=(const LinkedFile&) = delete;
  ~LinkedFile();
  [[nodiscard]] void* get() const { return file_; }
  // What the way goes on to.
  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  static thread_local unsigned depth_;
  std::string path_;
  Id<Kind::file> id_;
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
      H5VL_loc_params_t there = *where;
      there.obj_type = H5I_FILE;
      std::tuple<Rest...> given(rest...);
      if (where->type == H5VL_OBJECT_BY_NAME)
        there.loc_data.loc_by_name.name = file.path();
      else if (where->type == H5VL_OBJECT_BY_IDX)
        there.loc_data.loc_by_idx.name = file.path();
      else if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Rest...>>, const char*>)
        std::get<0>(given) = file.path();
      const auto again = vol::Route<callback>::direct(own_class());
      return std::apply([&](Rest... all) { return again(file.get(), &there, all...); }, given);
    }
  }
};

struct AcrossFiles : Containers {
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
  HEADRACE_ACROSS(object_optional)
  HEADRACE_ACROSS(object_specific)
#undef HEADRACE_ACROSS
};

}  // namespace headrace::object
