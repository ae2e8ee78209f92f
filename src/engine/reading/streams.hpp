// Recognises readers that go forward through a file: in one go, in steps of one distance, several
// at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace::engine::reading {

// Offsets and sizes are in bytes.
struct Stream {
  std::uint64_t number = 0;  // no other stream of the file has it; 0: none
  std::uint64_t begin = 0;   // of the last read
  std::uint64_t end = 0;
  std::uint64_t step = 0;   // from one read to the next; 0: each begins about where the last ended
  std::uint64_t bytes = 0;  // read so far
  std::uint64_t ahead = 0;  // where what is still to be read ahead begins
  unsigned matches = 0;     // reads that continued it
  std::uint64_t last = 0;   // when, in reads of the file
};

// Not thread-safe.
class Streams {
 public:
  struct Found {
    Stream* stream = nullptr;                  // that the read continues, or null
    std::array<std::uint64_t, 2> forgotten{};  // numbers of streams that made way for others
  };
  // Takes a read of `size` bytes.
  Found add(std::uint64_t offset, std::uint64_t size);

 private:
  using Test = bool (*)(const Stream& stream, std::uint64_t offset, std::uint64_t size);
  Stream* find(Test test, std::uint64_t offset, std::uint64_t size);
  Stream& begin(std::uint64_t offset, std::uint64_t size, std::uint64_t& forgotten);
  Stream& replaced();

  struct Read {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  static constexpr std::size_t kStreams = 16;
  std::array<Stream, kStreams> streams_{};
  Read last_;
  Read before_;
  std::uint64_t reads_ = 0;
  std::uint64_t numbers_ = 0;
};

}  // namespace headrace::engine::reading
