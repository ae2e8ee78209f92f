// The memory of a shared file: slabs, which classes of chunks have, and the sets of ways in them.
//
// A class takes further slabs as it fills, as long as the file has any; then those of the class
// that has most, its last one first. Places have memory once a chunk is put there, and give none
// back while the file is mapped. A process that is killed at any step leaves a slab that no class
// has, or a claimed way that it does not fill any more: the next process that needs one takes it.
// Any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <span>

#include "engine/cache/shared/layout.hpp"
#include "engine/cache/shared/owners.hpp"
#include "engine/cache/shared/slab_table.hpp"

namespace headrace::engine::cache {

// Ways in which a chunk can be, and their places in memory.
struct WaySet {
  Places places;
  std::span<Way> ways;
  std::byte* data = nullptr;  // of the first way

  [[nodiscard]] std::byte* data_of(std::size_t way) const {
    return data + way * bytes_of_class(places.of_class);
  }
};

class Slabs {
 public:
  // `memory`: all of the file, as long as the object lives.
  Slabs(std::byte* memory, const Layout& layout)
      : memory_(memory), layout_(layout), table_(fixed(), layout) {}

  [[nodiscard]] Fixed& fixed() const { return *reinterpret_cast<Fixed*>(memory_); }
  [[nodiscard]] const Layout& layout() const { return layout_; }

  // The sets in which a chunk may be, see SlabTable::Walk.
  class Sets {
   public:
    Sets(const Slabs& slabs, std::size_t of_class, std::uint64_t hash)
        : slabs_(slabs), walk_(slabs.table_, of_class, hash) {}
    bool next(WaySet& set) {
      Places places;
      if (!walk_.next(places)) return false;
      set = slabs_.set_at(places);
      return true;
    }

   private:
    const Slabs& slabs_;
    SlabTable::Walk walk_;
  };

  // To be asked after a way has been claimed: whether the class has the slab still. Else the way is
  // another class's.
  [[nodiscard]] bool has(const WaySet& set) const { return table_.has(set.places); }

  // Where a place begins in the file.
  [[nodiscard]] off_t offset_of(const WaySet& set, std::size_t way) const {
    return set.data_of(way) - memory_;
  }

  // One more slab for the class. False where none is to be had now.
  bool grow(int descriptor, const Owners& owners, std::size_t of_class);

  // Calls f(way, class) for each way of all slabs that classes have.
  template <typename F>
  void for_each(const F& f) const {
    for (std::size_t c = 0; c < kClasses; ++c)
      for (std::size_t at = 0; at < table_.count_of(c); ++at)
        for (Way& way : ways_of(table_.slab_of(c, at), c)) f(way, c);
  }

 private:
  [[nodiscard]] WaySet set_at(const Places& places) const;
  [[nodiscard]] std::span<Way> ways_of(std::size_t slab, std::size_t of_class) const;
  bool clear(std::size_t slab, const Owners& owners) const;
  bool try_grow(int descriptor, const Owners& owners, std::size_t of_class);

  std::byte* memory_;
  Layout layout_;
  SlabTable table_;
  std::mutex growing_;
  std::atomic<std::int64_t> again_{0};  // when growing is tried again, after it has failed
};

}  // namespace headrace::engine::cache
