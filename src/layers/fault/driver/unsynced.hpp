// What a disk may still lose of one file: the changes made since the last sync point, with the
// bytes that they replaced, and the states that a power cut leaves. Knows nothing of HDF5.
//
// Memory: twice the bytes written since the last sync point. Threads may call all functions at the
// same time, but for cut(): no change may be under way then. Of changes that overlap in bytes, one
// is made before the next is noted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "layers/fault/driver/random.hpp"

namespace headrace::fault {

// A file as bytes. Functions throw Error when the system refuses.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // `into` lies inside the file.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) const = 0;
  // Past the end it makes the file longer, with zeros in a gap.
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void resize(std::uint64_t size) = 0;
};

// What is left of the changes since the last sync point.
enum class Outcome {
  kept,       // all: the process ends, the disk does not
  lost,       // none
  torn,       // the first ones, the last of them in part
  reordered,  // any of them in any order
  mixed       // the same, each whole or in part
};

// A change that a power cut left in the file: its number from 0, and how many of its leading bytes
// (0 for a change of size).
struct Kept {
  std::size_t change;
  std::size_t bytes;
};

class Unsynced {
 public:
  // The unit that a disk writes whole or not at all, in bytes; part of a write ends at a multiple.
  static constexpr std::uint64_t kSector = 512;

  // `storage` outlives this.
  explicit Unsynced(Storage& storage) : storage_(storage) {}

  // Call before the file is changed: they read what is about to be replaced.
  void note_write(std::uint64_t offset, std::span<const std::byte> bytes) {
    note_write(offset, std::span(&bytes, 1));
  }
  // Of one write, whose pieces lie side by side in the file.
  void note_write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces);
  void note_resize(std::uint64_t size);

  // All changes that were ever noted, by number.
  [[nodiscard]] std::uint64_t noted() const;
  // A sync point: the changes are safe, those of the first `noted` or all so far.
  void forget(std::uint64_t noted);
  void forget();
  [[nodiscard]] std::size_t count() const;

  // Takes the file back to the last sync point, then makes the changes again that survive, in the
  // order returned; what survives depends on `random` alone. Forgets all.
  std::vector<Kept> cut(Outcome outcome, Random& random);

 private:
  struct Change {
    bool resize;
    std::uint64_t offset;           // of a change of size: the new size
    std::uint64_t size_before;      // of the file
    std::vector<std::byte> after;   // what is written
    std::vector<std::byte> before;  // what lay there, up to the end of the file
  };

  void note(Change change, std::uint64_t end);
  void roll_back();
  void apply(const Kept& kept);
  [[nodiscard]] Kept whole(std::size_t change) const;
  [[nodiscard]] Kept part(std::size_t change, Random& random) const;
  [[nodiscard]] std::vector<Kept> survivors(Outcome outcome, Random& random) const;

  Storage& storage_;
  mutable std::mutex mutex_;  // of all below
  std::vector<Change> changes_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace headrace::fault
