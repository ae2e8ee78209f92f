// Memory for chunks: not initialised, and reused, because fresh pages cost more than the copy into
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace headrace::engine {

// Owns its bytes. Functions may be called from any thread, on one buffer by one at a time.
class Buffer {
 public:
  Buffer() = default;
  // Throws std::bad_alloc.
  explicit Buffer(std::size_t size);
  Buffer(Buffer&& other) noexcept
      : memory_(std::move(other.memory_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] std::byte* data() { return memory_.get(); }
  [[nodiscard]] const std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() { return {memory_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }
  // Keeps the bytes that are in both sizes.
  void resize(std::size_t size);

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Has the C library keep blocks of up to 4 MiB that are freed, as glibc does by itself after the
// first one of that size. HDF5 allocates 1 MiB to convert even one element: without this, whether
// each call returns that to the system and faults it in again depends on what else is on the heap.
void keep_freed_blocks();

}  // namespace headrace::engine
