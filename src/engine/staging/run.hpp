// Adjacent pages that are written together.
#pragma once

#include <array>
#include <span>

#include "engine/staging/shared.hpp"

namespace headrace::engine::staging {

struct Shared::Run {
  static constexpr std::size_t kMost = 64;
  std::array<Page*, kMost> pages;
  std::size_t count = 0;
  std::uint64_t reached = 0;  // the file's, before the run
  std::uint64_t storage_writes = 0;
  std::uint64_t storage_bytes = 0;
  std::chrono::nanoseconds time{};
  std::optional<Error> error;

  [[nodiscard]] std::span<Page* const> all() const { return std::span(pages).first(count); }
  // Called without the mutex, with the pages in state writing. Keeps the error of a failed write.
  void write(io::File& storage) noexcept;

 private:
  void write_all(io::File& storage);
};

}  // namespace headrace::engine::staging
