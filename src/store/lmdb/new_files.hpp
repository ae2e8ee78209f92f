// The data files of one put.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "store/lmdb/data_files.hpp"
#include "store/store.hpp"

namespace headrace::store {

// Files that a put makes, for each blob one or none. Those that are not kept are erased.
class NewFiles {
 public:
  NewFiles(DataFiles& files, std::size_t blobs) : files_(files), made_(blobs) {}
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    for (const auto& file : made_)
      if (file) files_.erase(*file);
  }
  DataFile write(std::size_t blob, const Change& change) {
    constexpr std::size_t kMostOpen = 64;
    if (unsynced_.size() == kMostOpen) sync();
    std::unique_ptr<Descriptor> written;
    const DataFile made = files_.write(change.front, change.value.value_or(Bytes{}), written);
    made_[blob] = made;
    if (written != nullptr) unsynced_.push_back(std::move(written));
    return made;
  }
  void sync() {
    for (const auto& written : unsynced_) files_.sync(*written);
    unsynced_.clear();
  }
  void keep(std::size_t blob) { made_[blob] = std::nullopt; }
  [[nodiscard]] bool any() const {
    return std::ranges::any_of(made_, [](const auto& file) { return file.has_value(); });
  }

 private:
  DataFiles& files_;
  std::vector<std::optional<DataFile>> made_;
  std::vector<std::unique_ptr<Descriptor>> unsynced_;
};

}  // namespace headrace::store
