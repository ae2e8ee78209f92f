#include "engine/reading/streams.hpp"

#include <algorithm>

namespace headrace::engine::reading {
namespace {

// What a sequential reader may leave out between two reads: HDF5 puts small metadata there.
std::uint64_t gap_after(std::uint64_t size) { return std::max<std::uint64_t>(size / 2, 4096); }

bool goes_on(const Stream& stream, std::uint64_t offset, std::uint64_t size) {
  return stream.number != 0 && stream.step == 0 && offset >= stream.begin &&
         offset + size > stream.end && offset <= stream.end + gap_after(size);
}

bool steps_on(const Stream& stream, std::uint64_t offset, std::uint64_t size) {
  return stream.step != 0 && offset == stream.begin + stream.step &&
         size == stream.end - stream.begin;
}

}  // namespace

Streams::Found Streams::add(std::uint64_t offset, std::uint64_t size) {
  ++reads_;
  const bool steps = size == last_.size && size == before_.size && last_.offset > before_.offset &&
                     offset > last_.offset &&
                     offset - last_.offset == last_.offset - before_.offset;
  const std::uint64_t step = offset - last_.offset;
  before_ = last_;
  last_ = {offset, size};
  Found found;
  found.stream = find(&goes_on, offset, size);
  if (found.stream != nullptr) return found;
  found.stream = find(&steps_on, offset, size);
  if (steps && found.stream == nullptr) {
    found.stream = &begin(offset, size, found.forgotten[0]);
    found.stream->step = step;
    found.stream->bytes = 3 * size;
    found.stream->matches = 2;
  }
  // Readers that take turns may be the same distance apart: it may be the first read of one.
  begin(offset, size, found.forgotten[1]);
  return found;
}

Stream* Streams::find(Test test, std::uint64_t offset, std::uint64_t size) {
  for (Stream& stream : streams_) {
    if (!test(stream, offset, size)) continue;
    stream.bytes += offset + size - std::max(stream.end, offset);
    ++stream.matches;
    stream.begin = offset;
    stream.end = offset + size;
    stream.last = reads_;
    return &stream;
  }
  return nullptr;
}

Stream& Streams::begin(std::uint64_t offset, std::uint64_t size, std::uint64_t& forgotten) {
  Stream& stream = replaced();
  forgotten = stream.number;
  stream = {
      .number = ++numbers_, .begin = offset, .end = offset + size, .bytes = size, .last = reads_};
  return stream;
}

// The one that has waited longest, of those that nothing has continued; but reads of metadata
// between those of data must not end a stream, unless it has waited long.
Stream& Streams::replaced() {
  constexpr std::uint64_t kLong = 64;
  const auto held = [&](const Stream& stream) {
    return stream.matches > 0 && reads_ - stream.last < kLong;
  };
  return *std::ranges::min_element(streams_, [&](const Stream& a, const Stream& b) {
    return held(a) != held(b) ? held(b) : a.last < b.last;
  });
}

}  // namespace headrace::engine::reading
