#include "engine/reading/read_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "engine/reading/pace.hpp"
#include "engine/staging/staged_file.hpp"

namespace headrace::engine {

using reading::Block;
using reading::Blocks;
using reading::is_slow;
using reading::Stream;

namespace {

constexpr std::uint64_t kLeastBlock = 64U << 10U;
constexpr std::uint64_t kMostBlock = 4U << 20U;
constexpr std::uint64_t kMostSteps = 64;

}  // namespace

void ReadAhead::Pace::program_read(std::uint64_t size, std::chrono::nanoseconds time) {
  if (on_) return;
  in_a_row_ = is_slow(size, time) ? in_a_row_ + 1 : 0;
  if (in_a_row_ < needed_) return;
  on_ = true;
  in_a_row_ = 0;
}

void ReadAhead::Pace::worker_read(std::uint64_t size, std::chrono::nanoseconds time) {
  constexpr unsigned kEnough = 2;
  if (!on_) return;
  in_a_row_ = is_slow(size, time) ? 0 : in_a_row_ + 1;
  if (in_a_row_ >= kEnough) failed();
}

// The next time it takes more to be convinced.
void ReadAhead::Pace::failed() {
  constexpr unsigned kMostNeeded = 16;
  on_ = false;
  in_a_row_ = 0;
  needed_ = std::min(2 * needed_, kMostNeeded);
}

ReadAhead::ReadAhead(io::File& storage, const StagedFile* staged, std::uint64_t limit)
    : staged_(staged), file_(std::make_unique<reading::FileReads>(&storage, limit)) {
  Blocks::get().enter(*file_);
}

ReadAhead::~ReadAhead() {
  for (auto entry = blocks_.begin(); entry != blocks_.end();) entry = drop(entry);
  Blocks::get().leave(*file_);
}

std::size_t ReadAhead::take_some(std::uint64_t offset, std::span<std::byte> bytes) {
  Blocks& blocks = Blocks::get();
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto entry = block_at(offset + done);
    if (entry == blocks_.end()) break;
    Block& block = *entry->second;
    if (!blocks.pin(block)) {
      drop(entry);
      pace_.failed();
      break;
    }
    const std::uint64_t within = offset + done - block.begin;
    const std::size_t size = std::min<std::size_t>(block.size - within, bytes.size() - done);
    std::memcpy(bytes.data() + done, block.bytes.data() + within, size);
    if (block.used == 0) pace_.worker_read(block.size, block.time);
    blocks.unpin(block);
    block.used += size;
    done += size;
    if (within + size == block.size) drop(entry);
  }
  statistics_.hits += done;
  return done;
}

void ReadAhead::note(std::uint64_t offset, std::size_t size, std::size_t below,
                     std::chrono::nanoseconds time, std::uint64_t end) noexcept try {
  const auto [stream, forgotten] = streams_.add(offset, size);
  if (!blocks_.empty())
    for (const std::uint64_t number : forgotten) forget_stream(number, ~std::uint64_t{0});
  if (stream == nullptr) return;
  if (below > 0) pace_.program_read(below, time);
  if (!blocks_.empty()) forget_stream(stream->number, stream->begin);
  if (!pace_.slow()) stream->bytes = size;
  if (pace_.slow() && certain(*stream)) follow(*stream, end);
} catch (const std::exception&) {
  pace_.failed();  // without memory
}

// A reader that writes back what it has read, as HDF5 does for a member of a compound, goes on
// reading ahead.
void ReadAhead::change_some(std::uint64_t offset, std::uint64_t size, const std::byte* bytes) {
  auto entry = block_at(offset);
  if (entry == blocks_.end()) entry = blocks_.lower_bound(offset);
  while (entry != blocks_.end() && (entry->first < offset || entry->first - offset < size)) {
    Block& block = *entry->second;
    const std::uint64_t from = std::max(offset, block.begin);
    const std::uint64_t count = std::min(size - (from - offset), block.end() - from);
    const bool kept = bytes != nullptr && Blocks::get().change(block, from - block.begin,
                                                               {bytes + (from - offset), count});
    entry = kept ? std::next(entry) : drop(entry);
  }
}

