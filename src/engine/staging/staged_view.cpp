#include <algorithm>
#include <cstring>

#include "engine/staging/shared.hpp"
#include "engine/staging/staged_file.hpp"

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
  file.state_->last_view = {offset, offset + size};
  beyond_ = offset >= file.state_->reached;
  auto& pages = file.state_->pages;
  std::uint64_t next = offset;  // what lies before is staged, or noted as missing
  if (!pages.empty() && size > 0) {
    const std::uint64_t first = offset / kPageBytes;
    const std::uint64_t last = (offset + size - 1) / kPageBytes;
    pages_.reserve(2 * std::min<std::size_t>(last - first + 1, pages.size()));
    for (auto entry = pages.lower_bound(first); entry != pages.end() && entry->first <= last;
         ++entry) {
      const Part part(entry->first, offset, size);
      const std::uint64_t begin = entry->first * kPageBytes;
      const auto& [older, newer] = entry->second;
      const auto note = [&](std::uint32_t from, std::uint32_t to) {
        note_missing(next, begin + from);
        next = begin + to;
      };
      for (Page* page : {older, newer}) {
        if (page == nullptr) continue;
        pages_.push_back(page);
        ++page->readers;
      }
      if (older == nullptr || newer == nullptr)
        pages_.back()->dirty.for_each(part.begin, part.end, note);
      else if (older->dirty.covers(part.begin, part.end) ||
               newer->dirty.covers(part.begin, part.end))
        note(part.begin, part.end);
    }
  }
  note_missing(next, offset + size);
  join_missing(size);
}

void StagedView::note_missing(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  if (missing_count_ == missing_.size()) {  // with what lies between
    Range& last = missing_.back();
    last.size = end - last.offset;
  } else {
    missing_.at(missing_count_++) = {begin, end - begin};
  }
}

// Where most of the range is missing, one read of it costs less than several.
void StagedView::join_missing(std::uint64_t size) {
  if (missing_count_ < 2) return;
  std::uint64_t all = 0;
  for (const Range& one : missing()) all += one.size;
  if (all < size / 2) return;
  const Range& last = missing_.at(missing_count_ - 1);
  missing_.front().size = last.offset + last.size - missing_.front().offset;
  missing_count_ = 1;
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
