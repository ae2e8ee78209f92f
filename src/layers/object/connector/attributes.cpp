#include <cstring>

#include "base/report/printable.hpp"
#include "layers/object/connector/containers.hpp"
#include "layers/object/container/encoded.hpp"
#include "layers/object/container/iterate.hpp"
#include "layers/object/elements/conversion.hpp"

namespace headrace::object {
namespace {

using objects::Attribute;

const Attribute& existing(const Found& of, const std::string& name) {
  const Attribute* const found = of.object->header().find(name);
  if (found == nullptr)
    throw Error("can't locate attribute: '" + printable(name) + "' of " + of.path, ENOENT);
  return *found;
}

const Attribute& attribute_of(const OpenAttribute& open) {
  return open.deleted ? *open.deleted : existing(open.owner, open.name);
}

Attribute& changed(OpenAttribute& open) {
  if (open.deleted) return *open.deleted;
  const Attribute& found = existing(open.owner, open.name);
  const auto at = &found - open.owner.object->header().attributes.data();
  return file_of(open)
      .container.change(open.owner.object)
      .attributes.at(static_cast<std::size_t>(at));
}

std::string numbered(const Found& of, H5_index_t index, H5_iter_order_t order, hsize_t n) {
  const Attribute* const found = attribute_at(*of.object, index, order, n);
  if (found == nullptr) throw Error("no attribute has the index in " + of.path);
  return found->name;
}

// Those that the program has open of it.
template <typename Do>
void each_open(const void* self, const Found& of, const std::string& name, const Do& act) {
  for (vol::TerminalObject* one : file_of(self).objects())
    if (auto* const open = dynamic_cast<OpenAttribute*>(one);
        open != nullptr && !open->deleted && open->owner.object == of.object && open->name == name)
      act(*open);
}

void add(objects::Header& header, Attribute attribute) {
  const auto place =
      std::ranges::lower_bound(header.attributes, attribute.name, {}, &Attribute::name);
  header.attributes.insert(place, std::move(attribute));
}

void erase(const void* self, const Found& of, const std::string& name) {
  const Attribute was = existing(of, name);
  std::erase_if(file_of(self).container.change(of.object).attributes,
                [&](const Attribute& one) { return one.name == name; });
  each_open(self, of, name, [&](OpenAttribute& open) { open.deleted = was; });
  if (const auto type = committed_of(file_of(self), was.type); type != nullptr)
    file_of(self).container.release(type);
}

void rename(const void* self, const Found& of, const std::string& from, const std::string& to) {
  if (of.object->header().find(to) != nullptr)
    throw Error("attribute already exists: " + printable(to), EEXIST);
  Attribute renamed = existing(of, from);
  renamed.name = to;
  objects::Header& header = file_of(self).container.change(of.object);
  std::erase_if(header.attributes, [&](const Attribute& one) { return one.name == from; });
  add(header, std::move(renamed));
  each_open(self, of, from, [&](OpenAttribute& open) { open.name = to; });
}

void* open_attribute(const void* self, Found of, std::string name) {
  const auto& opening = vol::TerminalObject::from(self).opening();
  return vol::handed(std::make_unique<OpenAttribute>(opening, std::move(of), std::move(name)));
}

// What the elements of an attribute are in the file.
struct InFile {
  InFile(const File& file, const Attribute& attribute) : type(decoded_type(attribute.type)) {
    if (!vol::is_flat(type.get())) type = file.file_type(type.get());
    const Id<Kind::dataspace> space = decoded_space(attribute.space);
    count =
        static_cast<std::size_t>(std::max<hssize_t>(h5.Sget_simple_extent_npoints(space.get()), 0));
    bytes = count * h5.Tget_size(type.get());
    if (!attribute.value.empty() && attribute.value.size() != bytes)
      throw Error("attribute " + printable(attribute.name) + " is damaged", ErrorKind::corrupt);
  }
  // Of the type, as they are now; zeros where none were written.
  [[nodiscard]] engine::Buffer elements(const Attribute& attribute, std::size_t room) const {
    engine::Buffer elements(room);
    std::memset(elements.data(), 0, elements.size());
    std::memcpy(elements.data(), attribute.value.data(), attribute.value.size());
    return elements;
  }
  Id<Kind::datatype> type;
  std::size_t count = 0;
  std::size_t bytes = 0;
};

}  // namespace

void* Containers::attr_create(void* self, Loc where, const char* name, hid_t type, hid_t space,
                              hid_t acpl, hid_t aapl, hid_t /*dxpl*/, void** /*req*/) {
  require_writable(self);
  require_lists({acpl, aapl});
  Found of = resolve(self, *where);
  if (of.object->header().find(name) != nullptr)
    throw Error("attribute already exists: " + printable(name) + " of " + of.path, EEXIST);
  Attribute made;
  made.name = name;
  made.utf8 = is_utf8(acpl);
  made.type = stored_type(self, type);
  made.space = encoded_space(space);
  objects::Header& header = file_of(self).container.change(of.object);
  made.stamp = header.stamps++;
  const objects::Handle type_object = committed_of(file_of(self), made.type);
  add(header, std::move(made));
  if (type_object != nullptr) file_of(self).container.hold(type_object);
  return open_attribute(self, std::move(of), name);
}

void* Containers::attr_open(void* self, Loc where, const char* name, hid_t /*aapl*/, hid_t /*dxpl*/,
                            void** /*req*/) {
  if (where->type == H5VL_OBJECT_BY_IDX) {
    const auto& by = where->loc_data.loc_by_idx;
    Found of = find(self, by.name);
    if (of.object == nullptr) throw Error("object '" + printable(by.name) + "' doesn't exist");
    std::string nth = numbered(of, by.idx_type, by.order, by.n);
    return open_attribute(self, std::move(of), std::move(nth));
  }
  Found of = resolve(self, *where);
  existing(of, name);
  return open_attribute(self, std::move(of), name);
}

herr_t Containers::attr_read(void* self, hid_t mem_type, void* buffer, hid_t /*dxpl*/,
                             void** /*req*/) {
  auto& open = vol::as<OpenAttribute>(self);
  const Attribute& attribute = attribute_of(open);
  const InFile stored(file_of(open), attribute);
  const Conversion conversion(stored.type.get(), mem_type);
  if (stored.count == 0) return 0;
  engine::Buffer elements = stored.elements(attribute, stored.count * conversion.room());
  const std::size_t bytes = stored.count * h5.Tget_size(mem_type);
  engine::Buffer background(conversion.keeps() ? bytes : 0);
  if (conversion.keeps()) std::memcpy(background.data(), buffer, bytes);
  if (conversion.converts()) conversion.run(stored.count, elements, background);
  std::memcpy(buffer, elements.data(), bytes);
  return 0;
}

herr_t Containers::attr_write(void* self, hid_t mem_type, const void* buffer, hid_t /*dxpl*/,
                              void** /*req*/) {
  auto& open = vol::as<OpenAttribute>(self);
  require_writable(self);
  const Attribute& attribute = attribute_of(open);
  const InFile stored(file_of(open), attribute);
  const Conversion conversion(mem_type, stored.type.get());
  if (stored.count == 0) return 0;
  engine::Buffer elements(stored.count * conversion.room());
  std::memcpy(elements.data(), buffer, stored.count * h5.Tget_size(mem_type));
  engine::Buffer background;
  if (conversion.keeps()) background = stored.elements(attribute, stored.bytes);
  if (conversion.converts()) conversion.run(stored.count, elements, background);
  changed(open).value.assign(reinterpret_cast<const char*>(elements.data()), stored.bytes);
  file_of(open).note_change();
  return 0;
}

herr_t Containers::attr_get(void* self, H5VL_attr_get_args_t* args, hid_t /*dxpl*/,
                            void** /*req*/) {
  vol::TerminalObject& object = vol::TerminalObject::from(self);
  auto& out = args->args;
  const auto name_at = [&](const H5VL_loc_params_t& where, const Found& of) {
    if (where.type != H5VL_OBJECT_BY_IDX) return vol::as<OpenAttribute>(self).name;
    const auto& by = where.loc_data.loc_by_idx;
    return numbered(of, by.idx_type, by.order, by.n);
  };
  const auto owner_at = [&](const H5VL_loc_params_t& where) {
    if (where.type != H5VL_OBJECT_BY_IDX) return resolve(self, where);
    return find(self, where.loc_data.loc_by_idx.name);
  };
  if (args->op_type == H5VL_ATTR_GET_INFO) {
    const auto& [where, name, info] = out.get_info;
    const Found of = owner_at(where);
    const bool by_name = where.type == H5VL_OBJECT_BY_NAME;
    if (where.type == H5VL_OBJECT_BY_SELF && object.type() == H5I_ATTR)
      *info = info_of(file_of(object), *of.object, attribute_of(vol::as<OpenAttribute>(self)));
    else
      *info =
          info_of(file_of(object), *of.object, existing(of, by_name ? name : name_at(where, of)));
    return 0;
  }
  if (args->op_type == H5VL_ATTR_GET_NAME) {
    const auto& [where, size, buffer, length] = out.get_name;
    return_name(name_at(where, owner_at(where)), buffer, size, length);
    return 0;
  }
  auto& open = vol::as<OpenAttribute>(self);
  const Attribute& attribute = attribute_of(open);
  if (args->op_type == H5VL_ATTR_GET_ACPL) {
    const Id<Kind::plist> list(h5.Pcopy(h5.attribute_list.get()));
    if (attribute.utf8) h5.Pset_char_encoding(list.get(), H5T_CSET_UTF8);
    out.get_acpl.acpl_id = copied(list, h5.Pcopy);
  } else if (args->op_type == H5VL_ATTR_GET_SPACE) {
    out.get_space.space_id = copied(decoded_space(attribute.space), h5.Scopy);
  } else if (args->op_type == H5VL_ATTR_GET_TYPE) {
    out.get_type.type_id = told_type(self, attribute.type);
  } else {
    *out.get_storage_size.data_size =
        info_of(file_of(object), *open.owner.object, attribute).data_size;
  }
  return 0;
}

herr_t Containers::attr_specific(void* self, Loc where, H5VL_attr_specific_args_t* args,
                                 hid_t /*dxpl*/, void** /*req*/) {
  const Found of = resolve(self, *where);
  auto& in = args->args;
  if (args->op_type == H5VL_ATTR_ITER) return iterate_attributes(self, of, in.iterate);
  if (args->op_type == H5VL_ATTR_EXISTS) {
    *in.exists.exists = of.object->header().find(in.exists.name) != nullptr;
    return 0;
  }
  require_writable(self);
  if (args->op_type == H5VL_ATTR_DELETE) {
    erase(self, of, in.del.name);
  } else if (args->op_type == H5VL_ATTR_DELETE_BY_IDX) {
    const auto& [index, order, n] = in.delete_by_idx;
    erase(self, of, numbered(of, index, order, n));
  } else {
    rename(self, of, in.rename.old_name, in.rename.new_name);
  }
  return 0;
}

}  // namespace headrace::object
