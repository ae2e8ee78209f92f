#include "layers/object/container/iterate.hpp"

#include <cstring>
#include <limits>
#include <set>

#include "layers/object/container/encoded.hpp"

namespace headrace::object {
namespace {

using objects::Link;
using objects::Links;
using objects::NamedLink;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

Links::Index counted_by(const objects::Object& group, H5_index_t index) {
  if (index != H5_INDEX_CRT_ORDER) return Links::Index::name;
  if (!group.header().in_order) throw Error("creation order not tracked for links in group");
  return Links::Index::creation;
}

// A link below a group, by its path from there; of a hard one the object.
struct Walked {
  std::string path;
  Link link;
  Opening opening;  // the object's
  objects::Place place;
};
using Seen = std::set<std::pair<const File*, objects::ObjectId>>;

objects::Place root_of(const Opening& opening) {
  return file_of(opening).container.root()->place();
}

// Links below a group, each group's once; also of what is mounted below.
void collect(const Opening& opening, const objects::Object& group, const std::string& path,
             const H5VL_link_iterate_args_t& args, Seen& seen, std::vector<Walked>& links) {
  File& file = file_of(opening);
  // As natively: where the order is not tracked below, names do.
  const bool by_name = args.recursive && !group.header().in_order;
  const H5_index_t index = by_name ? H5_INDEX_NAME : args.idx_type;
  for (auto& [name, link] : links_of(file, group, index, args.order)) {
    std::string whole = path.empty() ? name : objects::joined(path, name);
    const bool is_hard = link.kind == Link::Kind::hard;
    const Opening mounted = is_hard ? file.mounts.child_at(link.object) : nullptr;
    const Opening in = mounted == nullptr ? opening : mounted;
    const objects::Place place =
        mounted == nullptr ? objects::Place{link.object, link.home} : root_of(mounted);
    const bool deeper =
        args.recursive && is_hard && seen.insert({&file_of(in), place.object}).second;
    links.emplace_back(whole, std::move(link), in, place);
    if (!deeper) continue;
    const objects::Handle below = file_of(in).container.open(place);
    if (type_of(*below) == H5I_GROUP) collect(in, *below, whole, args, seen, links);
  }
}

// The links of a group part by part, as a program may want to see a few only: a small one first.
class Parts {
 public:
  Parts(File& file, const objects::Object& group, H5_index_t index, H5_iter_order_t order)
      : links_(file.container.links(group)),
        index_(counted_by(group, index)),
        is_down_(order == H5_ITER_DEC) {}

  std::vector<NamedLink> first(std::uint64_t at) {
    if (!is_down_) return noted(links_.by_index(index_, at, most_));
    const std::uint64_t number = links_.number(index_);
    if (at >= number) return {};
    const std::uint64_t left = number - at;
    const std::uint64_t begin = left - std::min<std::uint64_t>(left, most_);
    return noted(links_.by_index(index_, begin, left - begin));
  }
  std::vector<NamedLink> next() {
    // Downwards the links in front of the last one are looked for again each time.
    const std::size_t largest = is_down_ ? 1024 : 256;
    most_ = std::min(2 * most_, largest);
    if (is_down_) return noted(links_.in_front_of(index_, last_, most_));
    if (index_ == Links::Index::name)
      return noted(links_.by_name(last_.first, /*behind=*/true, most_));
    return noted(links_.by_order(&last_.second, most_));
  }

 private:
  std::vector<NamedLink> noted(std::vector<NamedLink> part) {
    if (is_down_) std::ranges::reverse(part);
    if (!part.empty()) last_ = part.back();
    return part;
  }