// Of a stream, the blocks that end before an offset.
void ReadAhead::forget_stream(std::uint64_t number, std::uint64_t before) {
  for (auto entry = blocks_.begin(); entry != blocks_.end();) {
    const Block& block = *entry->second;
    const bool gone = block.stream == number && block.end() <= before;
    entry = gone ? drop(entry) : std::next(entry);
  }
}

ReadAhead::Table::iterator ReadAhead::drop(Table::iterator entry) {
  Block& block = *entry->second;
  statistics_.unused += block.size - std::min(block.used, block.size);
  Blocks::get().drop(block);
  return blocks_.erase(entry);
}

ReadAhead::Table::iterator ReadAhead::block_at(std::uint64_t offset) {
  auto entry = blocks_.upper_bound(offset);
  if (entry == blocks_.begin()) return blocks_.end();
  --entry;
  return offset < entry->second->end() ? entry : blocks_.end();
}

// In a small file, reads in random order follow one another now and then.
bool ReadAhead::certain(const Stream& stream) const {
  const bool mistaken = statistics_.unused > statistics_.hits / 4;
  const unsigned few = stream.bytes < kLeastBlock ? 4 : 3;
  return stream.matches >= (mistaken ? 4 * few : few);
}

// As much ahead as has been read, so that a reader that stops has at most doubled what was read.
void ReadAhead::follow(Stream& stream, std::uint64_t end) {
  const std::uint64_t most = std::max(file_->limit / 2, kLeastBlock);
  const std::uint64_t window = std::clamp(stream.bytes, kLeastBlock, most);
  if (stream.step > 0) return follow_steps(stream, end, window);
  const std::uint64_t block = std::clamp(window / 2, kLeastBlock, kMostBlock);
  stream.ahead = std::max(stream.ahead, stream.end);
  while (stream.ahead < end) {
    if (const auto there = block_at(stream.ahead); there != blocks_.end()) {
      stream.ahead = there->second->end();
      continue;
    }
    std::uint64_t size = std::min(stream.ahead + block, end) - stream.ahead;
    if (size > 2 * kLeastBlock && stream.ahead + size < end)
      size -= (stream.ahead + size) % kLeastBlock;
    if (stream.ahead + size > stream.end + window) return;
    const auto next = blocks_.lower_bound(stream.ahead);
    if (next != blocks_.end()) size = std::min(size, next->first - stream.ahead);
    if (!read_block(stream, stream.ahead, size)) return;
    stream.ahead += size;
  }
}

void ReadAhead::follow_steps(Stream& stream, std::uint64_t end, std::uint64_t window) {
  const std::uint64_t size = stream.end - stream.begin;
  const std::uint64_t steps = std::clamp<std::uint64_t>(window / size, 1, kMostSteps);
  stream.ahead = std::max(stream.ahead, stream.begin + stream.step);
  while (stream.ahead <= stream.begin + steps * stream.step && stream.ahead + size <= end) {
    const auto next = blocks_.lower_bound(stream.ahead);
    const bool taken = block_at(stream.ahead) != blocks_.end() ||
                       (next != blocks_.end() && next->first < stream.ahead + size);
    if (!taken && !read_block(stream, stream.ahead, size)) return;
    stream.ahead += stream.step;
  }
}

// False when there is no memory for it.
bool ReadAhead::read_block(const Stream& stream, std::uint64_t begin, std::uint64_t size) {
  // What is staged is written later: it would be missing in the block from then on.
  if (staged_ != nullptr && staged_->any_staged(begin, size)) return true;
  const auto entry = blocks_.emplace(begin, nullptr).first;
  try {
    entry->second = Blocks::get().add(*file_, stream.number, begin, size);
  } catch (...) {
    blocks_.erase(entry);
    throw;
  }
  if (entry->second == nullptr) {
    blocks_.erase(entry);
    return false;
  }
  statistics_.bytes += size;
  return true;
}

ReadAheadStatistics ReadAhead::statistics() const {
  ReadAheadStatistics told = statistics_;
  for (const auto& [begin, block] : blocks_)
    told.unused += block->size - std::min(block->used, block->size);
  return told;
}

}  // namespace headrace::engine
