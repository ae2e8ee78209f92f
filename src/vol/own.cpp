// Forwarders of the callbacks whose arguments hold further objects or property lists.
#include <algorithm>

#include "vol/pass_through.hpp"

namespace headrace::vol::own {
namespace {

// The connector below two objects of which one may be missing (a link to the same location).
const UnderRef& connector_of(const void* a, const void* b) {
  if (a != nullptr && b != nullptr)
    Object::from(a).connector->require_same(*Object::from(b).connector);
  return Object::from(a != nullptr ? a : b).connector;
}

// The objects below an array of ours. Reads and writes of one dataset allocate nothing.
class UnderObjects {
 public:
  UnderObjects(std::size_t count, void* const objects[]) : data_(few_.data()) {
    if (count > few_.size()) {
      many_.resize(count);
      data_ = many_.data();
    }
    std::transform(objects, objects + count, data_, &Object::under_of);
  }
  void** data() { return data_; }

 private:
  std::array<void*, 4> few_{};
  std::vector<void*> many_;
  void** data_;
};

template <Callback callback, typename Buffer>
herr_t transfer(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                hid_t file_space[], hid_t dxpl, Buffer buf[], void** req) {
  if (count == 0) return 0;
  const UnderRef connector = Object::from(dset[0]).connector;
  for (std::size_t i = 1; i < count; ++i) connector->require_same(*Object::from(dset[i]).connector);
  UnderObjects objects(count, dset);
  const herr_t result = call_under<callback>(*connector, count, objects.data(), mem_type, mem_space,
                                             file_space, dxpl, buf, req);
  wrap_request(req, connector);
  return result;
}

template <Callback callback>
herr_t link_between(void* from, const H5VL_loc_params_t* from_loc, void* to,
                    const H5VL_loc_params_t* to_loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                    void** req) {
  const UnderRef connector = connector_of(from, to);
  const LinkFiles files(*connector, {lapl, list_of(from_loc), list_of(to_loc)});
  const herr_t result = call_under<callback>(*connector, Object::under_of(from), from_loc,
                                             Object::under_of(to), to_loc, lcpl, lapl, dxpl, req);
  wrap_request(req, connector);
  return result;
}

}  // namespace

herr_t dataset_read(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                    hid_t file_space[], hid_t dxpl, void* buf[], void** req) {
  return transfer<Callback::dataset_read>(count, dset, mem_type, mem_space, file_space, dxpl, buf,
                                          req);
}

herr_t dataset_write(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                     hid_t file_space[], hid_t dxpl, const void* buf[], void** req) {
  return transfer<Callback::dataset_write>(count, dset, mem_type, mem_space, file_space, dxpl, buf,
                                           req);
}

herr_t link_create(H5VL_link_create_args_t* args, void* self, const H5VL_loc_params_t* loc,
                   hid_t lcpl, hid_t lapl, hid_t dxpl, void** req) {
  H5VL_link_create_args_t under_args = *args;
  void* target = nullptr;
  if (args->op_type == H5VL_LINK_CREATE_HARD) {
    target = args->args.hard.curr_obj;
    under_args.args.hard.curr_obj = Object::under_of(target);
  }
  const UnderRef connector = connector_of(self, target);
  const H5VL_loc_params_t* target_loc =
      target == nullptr ? nullptr : &args->args.hard.curr_loc_params;
  const LinkFiles files(*connector, {lapl, list_of(loc), list_of(target_loc)});
  const herr_t result = call_under<Callback::link_create>(
      *connector, &under_args, Object::under_of(self), loc, lcpl, lapl, dxpl, req);
  wrap_request(req, connector);
  return result;
}

herr_t link_copy(void* from, const H5VL_loc_params_t* from_loc, void* to,
                 const H5VL_loc_params_t* to_loc, hid_t lcpl, hid_t lapl, hid_t dxpl, void** req) {
  return link_between<Callback::link_copy>(from, from_loc, to, to_loc, lcpl, lapl, dxpl, req);
}

herr_t link_move(void* from, const H5VL_loc_params_t* from_loc, void* to,
                 const H5VL_loc_params_t* to_loc, hid_t lcpl, hid_t lapl, hid_t dxpl, void** req) {
  return link_between<Callback::link_move>(from, from_loc, to, to_loc, lcpl, lapl, dxpl, req);
}

herr_t object_copy(void* from, const H5VL_loc_params_t* from_loc, const char* from_name, void* to,
                   const H5VL_loc_params_t* to_loc, const char* to_name, hid_t ocpypl, hid_t lcpl,
                   hid_t dxpl, void** req) {
  const UnderRef connector = connector_of(from, to);
  const LinkFiles files(*connector, {list_of(from_loc), list_of(to_loc)});
  const herr_t result = call_under<Callback::object_copy>(*connector, Object::under_of(from),
                                                          from_loc, from_name, Object::under_of(to),
                                                          to_loc, to_name, ocpypl, lcpl, dxpl, req);
  wrap_request(req, connector);
  return result;
}

herr_t group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl, void** req) {
  H5VL_group_specific_args_t under_args = *args;
  if (args->op_type == H5VL_GROUP_MOUNT) {
    connector_of(self, args->args.mount.child_file);
    under_args.args.mount.child_file = Object::under_of(args->args.mount.child_file);
  }
  return forward<Callback::group_specific>(Object::from(self), &under_args, dxpl, req);
}

herr_t file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req) {
  Object& object = Object::from(self);
  const herr_t result = forward<Callback::file_get>(object, args, dxpl, req);
  if (result >= 0 && args->op_type == H5VL_FILE_GET_FAPL)
    hide_driver(args->args.get_fapl.fapl_id, object.connector->seat());
  return result;
}

// Of maps, which have no callbacks of their own.
herr_t optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
  const UnderRef connector = Object::from(self).connector;
  const herr_t result = forward<Callback::optional>(Object::from(self), args, dxpl, req);
  if (result < 0 || (args->op_type != H5VL_MAP_CREATE && args->op_type != H5VL_MAP_OPEN))
    return result;
  auto* const map = static_cast<H5VL_map_args_t*>(args->args);
  void*& made = args->op_type == H5VL_MAP_CREATE ? map->create.map : map->open.map;
  if (made != nullptr) made = new Object{made, connector};
  return result;
}

herr_t file_specific(const Layer& layer, void* self, H5VL_file_specific_args_t* args, hid_t dxpl,
                     void** req) {
  const bool probes = args->op_type == H5VL_FILE_IS_ACCESSIBLE;
  if (!probes && args->op_type != H5VL_FILE_DELETE) {
    const UnderRef connector = Object::from(self).connector;
    const herr_t result = forward<Callback::file_specific>(Object::from(self), args, dxpl, req);
    if (args->op_type == H5VL_FILE_REOPEN && result >= 0 && *args->args.reopen.file != nullptr)
      *args->args.reopen.file = new Object{*args->args.reopen.file, connector};
    return result;
  }
  // What lies below us is what failed, and its records must stay as they are.
  if (is_search(*args)) {
    *args->args.is_accessible.accessible = false;
    return 0;
  }
  // These two come with a name and a property list instead of an object.
  const QuietForwarding quiet;
  H5VL_file_specific_args_t under_args = *args;
  hid_t& fapl = probes ? under_args.args.is_accessible.fapl_id : under_args.args.del.fapl_id;
  const FileAccess access(fapl, layer);
  fapl = access.under_fapl();
  void* const none = nullptr;
  const herr_t result =
      call_under<Callback::file_specific>(*access.connector(), none, &under_args, dxpl, req);
  wrap_request(req, access.connector());
  return result;
}

}  // namespace headrace::vol::own
