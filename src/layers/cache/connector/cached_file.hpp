// Which files the connector answers for, and as which version of a file its chunks are kept. The
// program's thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/cache/shared/shared_store.hpp"
#include "engine/cache/shared/writers.hpp"
#include "layers/cache/connector/ahead.hpp"
#include "layers/cache/connector/node_disk.hpp"
#include "layers/cache/connector/uses.hpp"
#include "layers/cache/settings.hpp"
#include "vol/file/file_facts.hpp"
#include "vol/file/info.hpp"

namespace headrace::cache {

// What tells a file with its content from another one, and from what it was before.
struct Look {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970, as `changed`
  std::int64_t changed = 0;   // content or inode: no program can set it back
  std::uint64_t writers = 0;  // their number (Writers::settled)
  bool operator==(const Look&) const = default;
};

// Where chunks are kept; there need be no disk.
struct Stores {
  engine::cache::SharedStore& memory;
  NodeDisk* disk;
};

// A file that was opened to be read only.
class CachedFile {
 public:
  // `descriptor`: HDF5's, which stays open as long as the file is. `look`: of before it was opened,
  // as what HDF5 knows of the file is no older. `settle`: how long ago its last change must be.
  CachedFile(int descriptor, const engine::io::FileIdentity& identity, const Look& look,
             unsigned long number, const Stores& stores, std::chrono::nanoseconds settle);

  [[nodiscard]] engine::cache::SharedStore& store() const { return stores_.memory; }
  [[nodiscard]] NodeDisk* disk() const { return stores_.disk; }
  [[nodiscard]] const engine::io::FileIdentity& identity() const { return identity_; }
  // HDF5's number of the file.
  [[nodiscard]] unsigned long number() const { return number_; }
  // Of the file's content, under which chunks are kept.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // The same on the disk, as long as the node runs: what was written just before it stops may be
  // there afterwards with the times of before. Writers under our layers that are gone do not count,
  // as their table may be gone, too: each has set the file another time.
  // And of what has decoded it, this version of Headrace.
  [[nodiscard]] std::uint64_t version_on_disk() const;
  // Whether chunks may stay there: it has been left alone for long, as a write that takes long sets
  // the time of the change as it begins.
  [[nodiscard]] bool may_be_on_disk() const;

  // How a dataset that has no filters is read.
  Uses& uses_of(const engine::cache::Token& dataset) { return uses_[dataset]; }
  // Whether one more chunk of such datasets may be noted as used, of so many at most.
  bool notes_one_of(std::uint64_t most) { return noted_++ < most; }
  // What is decoded of one before it is asked for; null before ahead_of().
  Ahead* known_ahead(const engine::cache::Token& dataset) {
    const auto found = ahead_.find(dataset);
    return found == ahead_.end() ? nullptr : &found->second;
  }
  // Null for further ones where there are many.
  Ahead* ahead_of(const engine::cache::Token& dataset) {
    constexpr std::size_t kMany = 256;
    if (ahead_.size() >= kMany) return known_ahead(dataset);
    return &ahead_[dataset];
  }

  // Whether nobody has begun to write it since it was opened. To be asked before each read: what
  // HDF5 itself knows of the file may be out of date afterwards, so it stays as it is.
  bool is_quiet();
  // Whether its last change is long enough ago for another one to get another time.
  [[nodiscard]] bool has_settled();
  // Whether what was read of it just now is of its version.
  bool is_unchanged();
  // HDF5 carries out all reads of it from now on.
  void leave_alone() { alone_ = true; }

 private:
  int descriptor_;
  engine::io::FileIdentity identity_;
  Look look_;
  unsigned long number_;
  Stores stores_;
  engine::cache::Writers& writers_;
  std::chrono::nanoseconds settle_;
  std::uint64_t version_;
  bool settled_ = false;
  bool alone_ = false;
  std::map<engine::cache::Token, Uses> uses_;
  std::uint64_t noted_ = 0;
  std::map<engine::cache::Token, Ahead> ahead_;
};

// Before a file is opened; none where it is not opened to be read only, or somebody writes it.
std::optional<Look> look_at(const vol::Opening& opening);

// A file that was opened after such a look. What else must be known of it is asked for when the
// first dataset is read that could be answered for.
class OpenedFile {
 public:
  OpenedFile(vol::Object& file, const vol::Opening& opening, const vol::Layer& layer,
             const Look& before);

  // Null where the connector does not answer for the file.
  CachedFile* cached();
  // Whether ranks have opened it together: only what one of them reads on its own is answered.
  [[nodiscard]] bool over_mpi() const { return over_mpi_; }
  // Whether datasets without chunks are kept, too.
  [[nodiscard]] bool keeps_contiguous() const { return options_.contiguous; }
  // To be called before the program closes it by one of its handles: datasets of it may stay open.
  void note_closing(const vol::Object& handle);

 private:
  [[nodiscard]] std::unique_ptr<CachedFile> examine();
  [[nodiscard]] std::optional<int> descriptor();

  vol::Object* file_;                   // the handle that it was opened by, until that is closed
  std::string path_;                    // of one over MPI
  engine::cache::OwnedDescriptor own_;  // of that: HDF5 has none that we may ask
  Look before_;
  CacheOptions options_;
  bool over_mpi_;
  bool may_be_cached_;  // as far as it was looked at
  std::unique_ptr<CachedFile> cached_;
};

void leave_alone(const vol::UnderConnector& connector);

// No file is open any more.
void leave_stores();

}  // namespace headrace::cache
