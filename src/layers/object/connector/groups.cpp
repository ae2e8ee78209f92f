#include "base/report/printable.hpp"
#include "layers/object/connector/containers.hpp"
#include "layers/object/container/encoded.hpp"
#include "layers/object/container/iterate.hpp"

namespace headrace::object {
namespace {

// The root group has its file's list.
Id<Kind::plist> group_creation_list(File& file, const objects::Object& group) {
  if (group.place().object != file.container.root()->place().object)
    return decoded_list(group.header().creation, h5.group_list.get());
  Id<Kind::plist> list(h5.Pcopy(h5.group_list.get()));
  unsigned order = 0;
  if (h5.Pget_link_creation_order(file.creation.get(), &order) >= 0)
    h5.Pset_link_creation_order(list.get(), order);
  if (h5.Pget_attr_creation_order(file.creation.get(), &order) >= 0)
    h5.Pset_attr_creation_order(list.get(), order);
  return list;
}

void mount(const void* self, const char* name, const void* child) {
  const Found point = find(self, name);
  if (point.object == nullptr) throw Error("group not found: " + printable(name));
  require_group(point);
  const Opening& opening = vol::TerminalObject::from(self).opening();
  Mounts::mount(opening, point.object->place().object,
                path_of(file_of(self), *point.object, point.path),
                vol::TerminalObject::from(child).opening());
}

// By the root of what is mounted, or by the group that it is mounted at.
void unmount(const void* self, const char* name) {
  const Found point = find(self, name);
  if (point.object == nullptr) throw Error("group not found: " + printable(name));
  File& file = file_of(self);
  const objects::ObjectId group = point.object->place().object;
  const Opening& opening = vol::TerminalObject::from(self).opening();
  if (group == file.container.root()->place().object && file.mounts.parent_of(opening) != nullptr)
    Mounts::unmount(opening);
  else
    file.mounts.unmount_at(group);
}

}  // namespace

void* Containers::group_create(void* self, Loc where, const char* name, hid_t lcpl, hid_t gcpl,
                               hid_t gapl, hid_t /*dxpl*/, void** /*req*/) {
  require_writable(self);
  require_lists({lcpl, gcpl, gapl});
  objects::Header header;
  header.creation = encoded_list(gcpl, h5.group_list.get());
  unsigned order = 0;
  header.in_order =
      h5.Pget_link_creation_order(gcpl, &order) >= 0 && (order & H5P_CRT_ORDER_TRACKED) != 0;
  return created(self, *where, name, lcpl, std::move(header));
}

void* Containers::group_open(void* self, Loc where, const char* name, hid_t /*gapl*/,
                             hid_t /*dxpl*/, void** /*req*/) {
  Found found = named_from(self, *where, name);
  require_group(found);
  return handed(self, std::move(found));
}

herr_t Containers::group_get(void* self, H5VL_group_get_args_t* args, hid_t /*dxpl*/,
                             void** /*req*/) {
  File& file = file_of(self);
  if (args->op_type == H5VL_GROUP_GET_GCPL) {
    args->args.get_gcpl.gcpl_id =
        copied(group_creation_list(file, *found_in(self).object), h5.Pcopy);
    return 0;
  }
  const Found found = resolve(self, args->args.get_info.loc_params);
  require_group(found);
  const objects::Links& links = file.container.links(*found.object);
  *args->args.get_info.ginfo = {H5G_STORAGE_TYPE_COMPACT, links.count(),
                                static_cast<std::int64_t>(links.stamps()),
                                file.mounts.child_at(found.object->place().object) != nullptr};
  return 0;
}

herr_t Containers::group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                                  void** req) {
  const auto& in = args->args;
  switch (args->op_type) {
    case H5VL_GROUP_MOUNT:
      mount(self, in.mount.name, in.mount.child_file);
      break;
    case H5VL_GROUP_UNMOUNT:
      unmount(self, in.unmount.name);
      break;
    case H5VL_GROUP_FLUSH:
      flush(self);
      break;
    case H5VL_GROUP_REFRESH:
      refresh(self);
      break;
    default:
      return Terminal::group_specific(self, args, dxpl, req);
  }
  return 0;
}

}  // namespace headrace::object
