#include "engine/reading/background_reads.hpp"

#include <algorithm>
#include <exception>

namespace headrace::engine {
namespace {

class Read final : public Job {
 public:
  Read(io::File& storage, std::uint64_t offset, std::span<std::byte> bytes,
       std::shared_ptr<Completion> completion)
      : storage_(storage), offset_(offset), bytes_(bytes), completion_(std::move(completion)) {}

  void work() override {
    std::exception_ptr error;
    try {
      storage_.read(offset_, bytes_);
    } catch (...) {
      error = std::current_exception();
    }
    completion_->end(error);
  }
  void finish() override {}

 private:
  io::File& storage_;
  std::uint64_t offset_;
  std::span<std::byte> bytes_;
  std::shared_ptr<Completion> completion_;
};

}  // namespace

void BackgroundReads::start(std::uint64_t offset, std::span<std::byte> bytes,
                            const std::shared_ptr<Completion>& completion) {
  constexpr std::size_t kMost = 4U << 20U;
  reads_.finish_done();
  begin_ = reads_.empty() ? offset : std::min(begin_, offset);
  end_ = std::max(reads_.empty() ? 0 : end_, offset + bytes.size());
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kMost);
    completion->begin();
    try {
      reads_.give(std::make_unique<Read>(storage_, offset, bytes.first(size), completion));
    } catch (...) {
      completion->end(std::current_exception());
      throw;
    }
    bytes = bytes.subspan(size);
    offset += size;
  }
}

void BackgroundReads::wait() { reads_.finish(); }

}  // namespace headrace::engine
