// A device in whose place another one may be put while worker threads use it. No HDF5.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "engine/device.hpp"

namespace headrace::engine {

class ReplaceableDevice final : public Device {
 public:
  // Where the device is that all copies use.
  class Place {
   public:
    explicit Place(std::unique_ptr<Device> device) : device_(std::move(device)) {}
    // Waits for what is under way; nothing else begins before `make` has returned the new device.
    // What it throws leaves the old one there.
    template <typename Make>
    void replace(const Make& make) {
      const std::unique_lock lock(mutex_);
      device_ = make();
    }

   private:
    friend class ReplaceableDevice;
    std::shared_mutex mutex_;
    std::unique_ptr<Device> device_;
  };

  explicit ReplaceableDevice(std::shared_ptr<Place> place) : place_(std::move(place)) {}

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    const std::shared_lock lock(place_->mutex_);
    place_->device_->write(offset, pieces);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    const std::shared_lock lock(place_->mutex_);
    place_->device_->read(offset, bytes);
  }
  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override {
    const std::shared_lock lock(place_->mutex_);
    place_->device_->read_pieces(offset, pieces);
  }
  void sync() override {
    const std::shared_lock lock(place_->mutex_);
    place_->device_->sync();
  }
  void resize(std::uint64_t size) override {
    const std::shared_lock lock(place_->mutex_);
    place_->device_->resize(size);
  }

 private:
  std::shared_ptr<Place> place_;
};

}  // namespace headrace::engine
