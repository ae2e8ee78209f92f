// The memory of staged pages: of the whole process, reused and bounded.
#pragma once

#include <memory>
#include <vector>

#include "engine/staging/page.hpp"

namespace headrace::engine::staging {

// Not thread-safe.
class Memory {
 public:
  // What a page takes of the budget: its bytes and the bits that tell which are dirty.
  static constexpr std::uint64_t kPageCost = kPageBytes + kBitmapWords * sizeof(std::uint64_t);
  // What is kept while nothing is staged, in bytes.
  static constexpr std::uint64_t kReserve = 32U << 20U;

  // In bytes. Pages that are in use beyond a smaller budget are given back as they come.
  void set_budget(std::uint64_t bytes) { limit_ = bytes / kPageCost; }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }  // in pages
  [[nodiscard]] std::uint64_t used() const { return used_; }
  [[nodiscard]] std::uint64_t most_used() const { return most_used_; }

  // A page without a dirty byte, or null when the budget or the machine's memory is used up. Of
  // the system's memory no more than `most` bytes are taken.
  Page* take(std::uint64_t most);
  // Whether more has been made than what a program's first small writes take.
  [[nodiscard]] bool warm() const { return slabs_.size() > 1; }
  void give_back(Page& page);
  // While no page is in use: returns memory beyond a reserve to the system.
  void shrink();

 private:
  struct Slab {
    void* memory;
    std::size_t size;
    std::vector<Page> pages;
  };
  bool grow(std::uint64_t most);  // in pages

  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<Page*> free_;  // last in, first out: the last one is likely to be in the cache
  std::uint64_t limit_ = 0;
  std::uint64_t made_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t most_used_ = 0;
};

}  // namespace headrace::engine::staging
