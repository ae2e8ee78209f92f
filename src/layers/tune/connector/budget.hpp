// What the caches that this layer has enlarged may take in the process. The application's thread
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace headrace::tune {

// A part of that memory, which goes back with it.
class Grant {
 public:
  // None where less than `bytes` is left of `bound`.
  static std::optional<Grant> of(std::uint64_t bytes, std::uint64_t bound);
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;
  Grant(Grant&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  Grant& operator=(Grant&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Grant();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  explicit Grant(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes_;
};

}  // namespace headrace::tune
