#include <cstring>

#include "connector.hpp"
#include "iterate.hpp"
#include "values.hpp"

namespace memory {
namespace {

using Attributes = std::vector<std::shared_ptr<Attribute>>;

Attributes::iterator named(Attributes& all, const std::string& name) {
  return std::ranges::find(all, name, [](const auto& one) { return one->name; });
}

std::shared_ptr<Attribute> existing(const Place& place, const std::string& name) {
  const auto found = named(place.node->attributes, name);
  if (found == place.node->attributes.end())
    throw Error("can't locate attribute: '" + name + "' of " + place.path);
  return *found;
}

std::shared_ptr<Attribute> numbered(const Place& place, H5_index_t index, H5_iter_order_t order,
                                    hsize_t n) {
  auto all = ordered(*place.node, index, order);
  if (n >= all.size()) throw Error("no attribute has the index in " + place.path);
  return all[n];
}

// The attribute that a location means: the object itself, or one by its index.
std::shared_ptr<Attribute> attribute_at(void* self, const H5VL_loc_params_t& where) {
  if (where.type != H5VL_OBJECT_BY_IDX) return vol::as<OpenAttribute>(self).attribute;
  const auto& by = where.loc_data.loc_by_idx;
  return numbered(find(self, by.name), by.idx_type, by.order, by.n);
}

void* opened(void* self, const Place& place, std::shared_ptr<Attribute> attribute) {
  const auto& opening = vol::TerminalObject::from(self).opening();
  const Open owner(type_of(*place.node), opening, place.node, place.path);
  return vol::handed(std::make_unique<OpenAttribute>(owner, std::move(attribute)));
}

void erase(const void* self, const Place& place, const std::string& name) {
  const auto attribute = existing(place, name);
  std::erase(place.node->attributes, attribute);
  if (attribute.use_count() == 1)  // the program has it open no more
    release(vol::TerminalObject::from(self), attribute->values);
}

}  // namespace

void* Connector::attr_create(void* self, Loc where, const char* name, hid_t type, hid_t space,
                             hid_t acpl, hid_t /*aapl*/, hid_t /*dxpl*/, void** /*req*/) {
  require_writable(vol::TerminalObject::from(self));
  require_plain(type, std::string("attribute ") + name);
  const Place place = resolve(self, where);
  if (named(place.node->attributes, name) != place.node->attributes.end())
    throw Error(std::string("attribute already exists: ") + name + " of " + place.path);
  auto made = std::make_shared<Attribute>(
      name, place.node->made++, Id<Kind::plist>(h5.Pcopy(acpl)),
      Values{Id<Kind::datatype>(h5.Tcopy(type)), Id<Kind::dataspace>(h5.Scopy(space)), {}});
  place.node->attributes.push_back(made);
  return opened(self, place, std::move(made));
}

void* Connector::attr_open(void* self, Loc where, const char* name, hid_t /*aapl*/, hid_t /*dxpl*/,
                           void** /*req*/) {
  if (where->type != H5VL_OBJECT_BY_IDX) {
    const Place place = resolve(self, where);
    return opened(self, place, existing(place, name));
  }
  return opened(self, find(self, where->loc_data.loc_by_idx.name), attribute_at(self, *where));
}

herr_t Connector::attr_read(void* self, hid_t mem_type, void* buffer, hid_t /*dxpl*/,
                            void** /*req*/) {
  auto& open = vol::as<OpenAttribute>(self);
  read(open, open.attribute->values, mem_type, H5S_ALL, H5S_ALL, buffer);
  return 0;
}

herr_t Connector::attr_write(void* self, hid_t mem_type, const void* buffer, hid_t /*dxpl*/,
                             void** /*req*/) {
  auto& open = vol::as<OpenAttribute>(self);
  require_writable(open);
  write(open, open.attribute->values, mem_type, H5S_ALL, H5S_ALL, buffer);
  return 0;
}

herr_t Connector::attr_get(void* self, H5VL_attr_get_args_t* args, hid_t /*dxpl*/, void** /*req*/) {
  const vol::TerminalObject& object = vol::TerminalObject::from(self);
  auto& out = args->args;
  if (args->op_type == H5VL_ATTR_GET_INFO) {
    const auto& [where, name, info] = out.get_info;
    *info =
        info_of(object, where.type == H5VL_OBJECT_BY_NAME ? *existing(resolve(self, &where), name)
                                                          : *attribute_at(self, where));
    return 0;
  }
  if (args->op_type == H5VL_ATTR_GET_NAME) {
    const auto& [where, size, buffer, length] = out.get_name;
    return_name(attribute_at(self, where)->name, buffer, size, length);
    return 0;
  }
  const Attribute& attribute = *vol::as<OpenAttribute>(self).attribute;
  if (args->op_type == H5VL_ATTR_GET_ACPL)
    out.get_acpl.acpl_id = copied(attribute.acpl, h5.Pcopy);
  else if (args->op_type == H5VL_ATTR_GET_SPACE)
    out.get_space.space_id = copied(attribute.values.space, h5.Scopy);
  else if (args->op_type == H5VL_ATTR_GET_TYPE)
    out.get_type.type_id = copied(attribute.values.type, h5.Tcopy);
  else
    *out.get_storage_size.data_size = size_of(object, attribute.values);
  return 0;
}

herr_t Connector::attr_specific(void* self, Loc where, H5VL_attr_specific_args_t* args,
                                hid_t /*dxpl*/, void** /*req*/) {
  const Place place = resolve(self, where);
  auto& in = args->args;
  if (args->op_type == H5VL_ATTR_ITER) return iterate_attributes(self, place, in.iterate);
  if (args->op_type == H5VL_ATTR_EXISTS) {
    *in.exists.exists =
        named(place.node->attributes, in.exists.name) != place.node->attributes.end();
    return 0;
  }
  require_writable(vol::TerminalObject::from(self));
  if (args->op_type == H5VL_ATTR_DELETE) {
    erase(self, place, in.del.name);
  } else if (args->op_type == H5VL_ATTR_DELETE_BY_IDX) {
    const auto& [index, order, n] = in.delete_by_idx;
    erase(self, place, numbered(place, index, order, n)->name);
  } else {
    if (named(place.node->attributes, in.rename.new_name) != place.node->attributes.end())
      throw Error(std::string("attribute already exists: ") + in.rename.new_name);
    existing(place, in.rename.old_name)->name = in.rename.new_name;
  }
  return 0;
}

}  // namespace memory
