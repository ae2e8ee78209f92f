// Reads of a file that worker threads make while the program goes on, into memory that it has lent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/io/file.hpp"
#include "engine/threads/lending.hpp"
#include "engine/threads/ordered.hpp"

namespace headrace::engine {

// Of one file, used by one thread. A fork waits for what is under way.
class BackgroundReads {
 public:
  // The storage must outlive the object.
  explicit BackgroundReads(io::File& storage) : storage_(storage) {}
  BackgroundReads(const BackgroundReads&) = delete;
  BackgroundReads& operator=(const BackgroundReads&) = delete;
  // Waits for what is under way.
  ~BackgroundReads() { wait(); }

  // `bytes` are filled from `offset` on, by parts of the completion that end with what went wrong.
  // What is written to the range from now on is not seen if the writer calls wait_for() first.
  void start(std::uint64_t offset, std::span<std::byte> bytes,
             const std::shared_ptr<Completion>& completion);

  // Returns when no read under way touches the range, or none at all.
  void wait_for(std::uint64_t offset, std::uint64_t size) {
    if (!reads_.empty() && offset < end_ && begin_ < offset + size) wait();
  }
  void wait();

 private:
  io::File& storage_;
  Ordered reads_{~std::size_t{0}};
  // Around all that is in reads_.
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace headrace::engine
