#include "iterate.hpp"

#include <cstring>
#include <set>

#include "values.hpp"

namespace memory {
namespace {

// Links below a group with their paths from it, each group's once.
void collect(const Group& group, const std::string& path, const H5VL_link_iterate_args_t& args,
             std::set<std::uint64_t>& seen, std::vector<std::pair<std::string, Link>>& links) {
  for (const Link& link : ordered(group, args.idx_type, args.order)) {
    const std::string name = path.empty() ? link.name : path + '/' + link.name;
    links.emplace_back(name, link);
    const auto* below = dynamic_cast<const Group*>(link.node.get());
    if (args.recursive && below != nullptr && seen.insert(below->number).second)
      collect(*below, name, args, seen, links);
  }
}

const Group& group_at(const Place& place) {
  const auto* group = dynamic_cast<const Group*>(place.node.get());
  if (group == nullptr) throw Error(place.path + " is not a group");
  return *group;
}

}  // namespace

std::vector<Link> ordered(const Group& group, H5_index_t index, H5_iter_order_t order) {
  return ordered(group.entries, index, order, &Link::name);
}

std::vector<std::shared_ptr<Attribute>> ordered(const Node& node, H5_index_t index,
                                                H5_iter_order_t order) {
  return ordered(node.attributes, index, order,
                 [](const auto& attribute) -> const std::string& { return attribute->name; });
}

ProgramsId::ProgramsId(const void* through, const Place& place)
    : id_(h5.VLwrap_register(open(through, place), type_of(*place.node))) {
  if (id_ < 0) throw Error("an object gets no id: " + root_cause());
}

H5O_token_t token_of(const Node& node) {
  H5O_token_t token{};
  std::memcpy(&token, &node.number, sizeof node.number);
  return token;
}

H5L_info2_t info_of(const Link& link) {
  H5L_info2_t info{};
  info.type = link.node == nullptr ? H5L_TYPE_SOFT : H5L_TYPE_HARD;
  info.corder_valid = true;
  info.corder = link.order;
  info.cset = H5T_CSET_UTF8;
  if (link.node == nullptr)
    info.u.val_size = link.target.size() + 1;
  else
    info.u.token = token_of(*link.node);
  return info;
}

H5A_info_t info_of(const vol::TerminalObject& object, const Attribute& attribute) {
  H5A_info_t info{};
  info.corder_valid = true;
  info.corder = static_cast<H5O_msg_crt_idx_t>(attribute.order);
  info.cset = H5T_CSET_UTF8;
  info.data_size = size_of(object, attribute.values);
  return info;
}

H5O_info2_t info_of(const File& file, const Node& node) {
  H5O_info2_t info{};
  info.fileno = file.fileno;
  info.token = token_of(node);
  info.type = type_of(node) == H5I_DATASET ? H5O_TYPE_DATASET : H5O_TYPE_GROUP;
  info.rc = node.links;
  info.num_attrs = node.attributes.size();
  return info;
}

herr_t iterate_links(void* self, const Place& place, const H5VL_link_iterate_args_t& args) {
  std::vector<std::pair<std::string, Link>> links;
  std::set<std::uint64_t> seen{place.node->number};
  collect(group_at(place), "", args, seen, links);
  const ProgramsId id(self, place);
  return for_each(links, args.idx_p, [&](const auto& one) {
    const H5L_info2_t info = info_of(one.second);
    return args.op(id.get(), one.first.c_str(), &info, args.op_data);
  });
}

herr_t iterate_attributes(void* self, const Place& place, const H5VL_attr_iterate_args_t& args) {
  const ProgramsId id(self, place);
  return for_each(ordered(*place.node, args.idx_type, args.order), args.idx, [&](const auto& one) {
    const H5A_info_t info = info_of(vol::TerminalObject::from(self), *one);
    return args.op(id.get(), one->name.c_str(), &info, args.op_data);
  });
}

herr_t visit_objects(void* self, const Place& place, const H5VL_object_visit_args_t& args) {
  const File& file = file_of(vol::TerminalObject::from(self));
  std::vector<std::pair<std::string, Link>> all;
  std::set<std::uint64_t> seen{place.node->number};
  if (const auto* group = dynamic_cast<const Group*>(place.node.get())) {
    const H5VL_link_iterate_args_t links{true,    args.idx_type, args.order,
                                         nullptr, nullptr,       nullptr};
    collect(*group, "", links, seen, all);
  }
  const ProgramsId id(self, place);
  std::set<std::uint64_t> told{place.node->number};
  const auto tell = [&](const char* name, const Node& node) {
    const H5O_info2_t info = info_of(file, node);
    return args.op(id.get(), name, &info, args.op_data);
  };
  if (const herr_t result = tell(".", *place.node); result != 0) return result;
  return for_each(all, nullptr, [&](const auto& one) {
    const Node* const node = one.second.node.get();
    return node != nullptr && told.insert(node->number).second ? tell(one.first.c_str(), *node) : 0;
  });
}

}  // namespace memory
