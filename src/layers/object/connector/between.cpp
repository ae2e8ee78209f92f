// Copies between a container and a file that is none.
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

}  // namespace

herr_t Connector::object_copy(void* from, const H5VL_loc_params_t* from_where,
                              const char* from_name, void* to, const H5VL_loc_params_t* to_where,
                              const char* to_name, hid_t ocpypl, hid_t lcpl, hid_t dxpl,
                              void** req) {
  if (vol::is_own(from) == vol::is_own(to))
    return Mixed::object_copy(from, from_where, from_name, to, to_where, to_name, ocpypl, lcpl,
                              dxpl, req);
  const NestedCalls nested;
  copy_between(held(from, *from_where), from_name, held(to, *to_where), to_name, {ocpypl, lcpl});
  return 0;
}

}  // namespace headrace::object
