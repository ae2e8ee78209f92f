#include <cstring>

#include "connector.hpp"
#include "iterate.hpp"

namespace memory {

void* Connector::group_create(void* self, Loc where, const char* name, hid_t lcpl, hid_t gcpl,
                              hid_t /*gapl*/, hid_t /*dxpl*/, void** /*req*/) {
  require_writable(vol::TerminalObject::from(self));
  resolve(self, where);
  auto made = std::make_shared<Group>(file_of(vol::TerminalObject::from(self)).next_number());
  made->creation = Id<Kind::plist>(h5.Pcopy(gcpl));
  if (name == nullptr) return open(self, {made, ""});
  const Parent parent = parent_of(self, name, lcpl);
  parent.group->add(parent.name, made);
  return open(self, {made, joined(parent.path, parent.name)});
}

void* Connector::group_open(void* self, Loc where, const char* name, hid_t /*gapl*/, hid_t /*dxpl*/,
                            void** /*req*/) {
  const Place place = name == nullptr ? resolve(self, where) : find(self, name);
  if (place.node == nullptr || type_of(*place.node) != H5I_GROUP)
    throw Error("not a group: " + std::string(name == nullptr ? "" : name));
  return open(self, place);
}

herr_t Connector::group_get(void* self, H5VL_group_get_args_t* args, hid_t /*dxpl*/,
                            void** /*req*/) {
  if (args->op_type == H5VL_GROUP_GET_GCPL) {
    const Node& node = *place_of(self).node;
    const Id<Kind::plist>& gcpl =
        node.creation ? node.creation : file_of(vol::TerminalObject::from(self)).creation;
    args->args.get_gcpl.gcpl_id = copied(gcpl, h5.Pcopy);
    return 0;
  }
  const Place place = resolve(self, &args->args.get_info.loc_params);
  const auto* group = dynamic_cast<const Group*>(place.node.get());
  if (group == nullptr) throw Error(place.path + " is not a group");
  *args->args.get_info.ginfo = {H5G_STORAGE_TYPE_COMPACT, group->entries.size(), group->made,
                                /*mounted=*/false};
  return 0;
}

herr_t Connector::group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                                 void** req) {
  if (args->op_type == H5VL_GROUP_FLUSH || args->op_type == H5VL_GROUP_REFRESH) return 0;
  return Terminal::group_specific(self, args, dxpl, req);
}

void* Connector::object_open(void* self, Loc where, H5I_type_t* type, hid_t /*dxpl*/,
                             void** /*req*/) {
  const Place place = resolve(self, where);
  *type = type_of(*place.node);
  return open(self, place);
}

herr_t Connector::object_get(void* self, Loc where, H5VL_object_get_args_t* args, hid_t dxpl,
                             void** req) {
  const vol::TerminalObject& object = vol::TerminalObject::from(self);
  const File& file = file_of(object);
  auto& out = args->args;
  if (args->op_type == H5VL_OBJECT_GET_FILE) {
    void* const open_file = vol::open_file_of(object);
    *out.get_file.file =
        open_file != nullptr
            ? open_file
            : vol::handed(std::make_unique<Open>(H5I_FILE, object.opening(), file.root, "/"));
    return 0;
  }
  const Place place = resolve(self, where);
  if (args->op_type == H5VL_OBJECT_GET_NAME) {
    const auto& [size, buffer, length] = out.get_name;
    return_name(path_of(file, *place.node, place.path), buffer, size, length);
  } else if (args->op_type == H5VL_OBJECT_GET_TYPE) {
    *out.get_type.obj_type = info_of(file, *place.node).type;
  } else if (object.type() != H5I_ATTR) {
    *out.get_info.oinfo = info_of(file, *place.node);
  } else {
    return Terminal::object_get(self, where, args, dxpl, req);
  }
  return 0;
}

herr_t Connector::object_specific(void* self, Loc where, H5VL_object_specific_args_t* args,
                                  hid_t dxpl, void** req) {
  switch (args->op_type) {
    case H5VL_OBJECT_EXISTS:
      *args->args.exists.exists = find(self, where->loc_data.loc_by_name.name).node != nullptr;
      return 0;
    case H5VL_OBJECT_LOOKUP:
      *args->args.lookup.token_ptr = token_of(*resolve(self, where).node);
      return 0;
    case H5VL_OBJECT_VISIT:
      return visit_objects(self, resolve(self, where), args->args.visit);
    case H5VL_OBJECT_FLUSH:
    case H5VL_OBJECT_REFRESH:
      return 0;
    default:
      return Terminal::object_specific(self, where, args, dxpl, req);
  }
}

}  // namespace memory
