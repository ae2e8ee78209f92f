#include <cstring>

#include "connector.hpp"
#include "iterate.hpp"

namespace memory {
namespace {

// The group and the name of the link that a location means.
Parent link_at(const void* self, const H5VL_loc_params_t* where, hid_t lcpl = kInvalidId) {
  if (where->type == H5VL_OBJECT_BY_NAME)
    return parent_of(self, where->loc_data.loc_by_name.name, lcpl);
  if (where->type != H5VL_OBJECT_BY_IDX) throw Error("a link needs a name or an index");
  const auto& by = where->loc_data.loc_by_idx;
  const Place place = find(self, by.name);
  auto group = std::dynamic_pointer_cast<Group>(place.node);
  if (group == nullptr) throw Error(std::string("no group ") + by.name);
  const auto links = ordered(*group, by.idx_type, by.order);
  if (by.n >= links.size()) throw Error("no link has the index in " + place.path);
  return {std::move(group), place.path, links[by.n].name};
}

const Link& existing(const Parent& at) {
  const Link* link = at.group->find(at.name);
  if (link == nullptr) throw Error("object '" + at.name + "' doesn't exist in " + at.path);
  return *link;
}

}  // namespace

herr_t Connector::link_create(H5VL_link_create_args_t* args, void* self, Loc where, hid_t lcpl,
                              hid_t lapl, hid_t dxpl, void** req) {
  if (args->op_type == H5VL_LINK_CREATE_UD)
    return Terminal::link_create(args, self, where, lcpl, lapl, dxpl, req);
  auto& in = args->args;
  void* const through = self == nullptr ? in.hard.curr_obj : self;
  require_writable(vol::TerminalObject::from(through));
  const Parent at = link_at(through, where, lcpl);
  if (args->op_type == H5VL_LINK_CREATE_SOFT) {
    at.group->add(at.name, nullptr, in.soft.target);
    return 0;
  }
  void* const of = in.hard.curr_obj == nullptr ? self : in.hard.curr_obj;
  if (&file_of(vol::TerminalObject::from(of)) != &file_of(vol::TerminalObject::from(through)))
    throw Error("a hard link cannot lead to another file");
  const Place target = resolve(of, &in.hard.curr_loc_params);
  at.group->add(at.name, target.node);
  if (auto* open = dynamic_cast<Open*>(&vol::TerminalObject::from(of));
      open != nullptr && open->path.empty())
    open->path = joined(at.path, at.name);  // it had no name until now
  return 0;
}

herr_t Connector::link_move(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                            hid_t /*lapl*/, hid_t /*dxpl*/, void** /*req*/) {
  void* const source = from == nullptr ? to : from;
  void* const target = to == nullptr ? from : to;
  require_writable(vol::TerminalObject::from(source));
  if (&file_of(vol::TerminalObject::from(source)) != &file_of(vol::TerminalObject::from(target)))
    throw Error("a link cannot be moved to another file");
  const Parent old = link_at(source, from_where);
  const Link link = existing(old);
  const Parent at = link_at(target, to_where, lcpl);
  at.group->add(at.name, link.node, link.target);
  old.group->remove(old.name);
  return 0;
}

herr_t Connector::link_get(void* self, Loc where, H5VL_link_get_args_t* args, hid_t /*dxpl*/,
                           void** /*req*/) {
  const Link& link = existing(link_at(self, where));
  auto& out = args->args;
  if (args->op_type == H5VL_LINK_GET_INFO) {
    if (out.get_info.linfo != nullptr) *out.get_info.linfo = info_of(link);
  } else if (args->op_type == H5VL_LINK_GET_NAME) {
    return_name(link.name, out.get_name.name, out.get_name.name_size, out.get_name.name_len);
  } else {
    if (link.node != nullptr) throw Error(link.name + " is a hard link, which has no value");
    return_name(link.target, static_cast<char*>(out.get_val.buf), out.get_val.buf_size, nullptr);
  }
  return 0;
}

herr_t Connector::link_specific(void* self, Loc where, H5VL_link_specific_args_t* args,
                                hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type == H5VL_LINK_ITER)
    return iterate_links(self, resolve(self, where), args->args.iterate);
  if (args->op_type == H5VL_LINK_EXISTS) {
    const std::string path = where->loc_data.loc_by_name.name;
    const bool root = path.find_first_not_of('/') == std::string::npos;
    const Parent at = root ? Parent{} : link_at(self, where);
    *args->args.exists.exists = root || at.group->find(at.name) != nullptr;
    return 0;
  }
  require_writable(vol::TerminalObject::from(self));
  const Parent at = link_at(self, where);
  at.group->remove(at.name);
  return 0;
}

}  // namespace memory
