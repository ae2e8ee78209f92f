#include <algorithm>
#include <cstring>

#include "engine/staged_file.hpp"
#include "engine/staging/shared.hpp"

namespace headrace::engine {
namespace {

using staging::kPageBytes;
using staging::Page;
using staging::Shared;

// The part of [offset, offset + size) that lies in a page, from the page's begin.
struct Part {
  Part(std::uint64_t index, std::uint64_t offset, std::size_t size)
      : begin(
            static_cast<std::uint32_t>(std::max(index * kPageBytes, offset) - index * kPageBytes)),
        end(static_cast<std::uint32_t>(std::min((index + 1) * kPageBytes, offset + size) -
                                       index * kPageBytes)) {}
  std::uint32_t begin;
  std::uint32_t end;
};

}  // namespace

StagedView::StagedView(StagedFile& file, std::uint64_t offset, std::size_t size) : offset_(offset) {
  const staging::Lock lock(Shared::get().mutex);
  beyond_ = offset >= file.state_->reached;
  auto& pages = file.state_->pages;
  if (pages.empty() || size == 0) return;
  std::uint64_t expected = offset / kPageBytes;
  const std::uint64_t last = (offset + size - 1) / kPageBytes;
  whole_ = true;
  pages_.reserve(2 * std::min<std::size_t>(last - expected + 1, pages.size()));
  for (auto entry = pages.lower_bound(expected); entry != pages.end() && entry->first <= last;
       ++entry) {
    const Part part(entry->first, offset, size);
    bool covered = false;
    for (Page* page : {entry->second.older, entry->second.newer}) {
      if (page == nullptr) continue;
      pages_.push_back(page);
      ++page->readers;
      covered = covered || page->dirty.covers(part.begin, part.end);
    }
    whole_ = whole_ && covered && entry->first == expected++;
  }
  whole_ = whole_ && expected > last;
}

StagedView::~StagedView() {
  if (pages_.empty()) return;
  Shared& shared = Shared::get();
  staging::Lock lock(shared.mutex);
  for (Page* page : pages_) shared.stop_reading(lock, *page);
}

void StagedView::apply(std::span<std::byte> bytes) const {
  for (const Page* page : pages_) {
    const Part part(page->index, offset_, bytes.size());
    const std::uint64_t begin = page->index * kPageBytes;
    page->dirty.for_each(part.begin, part.end, [&](std::uint32_t low, std::uint32_t high) {
      std::memcpy(bytes.data() + (begin + low - offset_), page->bytes + low, high - low);
    });
  }
}

}  // namespace headrace::engine
