// Appends writes to a log file: their data, and with each flush an index of it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/buffer.hpp"
#include "engine/io/file.hpp"
#include "engine/log/format.hpp"
#include "engine/log/index_writer.hpp"
#include "engine/staging/staged_file.hpp"

namespace headrace::engine::log {

// The bytes go to the file behind the program, see engine/staging/staged_file.hpp. One thread at a
// time. Functions throw Error when the file cannot be written; what was flushed before stays. After
// an append() that throws only flush() may be called: it tries all once more that was added before.
class Writer {
 public:
  // `storage`: an empty file. `owner`: what the log belongs to, where others are to know.
  explicit Writer(std::unique_ptr<io::File> storage, const std::optional<Belonging>& owner = {},
                  const StagingLimits& limits = {});

  // Returns the dataset's place, for add().
  std::uint32_t add(const LoggedDataset& dataset) { return index_.add(dataset); }
  // The data of the next write, in parts.
  void append(std::span<const std::byte> bytes);
  // The write whose data was appended; `first` is the element of the dataset that the pattern
  // begins at.
  void add(std::uint32_t dataset, const Pattern& pattern, std::uint64_t first);

  // Returns when a reader of the file finds all writes; with `sync`, after a power cut too.
  void publish(bool sync);
  // The same; later writes are of the next epoch.
  void flush(bool sync);
  // The same after publish(), and says so in the log: a reader can tell writes that were published
  // from those that were flushed.
  void tell_flushed(bool sync);
  // The same, and says in the log that nothing follows. To be called last.
  void close(bool sync);
  // Where what was flushed ends in the file, how many writes were added, and the epoch of those
  // that will be.
  [[nodiscard]] std::uint64_t end() const { return segment_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  // What the log takes but for an index, and how much of that is not in the file yet, in bytes.
  [[nodiscard]] std::uint64_t bytes() const { return end_ + in_gathered_; }
  [[nodiscard]] std::uint64_t staged() const { return file_.staged_bytes() + in_gathered_; }
  // The memory that the index takes until the next flush, in bytes, and about what it takes who
  // reads the log.
  [[nodiscard]] std::uint64_t memory() const { return index_.memory(); }
  [[nodiscard]] std::uint64_t readers_memory() const { return index_.readers_memory(); }

 private:
  void gather(std::span<const std::byte> bytes);
  void pass_on();
  void put(std::span<const std::byte> bytes);
  void put_at_once(std::span<const std::byte> bytes);
  void end_segment();
  void drain(bool sync);
  void put_segment(SegmentKind kind, std::span<const std::byte> bytes);
  void write_header(SegmentKind kind, std::uint64_t at, std::uint64_t bytes,
                    std::uint32_t checksum);

  StagedFile file_;
  IndexWriter index_;
  std::string index_segment_;  // taken from it, and not in the file yet
  std::uint64_t writes_ = 0;
  Buffer gathered_;  // small parts, not yet given to the file
  std::size_t in_gathered_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t segment_ = 0;  // where the header of the current data segment will be
  std::uint64_t end_ = 0;      // of what was given to the file
  std::uint32_t checksum_ = 0;
};

}  // namespace headrace::engine::log
