// Calls that have their location in their arguments, or two of them, across files.
#include <headrace/map.h>

#include <optional>
#include <vector>

#include "layers/object/connector/across.hpp"
#include "vol/operations.hpp"

namespace headrace::object {
namespace {

template <vol::Callback callback, typename... Args>
auto again(Args... args) {
  return vol::Route<callback>::direct(own_class())(args...);
}

// A call on one object, with a location in its arguments: `where` is that, or null.
template <vol::Callback callback, auto function, typename Args, typename At>
herr_t follow(void* self, Args* args, const At& where, hid_t dxpl, void** req) {
  try {
    return function(self, args, dxpl, req);
  } catch (const Outside& way) {
    constexpr H5VL_loc_params_t kItself{H5I_GROUP, H5VL_OBJECT_BY_SELF, {}};
    const auto* const location = where(*args);
    const H5VL_loc_params_t given = location == nullptr ? kItself : *location;
    const LinkedFile file(self, way, list_of(given));
    Args there = *args;
    if (auto* const changed = where(there); changed != nullptr) *changed = file.there(way, given);
    return again<callback>(file.get(), &there, dxpl, req);
  }
}

// Where a location, or the name that is made or looked up there, is in the end.
class Place {
 public:
  // `name`: null where the location has it.
  Place(void* object, const H5VL_loc_params_t& where, const char* name)
      : object_(object), where_(where), name_(name == nullptr ? "" : name), has_name_(name) {}

  // Goes on through files while `look` throws Outside of what it looks at.
  template <typename Look>
  void follow(const Look& look) {
    while (object_ != nullptr && vol::TerminalObject::is(object_)) try {
        return look(object_, where_, name_.c_str());
      } catch (const Outside& way) {
        files_.push_back(std::make_unique<LinkedFile>(object_, way, list_of(where_)));
        const LinkedFile& file = *files_.back();
        where_ = file.there(way, where_);
        if (has_name_ && !way.is_same_path) name_ = file.path();
        object_ = file.get();
      }
  }
  [[nodiscard]] void* object() const { return object_; }
  [[nodiscard]] const H5VL_loc_params_t* where() const { return &where_; }
  [[nodiscard]] const char* name() const { return name_.c_str(); }

 private:
  void* object_;
  H5VL_loc_params_t where_;
  std::string name_;
  bool has_name_;
  std::vector<std::unique_ptr<LinkedFile>> files_;
};

Place place_of_link(void* object, const H5VL_loc_params_t& where) {
  Place place(object, where, nullptr);
  place.follow([](const void* at, const H5VL_loc_params_t& there, const char* /*name*/) {
    if (there.type != H5VL_OBJECT_BY_SELF) static_cast<void>(link_at(at, there));
  });
  return place;
}

Place place_of_object(void* object, const H5VL_loc_params_t& where) {
  Place place(object, where, nullptr);
  place.follow([](const void* at, const H5VL_loc_params_t& there, const char* /*name*/) {
    static_cast<void>(resolve(at, there));
  });
  return place;
}

// Runs a call, and once more where that leads out of a file.
template <typename Call, typename Again>
herr_t first_here(const Call& call, const Again& then) {
  try {
    return call();
  } catch (const Outside&) {
    return then();
  }
}

template <vol::Callback callback, auto function>
herr_t two_links(void* from, const H5VL_loc_params_t* from_where, void* to,
                 const H5VL_loc_params_t* to_where, hid_t lcpl, hid_t lapl, hid_t dxpl,
                 void** req) {
  return first_here([&] { return function(from, from_where, to, to_where, lcpl, lapl, dxpl, req); },
                    [&] {
                      const Place source = place_of_link(from == nullptr ? to : from, *from_where);
                      const Place target = place_of_link(to == nullptr ? from : to, *to_where);
                      return again<callback>(source.object(), source.where(), target.object(),
                                             target.where(), lcpl, lapl, dxpl, req);
                    });
}

}  // namespace

herr_t AcrossFiles::attr_get(void* self, H5VL_attr_get_args_t* args, hid_t dxpl, void** req) {
  const auto where = [](auto& given) -> H5VL_loc_params_t* {
    if (given.op_type == H5VL_ATTR_GET_INFO) return &given.args.get_info.loc_params;
    return given.op_type == H5VL_ATTR_GET_NAME ? &given.args.get_name.loc_params : nullptr;
  };
  return follow<vol::Callback::attr_get, &Containers::attr_get>(self, args, where, dxpl, req);
}

herr_t AcrossFiles::group_get(void* self, H5VL_group_get_args_t* args, hid_t dxpl, void** req) {
  const auto where = [](auto& given) -> H5VL_loc_params_t* {
    return given.op_type == H5VL_GROUP_GET_INFO ? &given.args.get_info.loc_params : nullptr;
  };
  return follow<vol::Callback::group_get, &Containers::group_get>(self, args, where, dxpl, req);
}

herr_t AcrossFiles::object_optional(void* self, Loc where, H5VL_optional_args_t* args, hid_t dxpl,
                                    void** req) {
  try {
    return Containers::object_optional(self, where, args, dxpl, req);
  } catch (const Outside& way) {
    const LinkedFile file(self, way, list_of(*where));
    const H5VL_loc_params_t there = file.there(way, *where);
    if (!makes_map(*args) || way.is_same_path)
      return again<vol::Callback::object_optional>(file.get(), &there, args, dxpl, req);
    headrace_map_create_t given{};
    vol::take_arguments(args->args, &given, sizeof given);
    given.size = sizeof given;
    given.name = file.path();
    H5VL_optional_args_t made{args->op_type, &given};
    return again<vol::Callback::object_optional>(file.get(), &there, &made, dxpl, req);
  }
}

// HDF5's own functions for maps; they have their locations in their arguments.
herr_t AcrossFiles::optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
  try {
    return Containers::optional(self, args, dxpl, req);
  } catch (const Outside& way) {
    auto& given = *static_cast<H5VL_map_args_t*>(args->args);
    H5VL_map_args_t there = given;
    const bool makes = args->op_type == H5VL_MAP_CREATE;
    const bool opens = args->op_type == H5VL_MAP_OPEN;
    const bool visits = there.specific.specific_type == H5VL_MAP_ITER;
    H5VL_loc_params_t& where = makes    ? there.create.loc_params
                               : opens  ? there.open.loc_params
                               : visits ? there.specific.args.iterate.loc_params
                                        : there.specific.args.del.loc_params;
    const LinkedFile file(self, way, list_of(where));
    if (where.type == H5VL_OBJECT_BY_SELF && !way.is_same_path) {
      if (makes) there.create.name = file.path();
      if (opens) there.open.name = file.path();
    }
    where = file.there(way, where);
    H5VL_optional_args_t asked{args->op_type, &there};
    const herr_t result = again<vol::Callback::optional>(file.get(), &asked, dxpl, req);
    if (makes) given.create.map = there.create.map;
    if (opens) given.open.map = there.open.map;
    return result;
  }
}

