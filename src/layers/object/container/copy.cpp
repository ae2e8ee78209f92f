#include "layers/object/container/copy.hpp"

#include <map>

#include "layers/object/container/iterate.hpp"
#include "layers/object/container/map_values.hpp"

namespace headrace::object {
namespace {

using objects::Handle;
using objects::Header;
using objects::Link;

class Copier {
 public:
  Copier(File& file, unsigned flags) : file_(file), flags_(flags) {}

  Handle copy(const Found& source, unsigned depth) {
    const auto found = done_.find(source.object->place().object);
    if (found != done_.end()) return found->second;
    Header header = source.object->header();
    header.links = 0;
    header.kept = false;
    if (has(H5O_COPY_WITHOUT_ATTR_FLAG)) header.attributes.clear();
    const Handle made = file_.container.create(std::move(header));
    done_[source.object->place().object] = made;
    hold_types(*made);
    if (type_of(*made) == H5I_GROUP) copy_links(source, *made, depth);
    if (type_of(*made) == H5I_MAP) copy_entries(file_, *source.object, file_, *made);
    if (type_of(*made) == H5I_DATASET) copy_elements(source.object, made);
    return made;
  }

 private:
  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }

  // A committed type counts what is of it.
  void hold_types(const objects::Object& made) {
    const auto hold = [&](const std::string& type) {
      if (const Handle committed = committed_of(file_, type)) file_.container.hold(committed);
    };
    hold(made.header().type);
    for (const objects::Attribute& one : made.header().attributes) hold(one.type);
  }

  void copy_links(const Found& source, const objects::Object& made, unsigned depth) {
    if (depth > 0 && has(H5O_COPY_SHALLOW_HIERARCHY_FLAG)) return;
    const H5_index_t index = source.object->header().in_order ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    for (auto& [name, link] : links_of(file_, *source.object, index, H5_ITER_INC)) {
      Found target;
      if (link.kind == Link::Kind::hard)
        target = {file_.container.open({link.object, link.home}), ""};
      if (link.kind == Link::Kind::soft && has(H5O_COPY_EXPAND_SOFT_LINK_FLAG)) {
        target.object = objects::find(file_.container, source, link.target, kMostSoftLinks).object;
      }
      if (target.object != nullptr)
        file_.container.link(made, name, copy(target, depth + 1), link.utf8);
      else
        file_.container.link(made, name, std::move(link));
    }
  }

  void copy_elements(const Handle& source, const Handle& made) {
    const auto old = file_.dataset(source);
    if (old->sources != nullptr) return;  // its mappings are in the list
    file_.dataset(made)->elements.copy_stored(old->elements);
  }

  File& file_;
  unsigned flags_;
  std::map<objects::ObjectId, Handle> done_;
};

}  // namespace

void copy(const Found& source, const void* to, const char* name, hid_t options, hid_t lcpl) {
  unsigned flags = 0;
  h5.Pget_copy_object(options, &flags);
  if ((flags & (H5O_COPY_EXPAND_EXT_LINK_FLAG | H5O_COPY_EXPAND_REFERENCE_FLAG)) != 0)
    throw Error("a copy in a container expands no external links or references",
                ErrorKind::unsupported);
  File& file = file_of(to);
  if (find(to, name).object != nullptr)
    throw Error(std::string("destination object already exists: ") + name, EEXIST);
  file.flush();
  const Handle made = Copier(file, flags).copy(source, 0);
  // Groups on the way to it are none of the copy's.
  const Parent at = parent_of(to, name, lcpl);
  file.container.link(*at.group, at.name, made, is_utf8(lcpl));
}

}  // namespace headrace::object
