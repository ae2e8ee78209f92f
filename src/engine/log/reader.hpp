// Reads a log file: its index at once, its data when asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/io/file.hpp"
#include "engine/log/format.hpp"
#include "engine/log/index_reader.hpp"

namespace headrace::engine::log {

class Reader {
 public:
  // Reads the headers and the index up to the closing segment or the first that is not whole.
  // `size`: the file's, in bytes. Throws Error when the file cannot be read, or the index holds
  // what no writer makes.
  Reader(std::unique_ptr<io::File> storage, std::uint64_t size);
  // The same of what a writer has appended since. What points into the index is invalid then.
  void read_on(std::uint64_t size);

  [[nodiscard]] const Index& index() const { return reader_.index(); }
  // What the log belongs to; none when it does not say.
  [[nodiscard]] const std::optional<Belonging>& owner() const { return owner_; }
  // Whether there is a closing segment. Without it more may have been written than is here.
  [[nodiscard]] bool closed() const { return closed_; }
  // Where the last whole segment ends, and the last that is there for sure: behind it a crash of
  // the program leaves anything.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t covered() const { return covered_; }

  // Whole segments of data, and of the index with what they hold in bytes.
  [[nodiscard]] std::uint64_t data_segments() const { return segments_.size(); }
  [[nodiscard]] std::uint64_t index_segments() const { return index_segments_; }
  [[nodiscard]] std::uint64_t index_bytes() const { return index_bytes_; }

  // Fills `bytes` with data of the file's writes from `position` on; they lie within the index's
  // data_bytes.
  void read(std::uint64_t position, std::span<std::byte> bytes) const;

  // Calls visit(place in the file, bytes) for each whole segment's data.
  template <typename Visit>
  void for_data(const Visit& visit) const {
    for (const Segment& segment : segments_) visit(segment.at, segment.bytes);
  }
  // The file's bytes from `at` on.
  void read_at(std::uint64_t at, std::span<std::byte> bytes) const { storage_->read(at, bytes); }

  // Looks for what neither a writer nor a crash of one leaves, and compares the data that the index
  // describes with its checksums. Returns the first such thing.
  [[nodiscard]] std::optional<std::string> damage() const;

 private:
  // Data that lies in one piece in the file.
  struct Segment {
    std::uint64_t position = 0;  // among all data
    std::uint64_t at = 0;        // in the file
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
  };
  [[nodiscard]] bool header_at(std::uint64_t at, SegmentHeader& header) const;
  // False when the segment is not whole; `at` is behind its header.
  bool take(std::uint64_t at, const SegmentHeader& header);
  bool read_owner(std::span<const std::byte> bytes);
  bool read_index(std::span<const std::byte> bytes);
  // Whether a flush ended behind the first segment that is not whole.
  [[nodiscard]] bool goes_on() const;
  [[nodiscard]] bool is_right(const Segment& segment) const;

  std::unique_ptr<io::File> storage_;
  std::uint64_t size_ = 0;
  std::uint64_t sequence_ = 0;  // of the segment at end_
  std::vector<Segment> segments_;
  std::uint64_t data_bytes_ = 0;  // of all of them
  std::size_t described_ = 0;     // those that an index comes after
  std::optional<Belonging> owner_;
  IndexReader reader_;
  std::uint64_t index_segments_ = 0;
  std::uint64_t index_bytes_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t covered_ = 0;
  bool closed_ = false;
};

}  // namespace headrace::engine::log
