// Decoded chunks in a file on a node's disk, which outlives programs. See docs/formats/chunks.md.
//
// It is read and written by calls, not mapped: an error of the disk is a miss then, and no signal.
// What is read counts if its way was the same before and after, and its checksum is right: so
// nothing that a killed process or a power cut leaves half written is taken for a chunk, and
// readers have no locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cache/shared/folder.hpp"
#include "engine/cache/shared/slab_table.hpp"
#include "engine/cache/store.hpp"

namespace headrace::engine::cache {

inline constexpr const char* kDiskFile = "disk-chunks-1";
inline constexpr std::uint64_t kDiskMagic = 0x316b6e7568636468;  // "hdchunk1"

// As Way, in a file.
struct DiskWay {
  std::uint64_t state = 0;  // grows with each change; odd while somebody fills the place
  std::uint64_t tag = 0;
  std::uint64_t length = 0;
  std::uint32_t checksum = 0;  // CRC-32 of the key and the chunk
  std::uint32_t used = 0;      // when it was last, in seconds since 1970, to the minute
  std::array<std::uint64_t, Way::kKeyWords> key{};
  std::array<std::uint64_t, 5> reserved{};
};
static_assert(sizeof(DiskWay) == sizeof(Way));

class DiskStore {
 public:
  // Joins those that have it already, whose bounds hold; or makes it, for at most `size` bytes of
  // the disk. `folder`: of this user alone; it is made. Throws Error.
  DiskStore(std::string folder, std::uint64_t size);

  // A chunk into memory of its size; false where the store does not have it. Any thread.
  bool load(const Key& key, std::span<std::byte> chunk);

  // Keeps a chunk of so many bytes if there is room: chunks that were used in the last ten minutes
  // are not replaced. `source` shows it to a visitor, and says whether it was the chunk to the end
  // of that. Any thread.
  using Source = std::function<bool(const Visitor& visitor)>;
  void keep(const Key& key, std::size_t bytes, const Source& source);

  // What the disk has refused, in words; null as long as there is nothing. No more is kept then.
  [[nodiscard]] const char* failure() const { return failure_.load(std::memory_order_relaxed); }
  // Chunks whose checksum was wrong.
  [[nodiscard]] std::uint64_t damaged() const { return damaged_.load(std::memory_order_relaxed); }

  // After a fork, in the child: its locks are its own.
  void begin_child();

 private:
  using Table = std::shared_ptr<Fixed>;
  // A way in the file, as it was read.
  struct Found {
    Places places;
    std::size_t way = 0;  // of the slab
    DiskWay is;
  };
  void open(std::uint64_t size);
  [[nodiscard]] Table table();
  [[nodiscard]] std::vector<Found> ways_of(const Places& places) const;
  [[nodiscard]] std::uint64_t at_way(const Found& found) const;
  [[nodiscard]] std::uint64_t at_data(const Found& found) const;
  [[nodiscard]] bool read_way(const Found& found, DiskWay& way) const;
  bool load_from(const Found& found, const Key& key, std::span<std::byte> chunk);
  void touch(const Found& found) const;
  void drop(const Found& found) const;
  [[nodiscard]] std::optional<Found> place_for(const Key& key, std::size_t of_class);
  void fill(const Found& found, const Key& key, std::size_t bytes, const Source& source);
  bool grow(std::size_t of_class);
  bool try_grow(std::size_t of_class);
  [[nodiscard]] bool clear(std::size_t slab) const;
  [[nodiscard]] bool lock_slab(std::size_t slab, short kind) const;
  [[nodiscard]] bool write_table(Fixed& changed, std::uint64_t generation) const;

  std::string folder_;
  OwnedDescriptor file_;
  Layout layout_{};
  std::mutex mutex_;  // of the next two
  Table table_;       // as the file has had it
  std::uint64_t generation_ = 0;
  std::mutex keeping_;      // of who writes chunks
  std::int64_t again_ = 0;  // when growing is tried again, after it has failed
  std::atomic<const char*> failure_{nullptr};
  std::atomic<std::uint64_t> damaged_{0};
};

}  // namespace headrace::engine::cache
