#include "engine/staging/run.hpp"

#include <cstring>

namespace headrace::engine::staging {
namespace {

// From this many ranges in a page on it is quicker to read what lies between them than to write
// them one by one.
constexpr std::uint32_t kManyRanges = 16;

bool fill_gaps(io::File& storage, std::uint64_t reached, Page& page) noexcept try {
  std::array<std::byte, kPageBytes> below{};
  const std::uint32_t begin = page.dirty.begin();
  const std::uint32_t end = page.dirty.end();
  const std::uint64_t offset = page.index * kPageBytes + begin;
  if (offset < reached) storage.read(offset, std::span(below).subspan(begin, end - begin));
  std::uint32_t done = begin;
  page.dirty.for_each([&](std::uint32_t low, std::uint32_t high) {
    std::memcpy(page.bytes + done, below.data() + done, low - done);
    done = high;
  });
  return true;
} catch (...) {
  return false;  // then the ranges are written one by one
}

// Collects what is contiguous in the file.
class Gathered {
 public:
  explicit Gathered(io::File& storage) : storage_(storage) {}
  void add(std::uint64_t offset, std::span<const std::byte> piece) {
    if (count_ == pieces_.size() || (count_ > 0 && offset != end_)) write();
    if (count_ == 0) begin_ = offset;
    end_ = offset + piece.size();
    pieces_.at(count_++) = piece;
  }
  void write() {
    if (count_ == 0) return;
    storage_.write(begin_, std::span(pieces_).first(count_));
    ++writes;
    bytes += end_ - begin_;
    count_ = 0;
  }
  std::uint64_t writes = 0;
  std::uint64_t bytes = 0;

 private:
  io::File& storage_;
  std::array<std::span<const std::byte>, 64> pieces_;
  std::size_t count_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace

void Shared::Run::write_all(io::File& storage) {
  Gathered gathered(storage);
  for (Page* page : all()) {
    const std::uint64_t offset = page->index * kPageBytes;
    const auto add = [&](std::uint32_t begin, std::uint32_t end) {
      gathered.add(offset + begin, std::span(page->bytes + begin, end - begin));
    };
    if (page->file->fills_gaps && page->dirty.ranges(kManyRanges) > kManyRanges &&
        fill_gaps(storage, reached, *page))
      add(page->dirty.begin(), page->dirty.end());
    else
      page->dirty.for_each(add);
  }
  gathered.write();
  storage_writes = gathered.writes;
  storage_bytes = gathered.bytes;
}

void Shared::Run::write(io::File& storage) noexcept try {
  const Clock::time_point begin = Clock::now();
  write_all(storage);
  time = Clock::now() - begin;
} catch (const Error& e) {
  error = e;
} catch (const std::exception& e) {
  error.emplace(e.what());
} catch (...) {
  error.emplace("a write failed for an unknown reason");
}

}  // namespace headrace::engine::staging