herr_t AcrossFiles::group_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
  try {
    return Containers::group_optional(self, args, dxpl, req);
  } catch (const Outside& way) {  // of H5VL_NATIVE_GROUP_GET_OBJINFO, the one that is answered
    H5VL_native_group_optional_args_t there =
        *static_cast<H5VL_native_group_optional_args_t*>(args->args);
    H5VL_loc_params_t& where = there.get_objinfo.loc_params;
    const LinkedFile file(self, way, list_of(where));
    where = file.there(way, where);
    H5VL_optional_args_t asked{args->op_type, &there};
    return again<vol::Callback::group_optional>(file.get(), &asked, dxpl, req);
  }
}

herr_t AcrossFiles::group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                                   void** req) {
  const bool mounts = args->op_type == H5VL_GROUP_MOUNT;
  if (!mounts && args->op_type != H5VL_GROUP_UNMOUNT)
    return Containers::group_specific(self, args, dxpl, req);
  try {
    return Containers::group_specific(self, args, dxpl, req);
  } catch (const Outside& way) {
    if (way.opening == nullptr) throw Error("mount path cannot contain links to external files");
    const LinkedFile file(self, way, kDefaultPlist);
    H5VL_group_specific_args_t there = *args;
    if (!way.is_same_path) (mounts ? there.args.mount.name : there.args.unmount.name) = file.path();
    return again<vol::Callback::group_specific>(file.get(), &there, dxpl, req);
  }
}

herr_t AcrossFiles::link_create(H5VL_link_create_args_t* args, void* self, Loc where, hid_t lcpl,
                                hid_t lapl, hid_t dxpl, void** req) {
  return first_here(
      [&] { return Containers::link_create(args, self, where, lcpl, lapl, dxpl, req); },
      [&] {
        const bool hard = args->op_type == H5VL_LINK_CREATE_HARD;
        void* const target = hard ? args->args.hard.curr_obj : nullptr;
        const Place link = place_of_link(self == nullptr ? target : self, *where);
        if (!hard)
          return again<vol::Callback::link_create>(args, link.object(), link.where(), lcpl, lapl,
                                                   dxpl, req);
        const Place of =
            place_of_object(target == nullptr ? self : target, args->args.hard.curr_loc_params);
        H5VL_link_create_args_t there = *args;
        there.args.hard.curr_obj = of.object();
        there.args.hard.curr_loc_params = *of.where();
        return again<vol::Callback::link_create>(&there, link.object(), link.where(), lcpl, lapl,
                                                 dxpl, req);
      });
}

herr_t AcrossFiles::link_copy(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                              hid_t lapl, hid_t dxpl, void** req) {
  return two_links<vol::Callback::link_copy, &Containers::link_copy>(from, from_where, to, to_where,
                                                                     lcpl, lapl, dxpl, req);
}

herr_t AcrossFiles::link_move(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                              hid_t lapl, hid_t dxpl, void** req) {
  return two_links<vol::Callback::link_move, &Containers::link_move>(from, from_where, to, to_where,
                                                                     lcpl, lapl, dxpl, req);
}

herr_t AcrossFiles::object_copy(void* from, Loc from_where, const char* from_name, void* to,
                                Loc to_where, const char* to_name, hid_t ocpypl, hid_t lcpl,
                                hid_t dxpl, void** req) {
  return first_here(
      [&] {
        return Containers::object_copy(from, from_where, from_name, to, to_where, to_name, ocpypl,
                                       lcpl, dxpl, req);
      },
      [&] {
        Place source(from, *from_where, from_name);
        source.follow([](const void* at, const H5VL_loc_params_t& there, const char* name) {
          static_cast<void>(named_from(at, there, name));
        });
        Place target(to, *to_where, to_name);
        target.follow([](const void* at, const H5VL_loc_params_t& /*there*/, const char* name) {
          static_cast<void>(find(at, name));
        });
        return again<vol::Callback::object_copy>(source.object(), source.where(), source.name(),
                                                 target.object(), target.where(), target.name(),
                                                 ocpypl, lcpl, dxpl, req);
      });
}

}  // namespace headrace::object
