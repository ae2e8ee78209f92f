#include "engine/staging/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

namespace headrace::engine::staging {
namespace {

// The first slab is small, for programs that write little.
constexpr std::uint64_t kFirstPages = 16;
constexpr std::uint64_t kSlabPages = 64;
constexpr std::size_t kHugePage = 2U << 20U;

}  // namespace

Page* Memory::take(std::uint64_t most) {
  if (used_ >= limit_) return nullptr;
  if (free_.empty() && !grow(most / kPageCost)) return nullptr;
  Page* page = free_.back();
  free_.pop_back();
  most_used_ = std::max(most_used_, ++used_);
  page->dirty.clear();
  page->written = false;
  return page;
}

void Memory::give_back(Page& page) {
  --used_;
  free_.push_back(&page);
}

// Fresh memory costs more to touch than to fill: huge pages make that bearable.
bool Memory::grow(std::uint64_t most) {
  const std::uint64_t wanted = slabs_.empty() ? kFirstPages : kSlabPages;
  const std::uint64_t count = std::min(wanted, limit_ - std::min(made_, limit_));
  if (count == 0 || made_ + count > most) return false;
  const std::size_t bytes = count * kPageBytes;
  const std::size_t size = kHugePage + count * kPageCost;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  auto* base = static_cast<std::byte*>(memory) + (kHugePage - start % kHugePage) % kHugePage;
  if (bytes >= kHugePage) ::madvise(base, bytes, MADV_HUGEPAGE);
  auto* bits = reinterpret_cast<std::uint64_t*>(base + bytes);

  auto slab = std::make_unique<Slab>(Slab{memory, size, {}});
  slab->pages.reserve(count);
  free_.reserve(made_ + count);
  for (std::uint64_t i = count; i-- > 0;) {  // so that the first is taken first
    slab->pages.emplace_back(base + i * kPageBytes, bits + i * kBitmapWords);
    free_.push_back(&slab->pages.back());
  }
  slabs_.push_back(std::move(slab));
  made_ += count;
  return true;
}

void Memory::shrink() {
  if (used_ != 0 || made_ * kPageCost <= kReserve) return;
  free_.clear();
  while (made_ * kPageCost > kReserve) {
    made_ -= slabs_.back()->pages.size();
    ::munmap(slabs_.back()->memory, slabs_.back()->size);
    slabs_.pop_back();
  }
  for (const auto& slab : slabs_)
    for (Page& page : slab->pages) free_.push_back(&page);
}

}  // namespace headrace::engine::staging
