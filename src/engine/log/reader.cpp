#include "engine/log/reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "engine/buffer.hpp"

namespace headrace::engine::log {

Reader::Reader(std::unique_ptr<Device> device, std::uint64_t size) : device_(std::move(device)) {
  std::uint64_t data_bytes = 0;
  for (std::uint64_t sequence = 0; size - end_ >= kHeaderBytes; ++sequence) {
    std::array<std::byte, kHeaderBytes> bytes{};
    device_->read(end_, bytes);
    SegmentHeader header;
    if (!decode(bytes, header) || header.sequence != sequence ||
        header.bytes > size - end_ - kHeaderBytes)
      return;
    const std::uint64_t at = end_ + kHeaderBytes;
    if (header.kind == SegmentKind::data) {
      segments_.push_back({data_bytes, at, header.bytes, header.checksum});
      data_bytes += header.bytes;
    } else if (header.kind == SegmentKind::owner) {
      if (!read_owner(at, header)) return;
    } else if (!read_index(at, header, data_bytes)) {
      return;
    }
    end_ = at + header.bytes;
  }
}

bool Reader::read_owner(std::uint64_t at, const SegmentHeader& header) {
  constexpr std::uint64_t kMost = 4096;  // more than any version will need
  if (header.sequence != 0 || header.bytes > kMost) return false;
  Buffer buffer(header.bytes);
  device_->read(at, buffer.bytes());
  if (checksum(buffer.bytes()) != header.checksum) return false;
  owner_ = decode_owner(buffer.bytes());
  return true;
}

bool Reader::read_index(std::uint64_t at, const SegmentHeader& header, std::uint64_t data_bytes) {
  Buffer buffer(header.bytes);
  device_->read(at, buffer.bytes());
  if (checksum(buffer.bytes()) != header.checksum) return false;
  reader_.add({reinterpret_cast<const char*>(buffer.data()), buffer.size()}, data_bytes);
  ++index_segments_;
  index_bytes_ += header.bytes;
  return true;
}

void Reader::read(std::uint64_t position, std::span<std::byte> bytes) const {
  auto segment = std::ranges::upper_bound(segments_, position, {}, &Segment::position);
  while (!bytes.empty()) {
    const Segment& here = *std::prev(segment);
    const std::uint64_t within = position - here.position;
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), here.bytes - within));
    device_->read(here.at + within, part);
    position += part.size();
    bytes = bytes.subspan(part.size());
    ++segment;
  }
}

std::optional<std::string> Reader::damage() const {
  constexpr std::size_t kPart = 4 << 20;
  Buffer buffer(kPart);
  for (const Segment& segment : segments_) {
    std::uint32_t found = 0;
    for (std::uint64_t done = 0; done < segment.bytes;) {
      const auto part = buffer.bytes().first(std::min<std::uint64_t>(kPart, segment.bytes - done));
      device_->read(segment.at + done, part);
      found = checksum(part, found);
      done += part.size();
    }
    if (found != segment.checksum)
      return "the data at byte " + std::to_string(segment.at) + " has another checksum";
  }
  return std::nullopt;
}

}  // namespace headrace::engine::log
