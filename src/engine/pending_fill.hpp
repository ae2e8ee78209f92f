// Ranges of a file that hold one value again and again, and that are not written yet: fill values,
// most of which data will take the place of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace headrace::engine {

// Whether bytes are nothing but a value, again and again, the last of which may be cut short.
bool repeats(std::span<const std::byte> bytes, std::span<const std::byte> value);

class PendingFill {
 public:
  using Write = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  // Offset behind the last byte; 0 where there is none.
  [[nodiscard]] std::uint64_t end() const;

  // From offset on `length` bytes are that value, which begins there.
  void add(std::uint64_t offset, std::uint64_t length, std::span<const std::byte> value);
  // Those bytes are others now.
  void remove(std::uint64_t offset, std::uint64_t length);
  // Puts what is pending of a range into bytes that were read from there.
  void put(std::uint64_t offset, std::span<std::byte> bytes) const;
  // Writes what is pending of a range, which is others' then. What `write` throws, it throws.
  void write_range(std::uint64_t offset, std::uint64_t length, const Write& write);
  // Writes all, in order. What `write` throws, it throws; the ranges from there on stay.
  void write_all(const Write& write);

 private:
  struct Range {
    std::uint64_t end;
    std::uint64_t first;  // where a value begins, at or before the range
    std::shared_ptr<const std::vector<std::byte>> value;
  };
  void write_one(std::uint64_t offset, const Range& range, const Write& write) const;

  std::map<std::uint64_t, Range> ranges_;  // by their offsets; they do not overlap
};

}  // namespace headrace::engine
