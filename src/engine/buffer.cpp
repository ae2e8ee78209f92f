#include "engine/buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/process/anew_in_child.hpp"

namespace headrace::engine {
namespace {

constexpr std::size_t kSmallest = 16 << 10;  // below it the allocator is as good
constexpr std::size_t kMostKept = 64 << 20;

struct Kept {
  std::mutex mutex;
  std::multimap<std::size_t, std::unique_ptr<std::byte[]>> by_capacity;
  std::size_t bytes = 0;
};

Kept& kept() { return AnewInChild<Kept>::get(); }

}  // namespace

Buffer::Buffer(std::size_t size) : size_(size), capacity_(size) {
  if (size >= kSmallest) {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_capacity.lower_bound(size);
    if (found != all.by_capacity.end() && found->first / 2 <= size) {
      capacity_ = found->first;
      memory_ = std::move(found->second);
      all.bytes -= capacity_;
      all.by_capacity.erase(found);
      return;
    }
  }
  memory_ = std::make_unique_for_overwrite<std::byte[]>(size);
}

Buffer::~Buffer() {
  if (capacity_ < kSmallest) return;
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  if (all.bytes + capacity_ > kMostKept) return;
  try {
    all.by_capacity.emplace(capacity_, std::move(memory_));
    all.bytes += capacity_;
  } catch (const std::bad_alloc&) {
    return;  // freed instead
  }
}

void Buffer::resize(std::size_t size) {
  if (size > capacity_) {
    Buffer larger(size);
    if (size_ > 0) std::memcpy(larger.data(), data(), size_);
    *this = std::move(larger);
  }
  size_ = size;  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the move is a swap
}

void keep_freed_blocks() {
  constexpr std::size_t kLargest = 4U << 20U;
  void* volatile block = std::malloc(kLargest);  // volatile: else both calls may be left out
  std::free(block);
}

}  // namespace headrace::engine
