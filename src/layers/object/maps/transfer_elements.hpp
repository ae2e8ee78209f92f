// Elements that are converted between types of the program's and those of a map.
//
// The program's thread only; throws Error.
#pragma once

#include <span>

#include "engine/buffer.hpp"
#include "hdf5/api.hpp"
#include "layers/object/elements/conversion.hpp"

namespace headrace::object {

// A program's elements in another type. Members that the program's type lacks are zero.
class Converted {
 public:
  // The ids and the memory outlive the object.
  Converted(hid_t from, hid_t to, std::size_t count, const void* memory);
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;
  ~Converted();
  [[nodiscard]] std::span<const std::byte> element(std::size_t i) const {
    return {first_ + i * size_, size_};
  }

 private:
  hid_t type_;
  std::size_t count_;
  std::size_t size_;
  const std::byte* first_;
  engine::Buffer own_;
};

// Elements in memory that were given to it; frees what they lead to at the end.
class Reclaimed {
 public:
  Reclaimed(hid_t type, std::size_t count, void* elements)
      : type_(type), count_(count), elements_(elements) {}
  Reclaimed(const Reclaimed&) = delete;
  Reclaimed& operator=(const Reclaimed&) = delete;
  ~Reclaimed();

 private:
  hid_t type_;
  std::size_t count_;
  void* elements_;
};

// Elements of a map, made one by one, that go to the program's memory in its type. What they lead
// to is the program's then.
class Given {
 public:
  // `type`: the map's. Outlives the object.
  Given(hid_t type, std::size_t count);
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  // Frees what has not gone to the program.
  ~Given();
  [[nodiscard]] std::span<std::byte> element(std::size_t i) {
    return elements_.bytes().subspan(i * size_, size_);
  }
  // To where the program has as many elements of that type, in its order or, where `places` has
  // some, at these.
  void give(hid_t mem_type, void* memory, std::span<const std::size_t> places = {});

 private:
  hid_t type_;
  std::size_t count_;
  std::size_t size_;
  engine::Buffer elements_;
};

}  // namespace headrace::object
