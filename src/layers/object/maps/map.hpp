// A map of a container, in the types of the program.
//
// The program's thread only, where callers keep HDF5's error stack; throws Error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hdf5/id.hpp"
#include "layers/object/container/opened.hpp"

namespace headrace::object {

// So many elements of a program's, one after the other.
struct ElementsOf {
  std::size_t count = 0;
  hid_t type = kInvalidId;
  const void* memory = nullptr;
};
// As well, to be filled.
struct RoomFor {
  hid_t type = kInvalidId;
  void* memory = nullptr;  // null: not wanted
};

// The header of a new map. Throws Error (unsupported) for types that a map cannot have.
objects::Header map_header(hid_t key_type, hid_t value_type, hid_t mcpl);

class Map {
 public:
  Map(File& file, Found map);

  void put(const ElementsOf& keys, const void* values, hid_t value_type);
  // `found`: a byte for each key; null where a key that is not there is an error.
  void get(const ElementsOf& keys, const RoomFor& values, std::uint8_t* found);
  void erase(const ElementsOf& keys, std::uint8_t* found);
  void exists(const ElementsOf& keys, std::uint8_t* found);
  [[nodiscard]] std::uint64_t count() const { return entries().count(); }
  // The next entries, at most so many: from a key on or behind it, or from the first one where
  // `from` has none. How many there were.
  std::size_t scan(const ElementsOf& from, bool behind, std::size_t most, const RoomFor& keys,
                   const RoomFor& values);
  // As H5Miterate: calls `op` for each key from the one of that number on, until it returns another
  // value than 0, which is the result.
  herr_t iterate(hsize_t& index, hid_t key_type, const std::function<herr_t(const void*)>& op);

 private:
  [[nodiscard]] const objects::Entries& entries() const {
    return file_.container.entries(*map_.object);
  }
  [[nodiscard]] std::vector<std::string> keys_of(const ElementsOf& keys) const;
  void require_exact(const ElementsOf& keys, const std::vector<std::string>& known) const;
  [[noreturn]] void fail_missing(const std::string& key) const;
  void give_keys(const std::vector<objects::MapEntry>& entries, const RoomFor& room) const;

  File& file_;
  Found map_;
  Id<Kind::datatype> key_type_;
  Id<Kind::datatype> value_type_;
};

}  // namespace headrace::object
