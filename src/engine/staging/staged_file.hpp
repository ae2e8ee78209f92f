// A file whose writes are staged in memory and performed by the worker threads.
//
// What is written is seen by reads of the same object at once, by everybody else after a drain. The
// bytes of overlapping writes end in the order of the calls. One thread at a time calls an object;
// different objects may be used from several.
//
// An error of a write in the background is kept and thrown by the next drain(), once. The data
// stays staged and is tried again, once by each drain.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/io/file.hpp"
#include "engine/staging/statistics.hpp"
#include "engine/threads/lending.hpp"

namespace headrace::engine {

namespace staging {
struct FileState;
struct Page;
}  // namespace staging

struct StagingLimits {
  // The most memory that staged data of all files may take, in bytes; 0 is an eighth of the
  // machine's and at most 1 GiB. The largest of those of open files holds.
  std::uint64_t budget = 0;
  // The age at which data of the file is written though more might come beside it; 0 writes nothing
  // before it must.
  std::chrono::nanoseconds interval{};
};
// The memory that staged data takes now, and the most that it has taken so far, in bytes.
std::uint64_t staging_memory();
std::uint64_t staging_peak();

// Who else writes to the file. Where others do, nothing but what was written here is written: the
// bytes between may be theirs.
enum class Writers { alone, others };

class StagedFile {
 public:
  // `size`: the file's, in bytes. The storage is used from several threads at a time.
  StagedFile(std::unique_ptr<io::File> storage, std::uint64_t size, const StagingLimits& limits,
             Writers writers = Writers::alone);
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  // Forgets what is still staged.
  ~StagedFile();

  // Copies the bytes, or writes them right away when there is no memory left for them. Waits when
  // the budget is used up. Throws Error when a write that was not staged fails. Bytes that are lent
  // (engine/threads/lending.hpp) are not copied as far as they fill pages; what goes wrong with
  // them is told to their lender only, and is not tried again.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);

  // Of pages of which nothing is staged: writes what fills them on the calling thread, which costs
  // less than a copy where the system keeps what is written in memory; as write() where the storage
  // was slow of late, or the bytes are lent. Throws Error.
  void write_at_once(std::uint64_t offset, std::span<const std::byte> bytes);

  // Returns when everything written before is in the file. Throws Error, see above.
  void drain();

  // Forgets what is staged from `size` on, and takes that for the file's size; the caller sets the
  // storage's.
  void set_end(std::uint64_t size);
  // The size of the file with what is staged.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  // The bytes that are staged and not yet written; after a failed drain those that would be lost.
  [[nodiscard]] std::uint64_t staged_bytes() const;
  // Whether something of a range is staged and not yet written.
  [[nodiscard]] bool any_staged(std::uint64_t offset, std::uint64_t size) const;
  // Something was written to the storage without us.
  void note_write(std::uint64_t offset, std::uint64_t size);

  [[nodiscard]] io::File& storage() { return *storage_; }
  [[nodiscard]] StagingStatistics statistics() const;
  // How far its writes are, all at one time.
  [[nodiscard]] StagingProgress progress() const;

 private:
  friend class StagedView;
  [[nodiscard]] bool is_fast() const;
  void write_lent(std::uint64_t offset, std::span<const std::byte> bytes,
                  const std::shared_ptr<Completion>& lender);
  std::unique_ptr<io::File> storage_;
  std::unique_ptr<staging::FileState> state_;
  std::uint64_t end_;
};

// What is staged of a range of a file, for a read: taken before the bytes are read from the file
// below, applied after. The object must not be written to in between.
class StagedView {
 public:
  StagedView(StagedFile& file, std::uint64_t offset, std::size_t size);
  StagedView(const StagedView&) = delete;
  StagedView& operator=(const StagedView&) = delete;
  ~StagedView();

  // Bytes of the file, from `offset` on.
  struct Range {
    std::uint64_t offset;
    std::uint64_t size;
  };
  // What must be read from the file below: a few ranges that have all bytes which are not staged.
  [[nodiscard]] std::span<const Range> missing() const {
    return std::span(missing_).first(missing_count_);
  }
  // Whether the file below ends before the range, so that it is zeros there.
  [[nodiscard]] bool beyond() const { return beyond_; }
  // Copies the staged bytes over those of the range.
  void apply(std::span<std::byte> bytes) const;

 private:
  void note_missing(std::uint64_t begin, std::uint64_t end);
  void join_missing(std::uint64_t size);

  std::uint64_t offset_;
  std::vector<staging::Page*> pages_;  // older versions before newer ones
  std::array<Range, 4> missing_{};
  std::size_t missing_count_ = 0;
  bool beyond_ = false;
};

}  // namespace headrace::engine
