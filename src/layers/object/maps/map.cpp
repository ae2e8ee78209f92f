#include "layers/object/maps/map.hpp"

#include <algorithm>

#include "base/report/printable.hpp"
#include "layers/object/container/encoded.hpp"
#include "layers/object/container/map_values.hpp"
#include "layers/object/maps/key_types.hpp"
#include "layers/object/maps/packed.hpp"
#include "layers/object/maps/transfer_elements.hpp"

namespace headrace::object {
objects::Header map_header(hid_t key_type, hid_t value_type, hid_t mcpl) {
  require_packable(value_type);
  objects::Header header;
  header.kind = objects::Header::Kind::map;
  header.key_form = objects::encode(key_form(key_type));
  header.type = encoded_type(key_type);
  header.value_type = encoded_type(value_type);
  header.creation = encoded_list(mcpl, h5.group_list.get());
  return header;
}

Map::Map(File& file, Found map)
    : file_(file),
      map_(std::move(map)),
      key_type_(decoded_type(map_.object->header().type)),
      value_type_(decoded_type(map_.object->header().value_type)) {
  if (entries().form() != key_form(key_type_.get()))
    throw Error("the form of the keys of map " + map_.path + " is damaged", ErrorKind::corrupt);
}

void Map::fail_missing(const std::string& key) const {
  throw Error("map " + map_.path + " has no key " + entries().form().words(key),
              ErrorKind::not_found);
}

// Numbers out of the range of the map's type, and strings that are cut off, would be other keys.
void Map::require_exact(const ElementsOf& keys, const std::vector<std::string>& known) const {
  const objects::KeyForm form = key_form(keys.type);
  Given back(key_type_.get(), known.size());
  for (std::size_t i = 0; i < known.size(); ++i)
    entries().form().put_element(known[i], back.element(i));
  std::vector<std::byte> memory(known.size() * form.size);
  back.give(keys.type, memory.data());
  const Reclaimed reclaimed(keys.type, known.size(), memory.data());
  const auto given = [&](std::size_t i) {
    return std::span(static_cast<const std::byte*>(keys.memory) + i * form.size, form.size);
  };
  for (std::size_t i = 0; i < known.size(); ++i)
    if (form.key_of(given(i)) != form.key_of(std::span(memory).subspan(i * form.size, form.size)))
      throw Error("keys of map " + map_.path + " cannot be " + form.words(form.key_of(given(i))) +
                      ": its type of keys has no such value",
                  ErrorKind::unsupported);
}

std::vector<std::string> Map::keys_of(const ElementsOf& keys) const {
  const Converted converted(keys.type, key_type_.get(), keys.count, keys.memory);
  std::vector<std::string> known;
  known.reserve(keys.count);
  for (std::size_t i = 0; i < keys.count; ++i)
    known.push_back(entries().form().key_of(converted.element(i)));
  if (h5.Tequal(keys.type, key_type_.get()) <= 0) require_exact(keys, known);
  return known;
}

void Map::put(const ElementsOf& keys, const void* values, hid_t value_type) {
  const std::vector<std::string> known = keys_of(keys);
  const Converted converted(value_type, value_type_.get(), keys.count, values);
  for (std::size_t i = 0; i < known.size(); ++i) {
    std::string value = packed(value_type_.get(), converted.element(i).data());
    file_.container.put(*map_.object, known[i], stored_value(file_, std::move(value)));
    file_.note_change();
  }
}

void Map::get(const ElementsOf& keys, const RoomFor& values, std::uint8_t* found) {
  std::vector<std::string> there;
  std::vector<std::size_t> places;
  const std::vector<std::string> known = keys_of(keys);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto stored = entries().find(known[i]);
    if (!stored && found == nullptr) fail_missing(known[i]);
    if (found != nullptr) found[i] = stored ? 1 : 0;
    if (!stored) continue;
    there.push_back(value_of(file_, *stored));
    places.push_back(i);
  }
  Given given(value_type_.get(), there.size());
  for (std::size_t i = 0; i < there.size(); ++i)
    unpack(value_type_.get(), there[i], given.element(i));
  given.give(values.type, values.memory, places);
}

void Map::erase(const ElementsOf& keys, std::uint8_t* found) {
  const std::vector<std::string> known = keys_of(keys);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool was_there = file_.container.erase(*map_.object, known[i]);
    if (!was_there && found == nullptr) fail_missing(known[i]);
    if (found != nullptr) found[i] = was_there ? 1 : 0;
    file_.note_change();
  }
}

void Map::exists(const ElementsOf& keys, std::uint8_t* found) {
  const std::vector<std::string> known = keys_of(keys);
  for (std::size_t i = 0; i < known.size(); ++i) found[i] = entries().find(known[i]) ? 1 : 0;
}

void Map::give_keys(const std::vector<objects::MapEntry>& found, const RoomFor& room) const {
  Given keys(key_type_.get(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    entries().form().put_element(found[i].first, keys.element(i));
  keys.give(room.type, room.memory);
}

std::size_t Map::scan(const ElementsOf& from, bool behind, std::size_t most, const RoomFor& keys,
                      const RoomFor& values) {
  const std::string first = from.memory == nullptr ? std::string() : keys_of(from).front();
  const auto found = entries().from(first, behind && from.memory != nullptr, most);
  if (values.memory != nullptr) {
    Given given(value_type_.get(), found.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      unpack(value_type_.get(), value_of(file_, found[i].second), given.element(i));
    given.give(values.type, values.memory);
  }
  if (keys.memory != nullptr) give_keys(found, keys);
  return found.size();
}

herr_t Map::iterate(hsize_t& index, hid_t key_type, const std::function<herr_t(const void*)>& op) {
  constexpr std::size_t kAtOnce = 256;
  const std::size_t size = h5.Tget_size(key_type);
  std::string last;
  hsize_t at = 0;
  for (auto part = entries().from("", /*behind=*/false, kAtOnce); !part.empty();
       part = entries().from(last, /*behind=*/true, kAtOnce)) {
    std::vector<std::byte> memory(part.size() * size);
    give_keys(part, {key_type, memory.data()});
    const Reclaimed reclaimed(key_type, part.size(), memory.data());
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (at++ < index) continue;
      ++index;
      if (const herr_t result = op(memory.data() + i * size); result != 0) return result;
    }
    last = part.back().first;
  }
  return 0;
}

}  // namespace headrace::object
