#include "layers/object/copying/copier.hpp"

#include <cstring>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/object/container/map_values.hpp"
#include "layers/object/container/opened.hpp"
#include "layers/object/copying/committed_types.hpp"
#include "layers/object/copying/elements.hpp"
#include "layers/object/copying/regions.hpp"
#include "layers/object/elements/elements.hpp"
#include "objects/paths.hpp"

namespace headrace::object {
namespace {

bool is_root(const std::string& path) {
  return !path.empty() && path.find_first_not_of('/') == std::string::npos;
}

bool is_tracked(const Id<Kind::plist>& creation) {
  unsigned flags = 0;
  return h5.Pget_link_creation_order(creation.get(), &flags) >= 0 &&
         (flags & H5P_CRT_ORDER_TRACKED) != 0;
}

bool tracks_attributes(const Id<Kind::plist>& creation) {
  unsigned flags = 0;
  return h5.Pget_attr_creation_order(creation.get(), &flags) >= 0 &&
         (flags & H5P_CRT_ORDER_TRACKED) != 0;
}

// Of two containers.
Held copy_map(const Held& source, const Held& parent, const std::string& name, hid_t lcpl) {
  const objects::Object& old = *found_in(source.get()).object;
  objects::Header header = old.header();
  header.links = 0;
  header.kept = false;
  header.attributes.clear();
  File& file = file_of(parent.get());
  const objects::Handle made = file.container.create(std::move(header));
  copy_entries(file_of(source.get()), old, file, *made);
  const Parent at = parent_of(parent.get(), name, lcpl);
  file.container.link(*at.group, at.name, made, is_utf8(lcpl));
  return parent.open(name);
}

// Where an object is, in either file: from where the copy began.
struct Paths {
  std::string from;
  std::string to;
  [[nodiscard]] Paths below(const std::string& name) const {
    return {objects::joined(from, name), objects::joined(to, name)};
  }
};

class Copier {
 public:
  Copier(const Held& from, const Held& to, unsigned flags, const CopyLists& lists, bool whole)
      : from_(from),
        to_(to),
        flags_(flags),
        lists_(lists),
        is_whole_(whole),
        types_(from, to),
        regions_(from, to) {
    for (Id<Kind::plist>* const list : {&ascii_, &utf8_})
      *list = Id<Kind::plist>(h5.Pcopy(lists.links));
    h5.Pset_char_encoding(ascii_.get(), H5T_CSET_ASCII);
    h5.Pset_char_encoding(utf8_.get(), H5T_CSET_UTF8);
  }

  void copy_object(const Held& source, const Paths& at) {
    copy(source, to_, at.to, lists_.links, at, 0);
  }

  void copy_file(const Held& source, const Held& target) {
    const Paths root{"/", "/"};
    done_[token_of(source)] = root.to;
    copy_attributes(source, target, root);
    copy_links(source, target, root, 0);
    for (const Paths& at : later_)
      copy_dataset(from_.open(at.from), to_.open(at.to), named(at), new_references());
    for (const auto& [at, name] : attributes_later_)
      copy_attribute(from_.open(at.from).open_attribute(name), to_.open(at.to).open_attribute(name),
                     named(at, name), new_references());
  }

 private:
  static std::uint64_t token_of(const H5O_token_t& token) {
    std::uint64_t number = 0;
    std::memcpy(&number, &token, sizeof number);
    return number;
  }
  static std::uint64_t token_of(const Held& object) { return token_of(object.info().token); }
  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }
  static std::string named(const Paths& at) { return "dataset " + printable(at.from); }
  static std::string named(const Paths& at, const std::string& attribute) {
    return "attribute " + printable(attribute) + " of " + printable(at.from);
  }

  // What a copy has in the place of a reference: nothing, where it leads out of what is copied.
  [[nodiscard]] NewReferences new_references() {
    const auto path_of = [this](std::uint64_t token) -> std::optional<std::string> {
      const auto found = done_.find(token);
      if (found == done_.end()) return std::nullopt;
      return found->second;
    };
    const auto object = [this, path_of](std::uint64_t token) -> std::uint64_t {
      const auto path = is_whole_ ? path_of(token) : std::nullopt;
      if (!path) return 0;
      const auto [known, is_new] = new_tokens_.try_emplace(token, 0);
      if (is_new) known->second = token_of(to_.open(*path));
      return known->second;
    };
    const auto region = [this, path_of](const hdset_reg_ref_t& reference) {
      return is_whole_ ? regions_.copy_of(reference, path_of) : hdset_reg_ref_t{};
    };
    return {object, region};
  }

  void copy(const Held& source, const Held& parent, const std::string& name, hid_t lcpl,
            const Paths& at, unsigned depth) {
    if (source.type() == H5I_MAP) {
      if (!vol::TerminalObject::is(source.get()) || !vol::TerminalObject::is(parent.get()))
        throw Error(printable(at.from) + " is a map, which only containers have",
                    ErrorKind::unsupported);
      const Held made = copy_map(source, parent, name, lcpl);
      done_[token_of(source)] = at.to;
      copy_attributes(source, made, at);
      return;
    }
    if (source.type() == H5I_DATATYPE) {
      types_.link(source, parent, name, lcpl);
      done_[token_of(source)] = at.to;
      if (const Held* const made = types_.newly_made(source); made != nullptr)
        copy_attributes(source, *made, at);
      return;
    }
    Id<Kind::plist> creation = source.creation();
    if (source.type() == H5I_GROUP) {
      const Held made = parent.new_group(name, lcpl, creation.get());
      done_[token_of(source)] = at.to;
      copy_attributes(source, made, at);
      if (depth == 0 || !has(H5O_COPY_SHALLOW_HIERARCHY_FLAG)) copy_links(source, made, at, depth);
      return;
    }
    const Id<Kind::datatype> type = source.datatype();
    const Id<Kind::dataspace> space = source.dataspace();
    const Id<Kind::plist> asked = asked_list(type.get(), std::move(creation), space.get());
    const Held made =
        parent.new_dataset(name, lcpl, types_.of_copy(type.get()), space.get(), asked.get());
    done_[token_of(source)] = at.to;
    copy_attributes(source, made, at);
    if (is_now(type.get(), named(at)))
      return copy_dataset(source, made, named(at), new_references());
    if (is_whole_) later_.push_back(at);
  }

