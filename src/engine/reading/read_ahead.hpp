// Reads a file ahead of a reader that goes forward through it, where its storage is slow.
//
// Reads that are as fast as memory are left alone: then a copy costs more than it saves. A reader
// without order costs a look at a small table. What cannot be read ahead is not told; the reader
// reads it again and sees the error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "engine/io/file.hpp"
#include "engine/reading/blocks.hpp"
#include "engine/reading/streams.hpp"
#include "engine/threads/lending.hpp"

namespace headrace::engine {

class StagedFile;

struct ReadAheadStatistics {
  std::uint64_t bytes = 0;   // asked of workers
  std::uint64_t hits = 0;    // bytes that the program read from there
  std::uint64_t unused = 0;  // of `bytes`, those that it never read
};

// Of one file. One thread at a time calls an object; different objects may be used from several.
class ReadAhead {
 public:
  // The storage must outlive the object, and so must `staged`, which may be null: what is staged
  // there is not read ahead. `limit`: the most memory that data read ahead of the file takes, in
  // bytes; that of all files together takes at most the largest limit.
  ReadAhead(io::File& storage, const StagedFile* staged, std::uint64_t limit);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  // Waits for reads that have begun.
  ~ReadAhead();

  // Copies what has been read ahead of the begin of the range; returns how many bytes, often 0.
  // Waits for what is being read.
  std::size_t take(std::uint64_t offset, std::span<std::byte> bytes) {
    return blocks_.empty() ? 0 : take_some(offset, bytes);
  }
  // After a read of the program: of its bytes, the last `below` were read without us in `time`. May
  // read ahead, never from `end` on, which is the file's size.
  void note(std::uint64_t offset, std::size_t size, std::size_t below,
            std::chrono::nanoseconds time, std::uint64_t end) noexcept;
  // Has `write` change bytes of the file; where it fails, which it says by false or throws, it may
  // have changed some of them. Lent bytes are not kept: they may fail after that.
  template <typename Write>
  void change(std::uint64_t offset, std::span<const std::byte> bytes, const Write& write) {
    const bool lent = Lending::current() != nullptr;
    if (!blocks_.empty()) change_some(offset, bytes.size(), lent ? nullptr : bytes.data());
    bool written = false;
    try {
      written = write();
    } catch (...) {
      forget(offset, bytes.size());
      throw;
    }
    if (!written) forget(offset, bytes.size());
  }
  // To be called before bytes of the file change.
  void forget(std::uint64_t offset, std::uint64_t size) {
    if (!blocks_.empty()) change_some(offset, size, nullptr);
  }

  [[nodiscard]] ReadAheadStatistics statistics() const;

 private:
  // Whether reading ahead is worth a copy, by how long reads took.
  class Pace {
   public:
    [[nodiscard]] bool slow() const { return on_; }
    void program_read(std::uint64_t size, std::chrono::nanoseconds time);
    void worker_read(std::uint64_t size, std::chrono::nanoseconds time);
    void failed();

   private:
    bool on_ = false;
    unsigned in_a_row_ = 0;  // reads that speak against what is so
    unsigned needed_ = 2;
  };
  using Table = std::map<std::uint64_t, reading::BlockRef>;  // by offset; they do not overlap

  std::size_t take_some(std::uint64_t offset, std::span<std::byte> bytes);
  void change_some(std::uint64_t offset, std::uint64_t size, const std::byte* bytes);
  void forget_stream(std::uint64_t number, std::uint64_t before);
  Table::iterator drop(Table::iterator entry);
  Table::iterator block_at(std::uint64_t offset);
  [[nodiscard]] bool certain(const reading::Stream& stream) const;
  void follow(reading::Stream& stream, std::uint64_t end);
  void follow_steps(reading::Stream& stream, std::uint64_t end, std::uint64_t window);
  bool read_block(const reading::Stream& stream, std::uint64_t begin, std::uint64_t size);

  const StagedFile* staged_;
  std::unique_ptr<reading::FileReads> file_;
  reading::Streams streams_;
  Table blocks_;
  Pace pace_;
  ReadAheadStatistics statistics_;
};

}  // namespace headrace::engine
