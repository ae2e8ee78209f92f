// Elements from one type into another, as HDF5 converts them. The program's thread only; throws
// Error.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/buffer.hpp"
#include "hdf5/id.hpp"

namespace headrace::object {

class Conversion {
 public:
  // Which of the types is that of the program's memory: its data is transformed as the list says.
  enum class Memory : std::uint8_t { source, target };
  // The ids outlive the object. `list`: the program's transfer list.
  Conversion(hid_t from, hid_t to, hid_t list, Memory memory);
  // Without a list.
  Conversion(hid_t from, hid_t to) : Conversion(from, to, kDefaultPlist, Memory::target) {}

  // False where elements have the same bytes in both types.
  [[nodiscard]] bool converts() const { return converts_; }
  // Whether the target has members that the source lacks: they stay as they are there.
  [[nodiscard]] bool keeps() const { return keeps_; }
  // Bytes that an element takes in the larger one of the types.
  [[nodiscard]] std::size_t room() const { return room_; }

  // Throws Error where HDF5 has none, as it does of no elements, too.
  void require() const;
  // So many elements, in their place. `background`, where it keeps() some: what the target has now.
  void run(std::uint64_t count, engine::Buffer& elements, engine::Buffer& background) const;

 private:
  struct Range {
    std::size_t first;
    std::size_t size;
  };
  void compare(hid_t from, hid_t to, std::size_t offset);
  void convert(std::uint64_t count, engine::Buffer& elements, engine::Buffer& background) const;

  hid_t from_;
  hid_t to_;
  hid_t list_;
  std::size_t room_ = 0;
  std::size_t target_ = 0;  // bytes of an element
  bool converts_ = false;
  bool is_alike_ = false;             // the types are the same
  std::optional<Memory> transforms_;  // data of that type
  bool single_ = true;  // elements are numbers or such, whose conversion needs no background
  bool keeps_ = false;
  // Of the target's elements: what leads to something else and is overwritten. HDF5 would free it,
  // but other elements may lead to the same.
  std::vector<Range> overwritten_;
};

}  // namespace headrace::object
