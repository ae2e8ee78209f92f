#include <cstring>
#include <limits>

#include "layers/object/connector/containers.hpp"
#include "layers/object/container/copy.hpp"
#include "layers/object/container/iterate.hpp"
#include "layers/object/copying/copier.hpp"

namespace headrace::object {
namespace {

void change_count(const void* self, int by) {
  require_writable(self);
  objects::Container& container = file_of(self).container;
  const objects::Handle object = found_in(self).object;
  if (by < 0 && object->header().links < static_cast<std::uint64_t>(-by))
    throw Error("an object has fewer links than are taken off");
  // There is no link that tells of it.
  if (by > 0) container.change(object).kept = true;
  for (; by > 0; --by) container.hold(object);
  for (; by < 0; ++by) container.release(object);
}

// As HDF5 finds it among its ids, or a new one where the program has closed it. References ask for
// that of the file that types know.
void* file_for(File& file, const void* self) {
  const vol::TerminalObject& object = vol::TerminalObject::from(self);
  if (!file.is_for_types(self))
    if (void* const opened = vol::open_file_of(object); opened != nullptr) return opened;
  if (vol::TerminalObject* const other = file.file_object(); other != nullptr) return other->face();
  for (vol::TerminalObject* one : file.objects())
    if (!file.is_for_types(one))
      return vol::handed(
          std::make_unique<Open>(H5I_FILE, one->opening(), Found{file.container.root(), "/"}));
  throw Error("the file is closed");
}

// From the root that its file is mounted below.
std::string name_of(const vol::TerminalObject& through, const Found& found) {
  File& file = file_of(through);
  std::string path = path_of(file, *found.object, found.path);
  if (file.mounts.none() || path.empty()) return path;
  const std::string prefix = Mounts::prefix_of(through.opening());
  return !prefix.empty() && path == "/" ? prefix : prefix + path;
}

}  // namespace

void* Containers::object_open(void* self, Loc where, H5I_type_t* type, hid_t /*dxpl*/,
                              void** /*req*/) {
  Found found = resolve(self, *where);
  *type = type_of(*found.object);
  return handed(self, std::move(found));
}

herr_t Containers::object_copy(void* from, Loc from_where, const char* from_name, void* to,
                               Loc to_where, const char* to_name, hid_t ocpypl, hid_t lcpl,
                               hid_t /*dxpl*/, void** /*req*/) {
  require_writable(to);
  resolve(from, *from_where);
  resolve(to, *to_where);
  if (&file_of(from) != &file_of(to)) {
    copy_between({own_class(), from, from_where->obj_type}, from_name,
                 {own_class(), to, to_where->obj_type}, to_name, {ocpypl, lcpl});
    return 0;
  }
  const Found source = named_from(from, *from_where, from_name);
  copy(source, to, to_name, ocpypl, lcpl);
  return 0;
}

herr_t Containers::object_get(void* self, Loc where, H5VL_object_get_args_t* args, hid_t dxpl,
                              void** req) {
  const vol::TerminalObject& object = vol::TerminalObject::from(self);
  File& file = file_of(object);
  auto& out = args->args;
  if (args->op_type == H5VL_OBJECT_GET_FILE) {
    *out.get_file.file = file_for(file, self);
    return 0;
  }
  const Found found = resolve(self, *where);
  if (args->op_type == H5VL_OBJECT_GET_NAME) {
    const auto& [size, buffer, length] = out.get_name;
    return_name(name_of(object, found), buffer, size, length);
  } else if (args->op_type == H5VL_OBJECT_GET_TYPE) {
    *out.get_type.obj_type = info_of(file, *found.object).type;
  } else if (object.type() != H5I_ATTR || where->type != H5VL_OBJECT_BY_SELF) {
    *out.get_info.oinfo = info_of(file, *found.object);
  } else {
    return Terminal::object_get(self, where, args, dxpl, req);
  }
  return 0;
}

herr_t Containers::object_specific(void* self, Loc where, H5VL_object_specific_args_t* args,
                                   hid_t /*dxpl*/, void** /*req*/) {
  switch (args->op_type) {
    case H5VL_OBJECT_CHANGE_REF_COUNT:
      change_count(self, args->args.change_rc.delta);
      return 0;
    case H5VL_OBJECT_EXISTS:
      *args->args.exists.exists = find(self, where->loc_data.loc_by_name.name).object != nullptr;
      return 0;
    case H5VL_OBJECT_LOOKUP:
      *args->args.lookup.token_ptr = token_of(resolve(self, *where).object->place().object);
      return 0;
    case H5VL_OBJECT_VISIT:
      return visit_objects(self, resolve(self, *where), args->args.visit);
    case H5VL_OBJECT_FLUSH:
      flush(self);
      return 0;
    case H5VL_OBJECT_REFRESH:
      refresh(self);
      return 0;
  }
  return -1;
}

herr_t Containers::object_optional(void* self, Loc where, H5VL_optional_args_t* args, hid_t dxpl,
                                   void** req) {
  if (carry_out_map_operation(self, *args)) return 0;
  auto* const native = static_cast<H5VL_native_object_optional_args_t*>(args->args);
  if (args->op_type == H5VL_NATIVE_OBJECT_GET_COMMENT) {
    auto& out = native->get_comment;
    std::size_t length = 0;
    return_name(resolve(self, *where).object->header().comment, static_cast<char*>(out.buf),
                out.buf_size, &length);
    if (out.comment_len != nullptr) *out.comment_len = length;
    return 0;
  }
  if (args->op_type == H5VL_NATIVE_OBJECT_SET_COMMENT) {
    require_writable(self);
    const char* const comment = native->set_comment.comment;
    file_of(self).container.change(resolve(self, *where).object).comment =
        comment == nullptr ? "" : comment;
    return 0;
  }
  return Terminal::object_optional(self, where, args, dxpl, req);
}

}  // namespace headrace::object
