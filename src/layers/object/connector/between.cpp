// Copies between a container and a file that is none; and what is refused between them.
#include "layers/object/connector/object.hpp"
#include "layers/object/copying/copier.hpp"

namespace headrace::object {
namespace {

// A location is the object itself, wherever H5Ocopy is called.
Held held(void* object, const H5VL_loc_params_t& where) {
  if (where.type != H5VL_OBJECT_BY_SELF)
    throw Error("a copy between files begins at an open object", ErrorKind::unsupported);
  return {own_class(), object, where.obj_type};
}

bool are_of_two_kinds(const void* one, const void* other) {
  return one != nullptr && other != nullptr && vol::is_own(one) != vol::is_own(other);
}

struct PathOfLink {
  Held of;
  std::string path;
};

PathOfLink path_of(void* object, const H5VL_loc_params_t& where) {
  if (where.type != H5VL_OBJECT_BY_NAME)
    throw Error("a link is copied between files by its name", ErrorKind::unsupported);
  return {{own_class(), object, where.obj_type}, where.loc_data.loc_by_name.name};
}

// The link that was copied.
PathOfLink copied_link(void* from, const H5VL_loc_params_t& from_where, void* to,
                       const H5VL_loc_params_t& to_where, hid_t lcpl) {
  PathOfLink source = path_of(from, from_where);
  const PathOfLink target = path_of(to, to_where);
  copy_link(source.of, source.path, target.of, target.path, lcpl);
  return source;
}

}  // namespace

herr_t Connector::link_copy(void* from, const H5VL_loc_params_t* from_where, void* to,
                            const H5VL_loc_params_t* to_where, hid_t lcpl, hid_t lapl, hid_t dxpl,
                            void** req) {
  if (!are_of_two_kinds(from, to))
    return Mixed::link_copy(from, from_where, to, to_where, lcpl, lapl, dxpl, req);
  const NestedCalls nested;
  copied_link(from, *from_where, to, *to_where, lcpl);
  return 0;
}

herr_t Connector::link_move(void* from, const H5VL_loc_params_t* from_where, void* to,
                            const H5VL_loc_params_t* to_where, hid_t lcpl, hid_t lapl, hid_t dxpl,
                            void** req) {
  if (!are_of_two_kinds(from, to))
    return Mixed::link_move(from, from_where, to, to_where, lcpl, lapl, dxpl, req);
  const NestedCalls nested;
  const PathOfLink source = copied_link(from, *from_where, to, *to_where, lcpl);
  source.of.unlink(source.path);
  return 0;
}

herr_t Connector::group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                                 void** req) {
  if (args->op_type == H5VL_GROUP_MOUNT && are_of_two_kinds(self, args->args.mount.child_file))
    throw Error("a container and a file that is none cannot be mounted in each other",
                ErrorKind::unsupported);
  return Mixed::group_specific(self, args, dxpl, req);
}

herr_t Connector::object_copy(void* from, const H5VL_loc_params_t* from_where,
                              const char* from_name, void* to, const H5VL_loc_params_t* to_where,
                              const char* to_name, hid_t ocpypl, hid_t lcpl, hid_t dxpl,
                              void** req) {
  if (!are_of_two_kinds(from, to))
    return Mixed::object_copy(from, from_where, from_name, to, to_where, to_name, ocpypl, lcpl,
                              dxpl, req);
  const NestedCalls nested;
  copy_between(held(from, *from_where), from_name, held(to, *to_where), to_name, {ocpypl, lcpl});
  return 0;
}

}  // namespace headrace::object
