#include "layers/object/container/copy.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/buffer.hpp"
#include "layers/object/container/encoded.hpp"
#include "layers/object/container/iterate.hpp"
#include "layers/object/container/map_values.hpp"
#include "layers/object/elements/conversion.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

using objects::Handle;
using objects::Header;
using objects::Link;

bool refers(hid_t type) { return h5.Tdetect_class(type, H5T_REFERENCE) > 0; }

class Copier {
 public:
  Copier(vol::TerminalObject& from, vol::TerminalObject& to, unsigned flags)
      : from_(from), to_(to), flags_(flags), is_same_(&file_of(from) == &file_of(to)) {}

  Handle copy(const Found& source, unsigned depth) {
    const auto found = done_.find(source.object->place().object);
    if (found != done_.end()) return found->second;
    Header header = source.object->header();
    header.links = 0;
    if (has(H5O_COPY_WITHOUT_ATTR_FLAG)) header.attributes.clear();
    if (!is_same_) header.type = without_reference(header.type);
    if (!is_same_)
      for (objects::Attribute& one : header.attributes) {
        one.type = without_reference(one.type);
        if (!lies_alike(one.type) && !take_over(one.type, one.value)) one.value.clear();
      }
    const bool alike = header.type.empty() || lies_alike(header.type);
    if (!alike && header.data && !take_over(header.type, *header.data)) header.data.reset();
    const Handle made = file_of(to_).container.create(std::move(header));
    done_[source.object->place().object] = made;
    if (type_of(*made) == H5I_GROUP) copy_links(source, *made, depth);
    if (type_of(*made) == H5I_MAP)
      copy_entries(file_of(from_), *source.object, file_of(to_), *made);
    if (type_of(*made) == H5I_DATASET) copy_elements(source, made, alike);
    return made;
  }

 private:
  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }

  // Whether elements are the same bytes in both files.
  [[nodiscard]] bool lies_alike(const std::string& stored) const {
    return is_same_ || vol::is_flat(decoded_type(stored).get());
  }

  void copy_links(const Found& source, const objects::Object& made, unsigned depth) {
    if (depth > 0 && has(H5O_COPY_SHALLOW_HIERARCHY_FLAG)) return;
    File& from = file_of(from_);
    const H5_index_t index = source.object->header().in_order ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    for (auto& [name, link] : links_of(from, *source.object, index, H5_ITER_INC)) {
      Found target;
      if (link.kind == Link::Kind::hard)
        target = {from.container.open({link.object, link.home}), ""};
      if (link.kind == Link::Kind::soft && has(H5O_COPY_EXPAND_SOFT_LINK_FLAG)) {
        target.object = objects::find(from.container, source, link.target, kMostSoftLinks).object;
      }
      if (target.object != nullptr)
        file_of(to_).container.link(made, name, copy(target, depth + 1), link.utf8);
      else
        file_of(to_).container.link(made, name, std::move(link));
    }
  }

  // Elements in the header, with what they have of variable length: by way of the program's memory,
  // as HDF5 converts from no file to another. False where they are references, which natively lead
  // nowhere in the other file.
  [[nodiscard]] bool take_over(const std::string& stored_type, std::string& elements) {
    const auto type = decoded_type(stored_type);
    if (refers(type.get())) {
      require_references_only(type.get());
      return false;
    }
    const auto old = file_of(from_).file_type(type.get());
    const auto in_file = file_of(to_).file_type(type.get());
    const Conversion reads(old.get(), type.get());
    const Conversion writes(type.get(), in_file.get());
    const std::size_t count = elements.size() / h5.Tget_size(old.get());
    if (count == 0) return true;
    engine::Buffer memory(count * std::max(reads.room(), writes.room()));
    std::memcpy(memory.data(), elements.data(), elements.size());
    engine::Buffer background(memory.size());
    std::memset(background.data(), 0, background.size());
    reads.run(count, memory, background);
    engine::Buffer copied(memory.size());
    std::memcpy(copied.data(), memory.data(), memory.size());
    std::memset(background.data(), 0, background.size());
    const std::exception_ptr failed = error_of([&] { writes.run(count, memory, background); });
    const auto all = static_cast<hsize_t>(count);
    const Id<Kind::dataspace> space(h5.Screate_simple(1, &all, nullptr));
    h5.Treclaim(type.get(), space.get(), kDefaultPlist, copied.data());
    if (failed != nullptr) std::rethrow_exception(failed);
    elements.assign(reinterpret_cast<const char*>(memory.data()),
                    count * h5.Tget_size(in_file.get()));
    return true;
  }

  static void require_references_only(hid_t type) {
    if (h5.Tget_class(type) != H5T_REFERENCE)
      throw Error("references within other types cannot be copied to another file",
                  ErrorKind::unsupported);
  }

  void copy_elements(const Found& source, const Handle& made, bool alike) {
    const auto old = file_of(from_).dataset(source.object);
    if (old->sources != nullptr) return;  // its mappings are in the list
    if (alike) {
      const auto now = file_of(to_).dataset(made);
      now->elements.copy_stored(old->elements);
      return;
    }
    if (made->header().data) return;  // they were taken over with the header
    const Id<Kind::datatype> program = old->types.program();
    const hid_t type = program.get();
    if (refers(type)) return require_references_only(type);
    const auto now = file_of(to_).dataset(made);
    const Id<Kind::dataspace> space = extent_of(source.object->header());
    const auto count =
        static_cast<std::size_t>(std::max<hssize_t>(h5.Sget_simple_extent_npoints(space.get()), 0));
    std::vector<std::byte> buffer(count * h5.Tget_size(type));
    if (count == 0) return;
    old->elements.read(type, H5S_ALL, H5S_ALL, kDefaultPlist, buffer.data());
    const std::exception_ptr failed = error_of([&] {
      now->elements.write(type, H5S_ALL, H5S_ALL, kDefaultPlist, buffer.data());
      file_of(to_).note_pending(now);
    });
    h5.Treclaim(type, space.get(), kDefaultPlist, buffer.data());
    if (failed != nullptr) std::rethrow_exception(failed);
  }

  vol::TerminalObject& from_;
  vol::TerminalObject& to_;
  unsigned flags_;
  bool is_same_;
  std::map<objects::ObjectId, Handle> done_;
};

}  // namespace

void copy(const void* from, const Found& source, const void* to, const char* name, hid_t options,
          hid_t lcpl) {
  unsigned flags = 0;
  h5.Pget_copy_object(options, &flags);
  if ((flags & (H5O_COPY_EXPAND_EXT_LINK_FLAG | H5O_COPY_EXPAND_REFERENCE_FLAG)) != 0)
    throw Error("a copy in a container expands no external links or references",
                ErrorKind::unsupported);
  File& file = file_of(to);
  if (find(to, name).object != nullptr)
    throw Error(std::string("destination object already exists: ") + name, EEXIST);
  file_of(from).flush();
  Copier copier(vol::TerminalObject::from(from), vol::TerminalObject::from(to), flags);
  const Handle made = copier.copy(source, 0);
  // Groups on the way to it are none of the copy's.
  const Parent at = parent_of(to, name, lcpl);
  file.container.link(*at.group, at.name, made, is_utf8(lcpl));
}

}  // namespace headrace::object
