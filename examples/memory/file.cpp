#include "file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unordered_set>

namespace memory {
namespace {

constexpr int kMostSoftLinks = 16;

struct Walk {
  Place at;
  int soft_links = 0;
};

// One part of a path further.
void step(const File& file, Walk& walk, const std::string& name);

void follow(const File& file, Walk& walk, const std::string& path) {
  if (path.starts_with('/')) walk.at = {file.root, "/"};
  std::size_t begin = 0;
  while (begin < path.size() && walk.at.node != nullptr) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") step(file, walk, part);
    begin = end + 1;
  }
}

void step(const File& file, Walk& walk, const std::string& name) {
  auto* const group = dynamic_cast<Group*>(walk.at.node.get());
  const Link* const link = group == nullptr ? nullptr : group->find(name);
  if (link == nullptr) {
    walk.at.node = nullptr;
  } else if (link->node != nullptr) {
    walk.at = {link->node, joined(walk.at.path, name)};
  } else {
    if (++walk.soft_links > kMostSoftLinks)
      throw Error("too many soft links on the way to " + name);
    const std::string target = link->target;
    follow(file, walk, target);
  }
}

// Where the node of that number is. Each node is looked at once: links may form a ring.
Place by_number(const File& file, std::uint64_t number) {
  std::vector<Place> left{{file.root, "/"}};
  std::unordered_set<const Node*> seen{file.root.get()};
  while (!left.empty()) {
    const Place place = left.back();
    left.pop_back();
    if (place.node->number == number) return place;
    if (const auto* group = dynamic_cast<const Group*>(place.node.get()))
      for (const Link& link : group->entries)
        if (link.node != nullptr && seen.insert(link.node.get()).second)
          left.push_back({link.node, joined(place.path, link.name)});
  }
  return {};
}

Place by_token(const File& file, const H5O_token_t& token) {
  std::uint64_t number = 0;
  std::memcpy(&number, &token, sizeof number);
  Place place = by_number(file, number);
  if (place.node == nullptr) throw Error("no object of " + file.name + " has the token");
  return place;
}

}  // namespace

Link* Group::find(const std::string& name) {
  const auto found = std::ranges::find(entries, name, &Link::name);
  return found == entries.end() ? nullptr : &*found;
}

void Group::add(const std::string& name, std::shared_ptr<Node> node, std::string target) {
  if (find(name) != nullptr) throw Error("name already exists: " + name, EEXIST);
  if (node != nullptr) ++node->links;
  entries.push_back({name, made++, std::move(node), std::move(target)});
}

void Group::remove(const std::string& name) {
  const auto found = std::ranges::find(entries, name, &Link::name);
  if (found == entries.end()) throw Error("no link " + name);
  if (found->node != nullptr) --found->node->links;
  entries.erase(found);
}

File::File(std::string its_name, hid_t fcpl)
    : name(std::move(its_name)), creation(h5.Pcopy(fcpl)), root(std::make_shared<Group>(0)) {
  static unsigned long numbers = 0;
  fileno = ++numbers;
  root->number = next_number();
  root->links = 1;
}

std::map<std::string, std::shared_ptr<File>>& files() {
  // Leaked on purpose: HDF5 ends its connectors after C++ statics are destroyed.
  static auto& all = *new std::map<std::string, std::shared_ptr<File>>();
  return all;
}

std::string absolute(const char* name) {
  return std::filesystem::absolute(name).lexically_normal().string();
}

void require_writable(const vol::TerminalObject& object) {
  if (!object.opening()->writable())
    throw Error("file " + file_of(object).name + " was opened to be read only (no write intent)");
}

Place place_of(const void* object) {
  vol::TerminalObject& found = vol::TerminalObject::from(object);
  if (const auto* attribute = dynamic_cast<OpenAttribute*>(&found))
    return {attribute->node, attribute->path};
  const auto& open = vol::as<Open>(object);
  return {open.node, open.path};
}

Place find(const void* object, const std::string& path) {
  Walk walk{place_of(object)};
  follow(file_of(vol::TerminalObject::from(object)), walk, path);
  return walk.at;
}

std::string path_of(const File& file, const Node& node, const std::string& path) {
  Walk walk{{file.root, "/"}};
  follow(file, walk, path);
  return !path.empty() && walk.at.node.get() == &node ? path : by_number(file, node.number).path;
}

std::string joined(const std::string& group, const std::string& name) {
  return group.ends_with('/') ? group + name : group + '/' + name;
}

Parent parent_of(const void* object, const std::string& path, hid_t lcpl) {
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) throw Error("the root group has no name in another group");
  const std::size_t slash = path.find_last_of('/', last);
  const std::string name = path.substr(slash + 1, last - slash);
  const std::string way = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  Place place = find(object, way);
  unsigned makes = 0;
  if (place.node == nullptr && lcpl >= 0) h5.Pget_create_intermediate_group(lcpl, &makes);
  if (place.node == nullptr && makes != 0) {
    const Parent above = parent_of(object, way, lcpl);
    auto& file = file_of(vol::TerminalObject::from(object));
    const auto made = std::make_shared<Group>(file.next_number());
    above.group->add(above.name, made);
    place = {made, joined(above.path, above.name)};
  }
  auto group = std::dynamic_pointer_cast<Group>(place.node);
  if (group == nullptr) throw Error("component not found: no group " + way);
  return {std::move(group), place.path, name};
}

Place resolve(const void* object, const H5VL_loc_params_t* where) {
  if (where->type == H5VL_OBJECT_BY_SELF) return place_of(object);
  if (where->type == H5VL_OBJECT_BY_TOKEN)
    return by_token(file_of(vol::TerminalObject::from(object)),
                    *where->loc_data.loc_by_token.token);
  if (where->type != H5VL_OBJECT_BY_NAME)
    throw Error("connector headrace_memory does not support objects by their index");
  Place place = find(object, where->loc_data.loc_by_name.name);
  if (place.node == nullptr)
    throw Error(std::string("object '") + where->loc_data.loc_by_name.name + "' doesn't exist");
  return place;
}

H5I_type_t type_of(const Node& node) {
  return dynamic_cast<const Dataset*>(&node) != nullptr ? H5I_DATASET : H5I_GROUP;
}

void* open(const void* through, const Place& place) {
  const auto& opening = vol::TerminalObject::from(through).opening();
  return vol::handed(std::make_unique<Open>(type_of(*place.node), opening, place.node, place.path));
}

void return_name(const std::string& text, char* buffer, std::size_t size, std::size_t* length) {
  if (length != nullptr) *length = text.size();
  if (buffer == nullptr || size == 0) return;
  const std::size_t copied = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), copied);
  buffer[copied] = '\0';
}

}  // namespace memory
