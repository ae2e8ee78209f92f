#include "layers/object/container/opened.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/report/printable.hpp"
#include "layers/object/container/encoded.hpp"
#include "layers/object/container/iterate.hpp"

namespace headrace::object {
namespace {

// Some path to the object of that number, or none: each group is looked at once.
std::string search(File& file, objects::ObjectId wanted) {
  std::vector<Found> left{{file.container.root(), "/"}};
  std::set<objects::ObjectId> seen{left.front().object->place().object};
  while (!left.empty()) {
    const Found at = left.back();
    left.pop_back();
    for (const auto& [name, link] : links_of(file, *at.object, H5_INDEX_NAME, H5_ITER_INC)) {
      if (link.kind != objects::Link::Kind::hard) continue;
      std::string path = objects::joined(at.path, name);
      if (link.object == wanted) return path;
      if (!seen.insert(link.object).second) continue;
      objects::Handle object = file.container.open({link.object, link.home});
      if (type_of(*object) == H5I_GROUP) left.push_back({std::move(object), std::move(path)});
    }
  }
  return {};
}

bool is_open(const File& file, objects::ObjectId id) {
  return std::ranges::any_of(file.objects(), [&](const vol::TerminalObject* one) {
    const auto* const open = dynamic_cast<const Open*>(one);
    return open != nullptr && open->found.object->place().object == id;
  });
}

// What the program has open can be opened again, though no link leads to it any more.
Found by_token(File& file, const H5O_token_t& token) {
  objects::ObjectId id = 0;
  std::memcpy(&id, &token, sizeof id);
  objects::Handle object = file.container.open(file.container.place_of(id));
  if (object->header().links == 0 && object->place().home != 0 && !is_open(file, id))
    throw Error("object " + std::to_string(id) + " was deleted", ErrorKind::not_found);
  return {std::move(object), ""};
}

Parent made_on_the_way(const void* object, const std::string& way, hid_t lcpl) {
  File& file = file_of(object);
  Parent above = parent_of(object, way, lcpl);
  objects::Header header;  // as natively, in the order of the group above
  header.in_order = above.group->header().in_order;
  if (header.in_order) {
    const Id<Kind::plist> list(h5.Pcopy(h5.group_list.get()));
    h5.Pset_link_creation_order(list.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    header.creation = encoded_list(list.get(), h5.group_list.get());
  }
  objects::Handle made = file.container.create(std::move(header));
  file.container.link(*above.group, above.name, made, /*utf8=*/false);
  return {std::move(made), objects::joined(above.path, above.name), ""};
}

}  // namespace

void require_writable(const void* object) {
  const vol::TerminalObject& opened = vol::TerminalObject::from(object);
  if (!opened.opening()->writable())
    throw Error("file " + file_of(opened).path + " was opened to be read only (no write intent)");
  file_of(opened).require_own_process();
}

Found found_in(const void* object) {
  const vol::TerminalObject& opened = vol::TerminalObject::from(object);
  if (const auto* attribute = dynamic_cast<const OpenAttribute*>(&opened)) return attribute->owner;
  if (opened.type() == H5I_FILE && !file_of(opened).mounts.none())
    if (Opening top = Mounts::top_of(opened.opening()); top != nullptr)
      throw Outside(std::move(top), "", /*same=*/true);
  return vol::as<Open>(object).found;
}

Found find_from(const Opening& opening, const Found& start, const std::string& path) {
  File& file = file_of(opening);
  objects::Ends ends;
  Opening top;
  if (!file.mounts.none()) {
    ends.at = [&](objects::ObjectId group) { return file.mounts.child_at(group) != nullptr; };
    top = Mounts::top_of(opening);
    ends.at_root = top != nullptr;
  }
  objects::Destination found = objects::find(file.container, start, path, kMostSoftLinks, ends);
  if (found.outside) throw Outside(*std::move(found.outside), found.path, found.rest);
  if (!found.ended) return {found.object, found.path};
  Opening to = found.object == nullptr ? top : file.mounts.child_at(found.object->place().object);
  throw Outside(std::move(to), found.rest.empty() ? "." : found.rest, /*same=*/false);
}

Found find(const void* object, const std::string& path) {
  return find_from(vol::TerminalObject::from(object).opening(), found_in(object), path);
}

std::string path_of(File& file, const objects::Object& object, const std::string& path) {
  const objects::ObjectId id = object.place().object;
  if (!path.empty()) {
    const auto found =
        objects::find(file.container, {file.container.root(), "/"}, path, kMostSoftLinks);
    if (found.object != nullptr && found.object->place().object == id) return path;
  }
  return id == file.container.root()->place().object ? "/" : search(file, id);
}

void require_lists(std::initializer_list<hid_t> lists) {
  for (const hid_t list : lists)
    if (list != kDefaultPlist && h5.Iget_type(list) != H5I_GENPROP_LST)
      throw Error("not a property list");
}

Parent parent_of(const void* object, const std::string& path, hid_t lcpl) {
  const auto [way, name] = objects::split(path);
  if (name.empty() || name == ".") throw Error("a link needs a name: '" + printable(path) + "'");
  Found found;
  try {
    found = find(object, way);
  } catch (Outside& further) {
    if (!further.is_same_path)
      further.rest = further.rest.empty() ? name : further.rest + '/' + name;
    throw;
  }
  unsigned makes = 0;
  if (found.object == nullptr && lcpl >= 0) h5.Pget_create_intermediate_group(lcpl, &makes);
  if (found.object == nullptr && makes != 0) {
    Parent made = made_on_the_way(object, way, lcpl);
    made.name = name;
    return made;
  }
  if (found.object == nullptr) throw Error("component not found: no group " + printable(way));
  require_group(found);
  return {std::move(found.object), found.path, name};
}

Found resolve(const void* object, const H5VL_loc_params_t& where) {
  File& file = file_of(object);
  switch (where.type) {
    case H5VL_OBJECT_BY_SELF:
      return found_in(object);
    case H5VL_OBJECT_BY_TOKEN:
      return by_token(file, *where.loc_data.loc_by_token.token);
    case H5VL_OBJECT_BY_NAME: {
      require_lists({where.loc_data.loc_by_name.lapl_id});
      const char* const name = where.loc_data.loc_by_name.name;
      Found found = find(object, name);
      if (found.object == nullptr)
        throw Error(std::string("object '") + printable(name) + "' doesn't exist", ENOENT);
      return found;
    }
    default: {
      const Parent at = link_at(object, where);
      existing_link(file, at);
      Found target;
      try {
        target =
            find_from(vol::TerminalObject::from(object).opening(), {at.group, at.path}, at.name);
      } catch (Outside& further) {
        further.is_object = true;
        throw;
      }
      if (target.object == nullptr)
        throw Error("object '" + printable(at.name) + "' doesn't exist", ENOENT);
      return target;
    }
  }
}

Parent link_at(const void* object, const H5VL_loc_params_t& where, hid_t lcpl) {
  if (where.type == H5VL_OBJECT_BY_NAME) {
    require_lists({where.loc_data.loc_by_name.lapl_id});
    return parent_of(object, where.loc_data.loc_by_name.name, lcpl);
  }
  if (where.type != H5VL_OBJECT_BY_IDX) throw Error("a link needs a name or an index");
  const auto& by = where.loc_data.loc_by_idx;
  require_lists({by.lapl_id});
  Found found = find(object, by.name);
  if (found.object == nullptr) throw Error(std::string("no group ") + printable(by.name));
  require_group(found);
  auto link = link_of(file_of(object), *found.object, by.idx_type, by.order, by.n);
  if (!link) throw Error("no link has the index in " + found.path);
  return {std::move(found.object), found.path, std::move(link->first)};
}

objects::Link existing_link(File& file, const Parent& at) {
  auto link = file.container.links(*at.group).find(at.name);
  if (!link) throw Error("object '" + printable(at.name) + "' doesn't exist in " + at.path, ENOENT);
  return *std::move(link);
}

H5I_type_t type_of(const objects::Object& object) {
  switch (object.header().kind) {
    case objects::Header::Kind::dataset:
      return H5I_DATASET;
    case objects::Header::Kind::datatype:
      return H5I_DATATYPE;
    case objects::Header::Kind::map:
      return H5I_MAP;
    default:
      return H5I_GROUP;
  }
}

void require_group(const Found& found) {
  if (type_of(*found.object) != H5I_GROUP) throw Error(found.path + " is not a group");
}

void* handed(const void* through, Found found) {
  vol::TerminalObject& from = vol::TerminalObject::from(through);
  const H5I_type_t type = type_of(*found.object);
  auto made = std::make_unique<Open>(type, from.opening(), std::move(found));
  if (type == H5I_DATASET) {
    made->dataset = file_of(from).dataset(made->found.object);
    made->dataset->path = made->found.path;
  }
  return vol::handed(std::move(made));
}

void* created(const void* through, const H5VL_loc_params_t& where, const char* name, hid_t lcpl,
              objects::Header header) {
  objects::Container& container = file_of(through).container;
  if (name == nullptr) {
    resolve(through, where);
    return handed(through, {container.create(std::move(header)), ""});
  }
  const Parent parent = parent_of(through, name, lcpl);
  Found made{container.create(std::move(header)), objects::joined(parent.path, parent.name)};
  container.link(*parent.group, parent.name, made.object, is_utf8(lcpl));
  file_of(through).note_change();
  return handed(through, std::move(made));
}

Found named_from(const void* through, const H5VL_loc_params_t& where, const char* name) {
  if (name == nullptr) return resolve(through, where);
  Found found = find(through, name);
  if (found.object == nullptr)
    throw Error("object '" + printable(name) + "' doesn't exist", ENOENT);
  return found;
}

bool is_utf8(hid_t list) {
  H5T_cset_t set = H5T_CSET_ASCII;
  return list > 0 && h5.Pget_char_encoding(list, &set) >= 0 && set == H5T_CSET_UTF8;
}

void flush(const void* object) { file_of(object).flush(); }

void refresh(const void* object) {
  File& file = file_of(object);
  const auto& open = vol::as<Open>(object);
  file.flush();
  file.container.refresh(open.found.object);
  if (open.dataset == nullptr) return;
  open.dataset->elements.reload();
  if (open.dataset->sources != nullptr) open.dataset->sources->refresh();
}

std::string stored_type(const void* through, hid_t type) {
  std::string encoded = encoded_type(type);
  if (h5.Tcommitted(type) <= 0) return encoded;
  const void* const memory = h5.VLobject(type);
  for (vol::TerminalObject* one : file_of(through).objects())
    if (one->type() == H5I_DATATYPE && (one == memory || one->has_face(memory)))
      return with_reference(static_cast<Open*>(one)->found.object->place().object, encoded);
  return encoded;  // of another file
}

objects::Handle committed_of(File& file, const std::string& stored) try {
  const auto committed = committed_type(stored);
  return committed ? file.container.open(file.container.place_of(*committed)) : nullptr;
} catch (const Error& error) {
  if (error.kind() != ErrorKind::not_found) throw;
  return nullptr;
}

hid_t told_type(const void* through, const std::string& stored) {
  Found type{committed_of(file_of(through), stored), ""};
  if (type.object == nullptr) return copied(decoded_type(stored), h5.Tcopy);
  const hid_t id = h5.VLwrap_register(handed(through, std::move(type)), H5I_DATATYPE);
  if (id < 0) throw Error("a committed type gets no id: " + root_cause());
  return id;
}

H5O_token_t token_of(objects::ObjectId object) {
  H5O_token_t token{};
  std::memcpy(&token, &object, sizeof object);
  return token;
}

void return_name(const std::string& text, char* buffer, std::size_t size, std::size_t* length) {
  if (length != nullptr) *length = text.size();
  if (buffer == nullptr || size == 0) return;
  const std::size_t copied = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), copied);
  buffer[copied] = '\0';
}

}  // namespace headrace::object