  const Links& links_;
  Links::Index index_;
  bool is_down_;
  std::size_t most_ = 32;
  NamedLink last_;
};

// Links that the program's function makes are left out, as natively.
herr_t iterate_in_parts(void* self, const Found& found, const H5VL_link_iterate_args_t& args) {
  Parts parts(file_of(self), *found.object, args.idx_type, args.order);
  hsize_t own = 0;
  hsize_t& at = args.idx_p == nullptr ? own : *args.idx_p;
  std::vector<NamedLink> part = parts.first(at);
  if (at > 0 && part.empty()) throw Error("there are not so many to begin with");
  const std::uint64_t stamps = file_of(self).container.links(*found.object).stamps();
  const ProgramsId id(self, found);
  while (!part.empty()) {
    for (const auto& [name, link] : part) {
      if (link.stamp >= stamps) continue;
      const H5L_info2_t info = info_of(*found.object, link);
      ++at;
      if (const herr_t result = args.op(id.get(), name.c_str(), &info, args.op_data); result != 0)
        return result;
    }
    part = parts.next();
  }
  return 0;
}

bool tracks_attributes(const objects::Object& object) {
  if (object.header().creation.empty()) return false;
  const auto list = shared_list(object.header().creation, h5.dataset_list.get());
  unsigned flags = 0;
  return h5.Pget_attr_creation_order(list.get(), &flags) >= 0 &&
         (flags & H5P_CRT_ORDER_TRACKED) != 0;
}

}  // namespace

std::vector<NamedLink> links_of(File& file, const objects::Object& group, H5_index_t index,
                                H5_iter_order_t order) {
  const Links& links = file.container.links(group);
  const bool by_name = counted_by(group, index) == Links::Index::name;
  std::vector<NamedLink> all =
      by_name ? links.by_name("", false, kAll) : links.by_order(nullptr, kAll);
  if (order == H5_ITER_DEC) std::ranges::reverse(all);
  return all;
}

std::optional<NamedLink> link_of(File& file, const objects::Object& group, H5_index_t index,
                                 H5_iter_order_t order, hsize_t n) {
  const Links& links = file.container.links(group);
  const Links::Index by = counted_by(group, index);
  const std::uint64_t number = order == H5_ITER_DEC ? links.number(by) : n + 1;
  if (n >= number) return std::nullopt;
  auto found = links.by_index(by, order == H5_ITER_DEC ? number - 1 - n : n, 1);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::vector<objects::Attribute> attributes_of(const objects::Object& object, H5_index_t index,
                                              H5_iter_order_t order) {
  std::vector<objects::Attribute> all = object.header().attributes;
  if (index != H5_INDEX_NAME) std::ranges::stable_sort(all, {}, &objects::Attribute::stamp);
  if (order == H5_ITER_DEC) std::ranges::reverse(all);
  return all;
}

const objects::Attribute* attribute_at(const objects::Object& object, H5_index_t index,
                                       H5_iter_order_t order, hsize_t n) {
  const auto& all = object.header().attributes;
  if (n >= all.size()) return nullptr;
  const std::size_t at = order == H5_ITER_DEC ? all.size() - 1 - n : n;
  if (index == H5_INDEX_NAME) return &all[at];
  // Writers may have given one stamp each: their names decide, as in attributes_of().
  std::vector<std::pair<std::uint64_t, const objects::Attribute*>> stamped;
  stamped.reserve(all.size());
  for (const objects::Attribute& one : all) stamped.emplace_back(one.stamp, &one);
  const auto found = stamped.begin() + static_cast<std::ptrdiff_t>(at);
  std::ranges::nth_element(stamped, found);
  return found->second;
}

ProgramsId::ProgramsId(const void* through, const Found& found)
    : id_(h5.VLwrap_register(handed(through, found), type_of(*found.object))) {
  if (id_ < 0) throw Error("an object gets no id: " + root_cause());
}

H5L_info2_t info_of(const objects::Object& group, const Link& link) {
  H5L_info2_t info{};
  switch (link.kind) {
    case Link::Kind::hard:
      info.type = H5L_TYPE_HARD;
      info.u.token = token_of(link.object);
      break;
    case Link::Kind::soft:
      info.type = H5L_TYPE_SOFT;
      info.u.val_size = link.target.size() + 1;
      break;
    default:
      info.type = link.kind == Link::Kind::external ? H5L_TYPE_EXTERNAL
                                                    : static_cast<H5L_type_t>(link.user_class);
      info.u.val_size = link.target.size();
  }
  info.corder_valid = group.header().in_order;
  info.corder = info.corder_valid ? static_cast<std::int64_t>(link.stamp) : 0;
  info.cset = link.utf8 ? H5T_CSET_UTF8 : H5T_CSET_ASCII;
  return info;
}

H5A_info_t info_of(const File& file, const objects::Object& object,
                   const objects::Attribute& attribute) {
  H5A_info_t info{};
  info.corder_valid = tracks_attributes(object);
  info.corder = info.corder_valid ? static_cast<H5O_msg_crt_idx_t>(attribute.stamp) : 0;
  info.cset = attribute.utf8 ? H5T_CSET_UTF8 : H5T_CSET_ASCII;
  const auto type = decoded_type(attribute.type);
  const auto in_file = file.file_type(type.get());
  const auto space = decoded_space(attribute.space);
  info.data_size =
      static_cast<hsize_t>(std::max<hssize_t>(h5.Sget_simple_extent_npoints(space.get()), 0)) *
      h5.Tget_size(in_file.get());
  return info;
}

H5O_info2_t info_of(const File& file, const objects::Object& object) {
  const objects::Header& header = object.header();
  H5O_info2_t info{};
  info.fileno = file.fileno;
  info.token = token_of(object.place().object);
  info.type = type_of(object) == H5I_DATASET    ? H5O_TYPE_DATASET
              : type_of(object) == H5I_DATATYPE ? H5O_TYPE_NAMED_DATATYPE
              : type_of(object) == H5I_MAP      ? H5O_TYPE_MAP
                                                : H5O_TYPE_GROUP;
  info.rc = static_cast<unsigned>(header.links);
  info.ctime = info.mtime = static_cast<time_t>(header.changed);
  info.btime = info.atime = static_cast<time_t>(header.created);
  info.num_attrs = header.attributes.size();
  return info;
}

herr_t iterate_links(void* self, const Found& found, const H5VL_link_iterate_args_t& args) {
  require_group(found);
  if (!args.recursive) return iterate_in_parts(self, found, args);
  std::vector<Walked> links;
  Seen seen{{&file_of(self), found.object->place().object}};
  collect(vol::TerminalObject::from(self).opening(), *found.object, "", args, seen, links);
  const ProgramsId id(self, found);
  return for_each(links, args.idx_p, [&](const Walked& one) {
    const H5L_info2_t info = info_of(*found.object, one.link);
    return args.op(id.get(), one.path.c_str(), &info, args.op_data);
  });
}

herr_t iterate_attributes(void* self, const Found& found, const H5VL_attr_iterate_args_t& args) {
  const ProgramsId id(self, found);
  const auto all = attributes_of(*found.object, args.idx_type, args.order);
  return for_each(all, args.idx, [&](const objects::Attribute& one) {
    const H5A_info_t info = info_of(file_of(self), *found.object, one);
    return args.op(id.get(), one.name.c_str(), &info, args.op_data);
  });
}

herr_t visit_objects(void* self, const Found& found, const H5VL_object_visit_args_t& args) {
  File& file = file_of(self);
  std::vector<Walked> all;
  Seen seen{{&file, found.object->place().object}};
  if (type_of(*found.object) == H5I_GROUP) {
    const H5VL_link_iterate_args_t links{true,    args.idx_type, args.order,
                                         nullptr, nullptr,       nullptr};
    collect(vol::TerminalObject::from(self).opening(), *found.object, "", links, seen, all);
  }
  const ProgramsId id(self, found);
  Seen told{{&file, found.object->place().object}};
  const auto tell = [&](const char* name, const File& in, const objects::Object& object) {
    const H5O_info2_t info = info_of(in, object);
    return args.op(id.get(), name, &info, args.op_data);
  };
  if (const herr_t result = tell(".", file, *found.object); result != 0) return result;
  return for_each(all, nullptr, [&](const Walked& one) {
    File& in = file_of(one.opening);
    if (one.link.kind != Link::Kind::hard || !told.insert({&in, one.place.object}).second) return 0;
    return tell(one.path.c_str(), in, *in.container.open(one.place));
  });
}

}  // namespace headrace::object
