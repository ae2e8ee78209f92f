// The ledger: every request that a process made of a file, see docs/formats/ledger.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/parameters.hpp"

namespace headrace::model {

inline constexpr std::uint8_t kMetadata = 1;    // not the values of a dataset
inline constexpr std::uint8_t kCollective = 2;  // all ranks made this call together
// Not in one place: `length` bytes somewhere within `span`. Said of MPI datatypes only.
inline constexpr std::uint8_t kScattered = 4;

struct Record {
  std::uint64_t offset = 0;    // bytes from the file's start
  std::uint64_t length = 0;    // bytes
  std::uint64_t span = 0;      // from the first byte to past the last; `length` unless scattered
  std::uint64_t begin = 0;     // nanoseconds since the file was opened
  std::uint64_t duration = 0;  // nanoseconds; of the pieces of one call the first has it
  std::uint32_t call = 0;      // the number of the callback, or of the collective one; from 1
  Kind kind = Kind::read;
  std::uint8_t flags = 0;
  std::uint8_t type = 0;  // H5FD_mem_t

  [[nodiscard]] bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  bool operator==(const Record&) const = default;
};

struct Header {
  std::string file;  // as the program named it
  std::string host;
  std::int32_t rank = -1;  // -1: not opened over MPI
  std::int32_t ranks = -1;
  std::uint32_t pid = 0;
  std::uint64_t opened = 0;  // nanoseconds since 1970

  bool operator==(const Header&) const = default;
};

struct Ledger {
  Header header;
  std::vector<Record> records;
  bool closed = true;  // false: the process was killed, and what it had not written yet is missing
};

inline constexpr std::size_t kRecordBytes = 48;
inline constexpr std::uint64_t kOpen = ~0ULL;    // the count of a ledger that nobody closed
inline constexpr std::size_t kCountOffset = 16;  // where the count is in a header

// A header with this count of records.
std::vector<std::byte> encode(const Header& header, std::uint64_t count);
void encode(const Record& record, std::span<std::byte, kRecordBytes> bytes);
// A whole ledger.
std::vector<std::byte> encode(const Ledger& ledger);

// Throws Error that names `source` and what is wrong with it. A ledger that nobody closed is read
// to its last whole record.
Ledger decode(std::span<const std::byte> bytes, const std::string& source);

// Throws Error that names the file.
Ledger read_ledger(const std::string& path);

}  // namespace headrace::model
