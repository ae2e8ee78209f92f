#include <cstring>

#include "base/report/printable.hpp"
#include "layers/object/connector/containers.hpp"
#include "layers/object/container/iterate.hpp"

namespace headrace::object {
namespace {

using objects::Link;

Link user_defined(H5L_type_t type, const void* data, std::size_t size) {
  Link link;
  link.kind = type == H5L_TYPE_EXTERNAL ? Link::Kind::external : Link::Kind::user;
  link.user_class = static_cast<std::uint8_t>(type);
  link.target.assign(static_cast<const char*>(data), size);
  return link;
}

void require_one_file(const void* one, const void* other, const char* what) {
  if (&file_of(one) != &file_of(other)) throw Error(what);
}

void link_to_object(const void* of, const H5VL_loc_params_t& where, const void* through,
                    const Parent& at, bool utf8) {
  require_one_file(of, through, "a hard link cannot lead to another file");
  const Found target = resolve(of, where);
  file_of(through).container.link(*at.group, at.name, target.object, utf8);
  auto* const open = dynamic_cast<Open*>(&vol::TerminalObject::from(of));
  if (open != nullptr && open->found.path.empty())
    open->found.path = objects::joined(at.path, at.name);  // it had no name until now
}

// A second link as an existing one.
void link_alike(File& file, const Parent& at, Link link) {
  if (link.kind == Link::Kind::hard)
    file.container.link(*at.group, at.name, file.container.open({link.object, link.home}),
                        link.utf8);
  else
    file.container.link(*at.group, at.name, std::move(link));
}

struct Two {
  Parent from;
  Parent to;
  Link link;
};

Two both_of(const void* from, const H5VL_loc_params_t& from_where, const void* to,
            const H5VL_loc_params_t& to_where, hid_t lcpl) {
  const void* const source = from == nullptr ? to : from;
  const void* const target = to == nullptr ? from : to;
  require_writable(target);
  Two two{link_at(source, from_where), {}, {}};
  two.link = existing_link(file_of(source), two.from);
  if (two.link.kind == Link::Kind::hard)
    require_one_file(source, target, "a hard link cannot be moved or copied to another file");
  two.to = link_at(target, to_where, lcpl);
  if (lcpl > 0) two.link.utf8 = is_utf8(lcpl);
  return two;
}

}  // namespace

herr_t Containers::link_create(H5VL_link_create_args_t* args, void* self, Loc where, hid_t lcpl,
                               hid_t lapl, hid_t /*dxpl*/, void** /*req*/) {
  require_lists({lcpl, lapl});
  auto& in = args->args;
  void* const through =
      self == nullptr && args->op_type == H5VL_LINK_CREATE_HARD ? in.hard.curr_obj : self;
  require_writable(through);
  const Parent at = link_at(through, *where, lcpl);
  const bool utf8 = is_utf8(lcpl);
  if (args->op_type == H5VL_LINK_CREATE_HARD) {
    link_to_object(in.hard.curr_obj == nullptr ? self : in.hard.curr_obj, in.hard.curr_loc_params,
                   through, at, utf8);
    return 0;
  }
  Link link;
  if (args->op_type == H5VL_LINK_CREATE_SOFT) {
    link.kind = Link::Kind::soft;
    link.target = in.soft.target;
  } else {
    link = user_defined(in.ud.type, in.ud.buf, in.ud.buf_size);
  }
  link.utf8 = utf8;
  file_of(through).container.link(*at.group, at.name, std::move(link));
  return 0;
}

herr_t Containers::link_copy(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                             hid_t lapl, hid_t /*dxpl*/, void** /*req*/) {
  require_lists({lcpl, lapl});
  Two two = both_of(from, *from_where, to, *to_where, lcpl);
  link_alike(file_of(to == nullptr ? from : to), two.to, std::move(two.link));
  return 0;
}

herr_t Containers::link_move(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                             hid_t lapl, hid_t /*dxpl*/, void** /*req*/) {
  require_lists({lcpl, lapl});
  const void* const source = from == nullptr ? to : from;
  require_writable(source);
  Two two = both_of(from, *from_where, to, *to_where, lcpl);
  link_alike(file_of(to == nullptr ? from : to), two.to, std::move(two.link));
  file_of(source).container.unlink(*two.from.group, two.from.name);
  return 0;
}

herr_t Containers::link_get(void* self, Loc where, H5VL_link_get_args_t* args, hid_t /*dxpl*/,
                            void** /*req*/) {
  const Parent at = link_at(self, *where);
  const Link link = existing_link(file_of(self), at);
  auto& out = args->args;
  if (args->op_type == H5VL_LINK_GET_INFO) {
    if (out.get_info.linfo != nullptr) *out.get_info.linfo = info_of(*at.group, link);
    return 0;
  }
  if (args->op_type == H5VL_LINK_GET_NAME) {
    return_name(at.name, out.get_name.name, out.get_name.name_size, out.get_name.name_len);
    return 0;
  }
  if (link.kind == Link::Kind::hard)
    throw Error(printable(at.name) + " is a hard link, which has no value");
  // The end of a path belongs to it.
  const std::size_t size = link.target.size() + (link.kind == Link::Kind::soft ? 1 : 0);
  if (out.get_val.buf != nullptr)
    std::memcpy(out.get_val.buf, link.target.c_str(), std::min(size, out.get_val.buf_size));
  return 0;
}

herr_t Containers::link_specific(void* self, Loc where, H5VL_link_specific_args_t* args,
                                 hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type == H5VL_LINK_ITER)
    return iterate_links(self, resolve(self, *where), args->args.iterate);
  File& file = file_of(self);
  if (args->op_type == H5VL_LINK_EXISTS) {
    const std::string path = where->loc_data.loc_by_name.name;
    bool& exists = *args->args.exists.exists;
    exists = path == "." || path.find_first_not_of('/') == std::string::npos;
    if (exists) return 0;
    const Parent at = link_at(self, *where);
    exists = file.container.links(*at.group).find(at.name).has_value();
    return 0;
  }
  require_writable(self);
  const Parent at = link_at(self, *where);
  existing_link(file, at);
  file.container.unlink(*at.group, at.name);
  return 0;
}

}  // namespace headrace::object
