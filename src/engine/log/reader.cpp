#include "engine/log/reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "engine/buffer.hpp"
#include "engine/checksum.hpp"

namespace headrace::engine::log {

Reader::Reader(std::unique_ptr<io::File> storage, std::uint64_t size)
    : storage_(std::move(storage)) {
  read_on(size);
}

void Reader::read_on(std::uint64_t size) {
  size_ = size;
  SegmentHeader header;
  while (!closed_ && header_at(end_, header) && header.sequence == sequence_ &&
         take(end_ + kHeaderBytes, header)) {
    ++sequence_;
    end_ += kHeaderBytes + header.bytes;
    if (header.kind != SegmentKind::data) covered_ = end_;
  }
}

bool Reader::header_at(std::uint64_t at, SegmentHeader& header) const {
  if (size_ - at < kHeaderBytes) return false;
  std::array<std::byte, kHeaderBytes> bytes{};
  storage_->read(at, bytes);
  return decode(bytes, header) && header.bytes <= size_ - at - kHeaderBytes;
}

bool Reader::take(std::uint64_t at, const SegmentHeader& header) {
  constexpr std::uint64_t kMost = 4096;  // more than any version's owner or closing will need
  if (header.kind == SegmentKind::data) {
    segments_.push_back({data_bytes_, at, header.bytes, header.checksum});
    data_bytes_ += header.bytes;
    return true;
  }
  if (header.kind != SegmentKind::index && header.bytes > kMost) return false;
  Buffer buffer(header.bytes);
  storage_->read(at, buffer.bytes());
  if (checksum(buffer.bytes()) != header.checksum) return false;
  if (header.kind == SegmentKind::index) return read_index(buffer.bytes());
  if (header.kind == SegmentKind::owner) return read_owner(buffer.bytes());
  closed_ = index().data_bytes == data_bytes_ &&
            std::ranges::equal(buffer.bytes(), encode_closing(sequence_, end_));
  return closed_;
}

bool Reader::read_owner(std::span<const std::byte> bytes) {
  if (sequence_ != 0) return false;
  owner_ = decode_owner(bytes);
  return true;
}

bool Reader::read_index(std::span<const std::byte> bytes) {
  reader_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, data_bytes_);
  ++index_segments_;
  index_bytes_ += bytes.size();
  described_ = segments_.size();
  return true;
}

void Reader::read(std::uint64_t position, std::span<std::byte> bytes) const {
  auto segment = std::ranges::upper_bound(segments_, position, {}, &Segment::position);
  while (!bytes.empty()) {
    const Segment& here = *std::prev(segment);
    const std::uint64_t within = position - here.position;
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), here.bytes - within));
    storage_->read(here.at + within, part);
    position += part.size();
    bytes = bytes.subspan(part.size());
    ++segment;
  }
}

std::optional<std::string> Reader::damage() const {
  if (closed_ && end_ < size_)
    return std::to_string(size_ - end_) + " bytes follow its closing segment";
  if (!closed_ && goes_on())
    return "the segment at byte " + std::to_string(end_) + " is not whole, but others follow it";
  for (const Segment& segment : std::span(segments_).first(described_))
    if (!is_right(segment))
      return "the data at byte " + std::to_string(segment.at) + " has another checksum";
  return std::nullopt;
}

// Data may lie behind a gap that a crash has left, but an index is written after all before it.
bool Reader::goes_on() const {
  constexpr std::uint64_t kPart = 4 << 20;
  Buffer buffer(std::min(size_ - end_, kPart));
  // Parts overlap by all of the magic but a byte.
  for (std::uint64_t at = end_ + 1; at < size_ && size_ - at >= kHeaderBytes;
       at += kPart - (kMagic.size() - 1)) {
    const auto part = buffer.bytes().first(std::min(size_ - at, kPart));
    storage_->read(at, part);
    const std::string_view text(reinterpret_cast<const char*>(part.data()), part.size());
    for (auto place = text.find(kMagic); place != std::string_view::npos;
         place = text.find(kMagic, place + 1)) {
      SegmentHeader header;
      if (header_at(at + place, header) && header.sequence > sequence_ &&
          (header.kind == SegmentKind::index || header.kind == SegmentKind::closing))
        return true;
    }
  }
  return false;
}

bool Reader::is_right(const Segment& segment) const {
  constexpr std::uint64_t kPart = 4 << 20;
  Buffer buffer(std::min(segment.bytes, kPart));
  std::uint32_t found = 0;
  for (std::uint64_t done = 0; done < segment.bytes;) {
    const auto part = buffer.bytes().first(std::min(kPart, segment.bytes - done));
    storage_->read(segment.at + done, part);
    found = checksum(part, found);
    done += part.size();
  }
  return found == segment.checksum;
}

}  // namespace headrace::engine::log
