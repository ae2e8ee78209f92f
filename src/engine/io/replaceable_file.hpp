// A file in whose place another one may be put while worker threads use it. No HDF5.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "engine/io/file.hpp"

namespace headrace::engine::io {

class ReplaceableFile final : public File {
 public:
  // Where the file is that all copies use.
  class Place {
   public:
    explicit Place(std::unique_ptr<File> storage) : storage_(std::move(storage)) {}
    // Waits for what is under way; nothing else begins before `make` has returned the new file.
    // What it throws leaves the old one there.
    template <typename Make>
    void replace(const Make& make) {
      const std::unique_lock lock(mutex_);
      storage_ = make();
    }

   private:
    friend class ReplaceableFile;
    std::shared_mutex mutex_;
    std::unique_ptr<File> storage_;
  };

  explicit ReplaceableFile(std::shared_ptr<Place> place) : place_(std::move(place)) {}

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    const std::shared_lock lock(place_->mutex_);
    place_->storage_->write(offset, pieces);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    const std::shared_lock lock(place_->mutex_);
    place_->storage_->read(offset, bytes);
  }
  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override {
    const std::shared_lock lock(place_->mutex_);
    place_->storage_->read_pieces(offset, pieces);
  }
  void sync() override {
    const std::shared_lock lock(place_->mutex_);
    place_->storage_->sync();
  }
  void resize(std::uint64_t size) override {
    const std::shared_lock lock(place_->mutex_);
    place_->storage_->resize(size);
  }

 private:
  std::shared_ptr<Place> place_;
};

}  // namespace headrace::engine::io
