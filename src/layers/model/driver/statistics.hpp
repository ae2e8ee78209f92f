// What the summary of a file tells: see docs/guide/model.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace headrace::model {

struct Statistics {
  // Requests by size: the bounds are in statistics.cpp.
  static constexpr std::size_t kSizes = 7;

  std::uint64_t calls = 0;     // of the driver
  std::uint64_t requests = 0;  // pieces of calls
  std::uint64_t bytes = 0;
  std::uint64_t sequential = 0;  // requests that begin where the one before ended
  std::uint64_t seeks = 0;       // the others
  std::uint64_t metadata_requests = 0;
  std::uint64_t metadata_bytes = 0;
  std::uint64_t nanoseconds = 0;  // below
  std::array<std::uint64_t, kSizes> sizes{};

  void add(std::uint64_t offset, std::uint64_t length, std::uint64_t span, bool metadata);
  [[nodiscard]] std::string json() const;
  [[nodiscard]] std::string sizes_json() const;

 private:
  std::uint64_t end_ = 0;  // of the last request; a file is at its start when it is opened
};

}  // namespace headrace::model