  // Whether elements are copied at once: references lead to objects that are not there yet.
  [[nodiscard]] bool is_now(hid_t type, const std::string& what) const {
    if (!has_references(type)) return true;
    // Natively those of part of a file lead nowhere.
    if (!is_whole_ && h5.Tget_class(type) == H5T_REFERENCE) return false;
    require_old_references(type, what);
    return !is_whole_;
  }

  void copy_links(const Held& source, const Held& target, const Paths& at, unsigned depth) {
    for (const auto& [name, link] : source.links(is_tracked(source.creation()))) {
      const hid_t list = (link.cset == H5T_CSET_UTF8 ? utf8_ : ascii_).get();
      const bool expands =
          link.type == H5L_TYPE_SOFT && has(H5O_COPY_EXPAND_SOFT_LINK_FLAG) && source.exists(name);
      if (link.type == H5L_TYPE_HARD || expands)
        copy_target(source.open(name), target, name, list, at.below(name), depth);
      else
        copy_link(source, name, target, name, list);
    }
  }

  void copy_target(const Held& object, const Held& target, const std::string& name, hid_t list,
                   const Paths& at, unsigned depth) {
    const auto found = done_.find(token_of(object));
    if (found == done_.end()) return copy(object, target, name, list, at, depth + 1);
    target.link(
        name, list,
        {H5VL_LINK_CREATE_HARD, {.hard = {to_.get(), by_name(to_.type(), found->second.c_str())}}});
  }

  void copy_attributes(const Held& source, const Held& target, const Paths& at) {
    if (const std::string comment = source.comment(); !comment.empty()) target.set_comment(comment);
    if (has(H5O_COPY_WITHOUT_ATTR_FLAG)) return;
    const bool in_order = source.type() != H5I_MAP && tracks_attributes(source.creation());
    for (const std::string& name : source.attributes(in_order)) {
      const Held from = source.open_attribute(name);
      const Id<Kind::datatype> type = from.datatype();
      const Held to = target.new_attribute(name, types_.of_copy(type.get()), from.dataspace().get(),
                                           from.creation().get());
      if (is_now(type.get(), named(at, name)))
        copy_attribute(from, to, named(at, name), new_references());
      else if (is_whole_)
        attributes_later_.emplace_back(at, name);
    }
  }

  const Held& from_;
  const Held& to_;
  unsigned flags_;
  CopyLists lists_;
  bool is_whole_;
  Id<Kind::plist> ascii_;
  Id<Kind::plist> utf8_;
  CommittedTypes types_;
  RegionCopies regions_;
  std::map<std::uint64_t, std::string> done_;  // the copies, by the tokens of what was copied
  std::map<std::uint64_t, std::uint64_t> new_tokens_;
  std::vector<Paths> later_;  // datasets whose elements are references
  std::vector<std::pair<Paths, std::string>> attributes_later_;
};

}  // namespace

void copy_link(const Held& from, const std::string& path, const Held& to, const std::string& name,
               hid_t lcpl) {
  const H5L_info2_t link = from.link_info(path);
  if (link.type == H5L_TYPE_HARD)
    throw Error("a hard link cannot be moved or copied to another file: " + printable(path));
  const std::string value = from.link_value(path, link.u.val_size);
  if (link.type == H5L_TYPE_SOFT)
    to.link(name, lcpl, {H5VL_LINK_CREATE_SOFT, {.soft = {value.c_str()}}});
  else
    to.link(name, lcpl, {H5VL_LINK_CREATE_UD, {.ud = {link.type, value.data(), value.size()}}});
}

void copy_between(const Held& from, const std::string& path, const Held& to,
                  const std::string& name, const CopyLists& lists) {
  unsigned flags = 0;
  h5.Pget_copy_object(lists.options, &flags);
  if ((flags & (H5O_COPY_EXPAND_EXT_LINK_FLAG | H5O_COPY_EXPAND_REFERENCE_FLAG)) != 0)
    throw Error("a copy to another file expands no external links or references",
                ErrorKind::unsupported);
  const Held source = from.open(path);
  if (is_root(name) && is_root(path)) {
    const Held target = to.open(name);
    if (!target.is_empty_group())
      throw Error("destination object already exists: the root group has something in it", EEXIST);
    return Copier(from, to, flags, lists, /*whole=*/true).copy_file(source, target);
  }
  if (to.has_link(name))
    throw Error("destination object already exists: " + printable(name), EEXIST);
  const std::exception_ptr failed = error_of(
      [&] { Copier(from, to, flags, lists, /*whole=*/false).copy_object(source, {path, name}); });
  if (failed == nullptr) return;
  {
    const PrivateErrors own;
    error_of([&] { to.unlink(name); });
  }
  std::rethrow_exception(failed);
}

}  // namespace headrace::object
