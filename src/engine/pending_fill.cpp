#include "engine/pending_fill.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace headrace::engine {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20U;  // bytes that are written at a time

// `bytes` lie at `offset`, and values begin at `first` and after each other.
void fill(std::span<std::byte> bytes, std::uint64_t offset, std::uint64_t first,
          std::span<const std::byte> value) {
  const std::size_t begin = (offset - first) % value.size();
  std::size_t done = std::min(value.size(), bytes.size());
  for (std::size_t i = 0; i < done; ++i) bytes[i] = value[(begin + i) % value.size()];
  while (done < bytes.size()) {  // twice as much each time
    const std::size_t next = std::min(done, bytes.size() - done);
    std::memcpy(bytes.data() + done, bytes.data(), next);
    done += next;
  }
}

}  // namespace

bool repeats(std::span<const std::byte> bytes, std::span<const std::byte> value) {
  const std::size_t size = value.size();
  if (size == 0 || bytes.size() < size || std::memcmp(bytes.data(), value.data(), size) != 0)
    return false;
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

std::uint64_t PendingFill::end() const {
  return ranges_.empty() ? 0 : std::prev(ranges_.end())->second.end;
}

void PendingFill::add(std::uint64_t offset, std::uint64_t length,
                      std::span<const std::byte> value) {
  if (length == 0) return;
  remove(offset, length);
  const auto next = ranges_.lower_bound(offset);
  if (next != ranges_.begin()) {  // HDF5 writes fill values block by block
    Range& before = std::prev(next)->second;
    if (before.end == offset && std::ranges::equal(*before.value, value) &&
        (offset - before.first) % value.size() == 0) {
      before.end = offset + length;
      return;
    }
  }
  ranges_.emplace_hint(
      next, offset,
      Range{offset + length, offset,
            std::make_shared<const std::vector<std::byte>>(value.begin(), value.end())});
}

void PendingFill::remove(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = offset + length;
  auto at = ranges_.lower_bound(offset);
  if (at != ranges_.begin() && std::prev(at)->second.end > offset) --at;
  while (at != ranges_.end() && at->first < end) {
    const Range range = at->second;
    if (at->first < offset) {
      at->second.end = offset;
      ++at;
    } else {
      at = ranges_.erase(at);
    }
    if (range.end > end) ranges_.emplace(end, range);
  }
}

void PendingFill::put(std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::uint64_t end = offset + bytes.size();
  auto at = ranges_.lower_bound(offset);
  if (at != ranges_.begin() && std::prev(at)->second.end > offset) --at;
  for (; at != ranges_.end() && at->first < end; ++at) {
    const std::uint64_t from = std::max(at->first, offset);
    const std::uint64_t to = std::min(at->second.end, end);
    fill(bytes.subspan(from - offset, to - from), from, at->second.first, *at->second.value);
  }
}

void PendingFill::write_range(std::uint64_t offset, std::uint64_t length, const Write& write) {
  const std::uint64_t end = offset + length;
  while (true) {
    auto at = ranges_.lower_bound(offset);
    if (at != ranges_.begin() && std::prev(at)->second.end > offset) --at;
    if (at == ranges_.end() || at->first >= end) return;
    Range part = at->second;
    part.end = std::min(part.end, end);
    offset = std::max(offset, at->first);
    write_one(offset, part, write);
    remove(offset, part.end - offset);
    offset = part.end;
  }
}

void PendingFill::write_all(const Write& write) {
  while (!ranges_.empty()) {
    const auto first = ranges_.begin();
    write_one(first->first, first->second, write);
    ranges_.erase(first);
  }
}

void PendingFill::write_one(std::uint64_t offset, const Range& range, const Write& write) const {
  const std::size_t size = range.value->size();
  const std::size_t block = std::max(kBlock - kBlock % size, size);
  std::vector<std::byte> bytes(std::min<std::uint64_t>(block, range.end - offset));
  fill(bytes, offset, range.first, *range.value);  // a block is whole values, and fits the next
  for (; offset < range.end; offset += bytes.size()) {
    const auto left = std::min<std::uint64_t>(bytes.size(), range.end - offset);
    write(offset, std::span(bytes).first(left));
  }
}

}  // namespace headrace::engine
