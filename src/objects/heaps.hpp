// Values of no fixed size of a container, gathered into heaps. See docs/formats/container.md.
//
// One thread. What is put is gathered in memory until flush(). A heap that was stored is never
// changed, so that others may keep it. In a child after fork() nothing can be put, and what its
// parent has gathered is its parent's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/buffer.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// Where a value is.
struct HeapId {
  std::uint64_t heap = 0;  // 0: the value is empty
  std::uint32_t offset = 0;
  std::uint32_t size = 0;

  bool operator==(const HeapId&) const = default;
};
static_assert(sizeof(HeapId) == 16);

// All functions throw Error.
class Heaps {
 public:
  // Values are put into heaps of at most so many bytes, larger ones each into one of its own.
  static constexpr std::size_t kMostBytes = 1U << 20U;

  // `store` outlives the object. `new_id` gives a number that it never gives again.
  Heaps(store::Store& store, std::string container, std::function<std::uint64_t()> new_id);
  Heaps(const Heaps&) = delete;
  Heaps& operator=(const Heaps&) = delete;
  ~Heaps() = default;

  // Error (unsupported) for 4 GiB and more.
  HeapId put(store::Bytes value);
  // Into memory of the value's size. Error (not_found) without its heap, and (corrupt) where that
  // is damaged or has no such value.
  void get(const HeapId& id, std::span<std::byte> value);

  // What could not be stored is tried again by the next flush.
  void flush();
  // Of what is gathered, in bytes.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Kept {
    std::uint64_t heap = 0;
    engine::Buffer blob;
  };

  void require_own_process() const;
  std::uint64_t heap_for(std::size_t size);
  store::Bytes values_of(std::uint64_t heap);
  [[nodiscard]] engine::Buffer load(std::uint64_t heap) const;
  void drop_oldest();
  [[noreturn]] void fail_damaged_heap(std::uint64_t heap) const;

  store::Store& store_;
  std::string container_;
  std::function<std::uint64_t()> new_id_;
  long process_;                                             // that may put
  std::map<std::uint64_t, std::vector<std::byte>> pending_;  // blobs, their heads to be filled in
  std::uint64_t open_ = 0;                                   // the one of them that takes values
  std::size_t size_ = 0;
  std::list<Kept> kept_;  // that were read, the last first
};

}  // namespace headrace::objects
