// What a log file is made of; docs/formats/log.md has it to the byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/log/pattern.hpp"

namespace headrace::engine::log {

constexpr std::size_t kHeaderBytes = 32;
constexpr std::string_view kMagic = "HRLG";  // of each header

enum class SegmentKind : std::uint32_t { data = 1, index = 2, owner = 3, closing = 4 };

// What a log and the file that it belongs to have in common.
using Owner = std::array<std::byte, 16>;

// The same of each log of a file that ranks have written together, and which of them it is.
struct Belonging {
  Owner owner{};
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;

  bool operator==(const Belonging&) const = default;
};

// Stands before each segment, and is written after it.
struct SegmentHeader {
  SegmentKind kind = SegmentKind::data;
  std::uint64_t sequence = 0;  // counts the segments of a file
  std::uint64_t bytes = 0;     // that follow
  std::uint32_t checksum = 0;  // of those

  [[nodiscard]] std::array<std::byte, kHeaderBytes> encode() const;
};

// False when the bytes are no header of a segment, be it because they were never written.
bool decode(std::span<const std::byte, kHeaderBytes> bytes, SegmentHeader& header);

// What an owner's segment holds, and back. Throws Error for a version of the format that is not
// this one, and for anything else.
constexpr std::size_t kOwnerBytes = 4 + sizeof(Owner) + 4 + 4;
std::array<std::byte, kOwnerBytes> encode(const Belonging& belonging);
Belonging decode_owner(std::span<const std::byte> bytes);

// What the last segment of a log holds whose file was closed: how many segments and bytes are
// before it.
constexpr std::size_t kClosingBytes = 16;
std::array<std::byte, kClosingBytes> encode_closing(std::uint64_t segments, std::uint64_t bytes);

// CRC-32 as in zlib, of what `before` is the checksum of and the bytes after it.
std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t before = 0);

struct LoggedDataset {
  std::uint64_t element = 0;          // bytes
  std::array<std::byte, 16> token{};  // H5O_token_t
  std::string name;                   // empty where none is known
  std::string type;                   // what its elements are, in words
  std::vector<std::uint64_t> row;     // the extent of all dimensions but the slowest
};

struct LoggedWrite {
  std::uint32_t dataset = 0;   // a place in Index::datasets
  std::uint32_t pattern = 0;   // a place in Index::patterns
  std::uint64_t first = 0;     // the element that the pattern begins at
  std::uint64_t position = 0;  // where its data begins among all data of the file, in bytes
  std::uint64_t epoch = 0;     // how many flushes of the program came before
};

// The writes of a log file in the order in which the program made them.
struct Index {
  std::vector<LoggedDataset> datasets;
  std::vector<Pattern> patterns;
  std::vector<LoggedWrite> writes;
  std::uint64_t data_bytes = 0;  // of all of them
};

// Reads the index's segments, in their order.
class IndexReader {
 public:
  // `data_bytes`: those of all data segments before it. Throws Error for whatever IndexWriter
  // cannot have made, and may then have added a part of the segment.
  void add(std::string_view segment, std::uint64_t data_bytes);
  [[nodiscard]] const Index& index() const { return index_; }

 private:
  void add_patterns(std::string_view& segment, std::uint64_t data_bytes);
  void add_writes(std::string_view& segment, std::uint64_t data_bytes);

  Index index_;
  std::vector<std::uint64_t> last_;
  std::uint64_t dataset_ = 0;
  std::uint64_t epoch_ = 0;
  std::size_t used_ = 0;  // patterns that writes have
};

// Makes the index's segments.
class IndexWriter {
 public:
  // Returns the place of a new dataset.
  std::uint32_t add(LoggedDataset dataset);
  // The next write; its data follows that of the one before.
  void add(std::uint32_t dataset, const Pattern& pattern, std::uint64_t first);
  [[nodiscard]] bool empty() const { return new_writes_ == 0; }
  // The memory of what was added since the last take(), in bytes, and about that of an IndexReader
  // of all.
  [[nodiscard]] std::uint64_t memory() const {
    return datasets_.size() + patterns_.size() + writes_.size();
  }
  [[nodiscard]] std::uint64_t readers_memory() const { return readers_memory_; }
  // The segment for what was added since the last call, in that epoch or a later one.
  std::string take(std::uint64_t epoch);

 private:
  std::unordered_map<std::string, std::uint32_t> known_;  // patterns, encoded; the latest ones
  std::size_t known_bytes_ = 0;
  std::uint32_t all_patterns_ = 0;
  std::uint64_t readers_memory_ = 0;
  std::vector<std::uint64_t> last_;  // by dataset: where its last write began
  std::uint32_t dataset_ = 0;        // of the last write
  // Since the last take().
  std::string datasets_, patterns_, writes_;
  std::uint64_t new_datasets_ = 0, new_patterns_ = 0, new_writes_ = 0;
};

}  // namespace headrace::engine::log
