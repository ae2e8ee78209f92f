// Reads a log file: its index at once, its data when asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/device.hpp"
#include "engine/log/format.hpp"

namespace headrace::engine::log {

class Reader {
 public:
  // Reads the headers and the index up to the end or the first segment that is not whole: a crash
  // leaves such. `size`: the file's, in bytes. Throws Error when the file cannot be read, or the
  // index holds what no writer makes.
  Reader(std::unique_ptr<Device> device, std::uint64_t size);

  [[nodiscard]] const Index& index() const { return reader_.index(); }
  // What the log belongs to; none when it does not say.
  [[nodiscard]] const std::optional<Owner>& owner() const { return owner_; }
  // Where the last whole segment ends.
  [[nodiscard]] std::uint64_t end() const { return end_; }

  // Whole segments of data, and of the index with what they hold in bytes.
  [[nodiscard]] std::uint64_t data_segments() const { return segments_.size(); }
  [[nodiscard]] std::uint64_t index_segments() const { return index_segments_; }
  [[nodiscard]] std::uint64_t index_bytes() const { return index_bytes_; }

  // Fills `bytes` with data of the file's writes from `position` on; they lie within the index's
  // data_bytes.
  void read(std::uint64_t position, std::span<std::byte> bytes) const;

  // Compares all data with its checksums. Returns what is wrong with the first segment that
  // differs.
  [[nodiscard]] std::optional<std::string> damage() const;

 private:
  // Data that lies in one piece in the file.
  struct Segment {
    std::uint64_t position = 0;  // among all data
    std::uint64_t at = 0;        // in the file
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
  };
  // False when the segment is not whole.
  bool read_owner(std::uint64_t at, const SegmentHeader& header);
  bool read_index(std::uint64_t at, const SegmentHeader& header, std::uint64_t data_bytes);

  std::unique_ptr<Device> device_;
  std::vector<Segment> segments_;
  std::optional<Owner> owner_;
  IndexReader reader_;
  std::uint64_t index_segments_ = 0;
  std::uint64_t index_bytes_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace headrace::engine::log
