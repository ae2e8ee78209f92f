// What is freed and kept.
#include "engine/buffer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "support/child.hpp"

namespace {

using namespace headrace;

TEST(Buffer, FreedBlocksAreKept) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has an allocator of its own";
#else
  constexpr std::size_t kBytes = 3U << 20U;
  engine::keep_freed_blocks();
  const auto mapped = ::mallinfo2().hblks;
  void* volatile block = std::malloc(kBytes);
  EXPECT_EQ(::mallinfo2().hblks, mapped) << "it is mapped for this block alone";
  std::free(block);
  EXPECT_GE(::mallinfo2().fordblks, kBytes) << "it has been given back to the system";
#endif
}

// Another thread may be giving one back when a process forks.
TEST(Buffer, AChildHasThoseOfItsOwn) {
  constexpr std::size_t kBytes = 1U << 20U;
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) const engine::Buffer buffer(kBytes);
  });
  bool all_end_well = true;
  for (int i = 0; i < 100 && all_end_well; ++i)
    all_end_well = test::Child([] {
                     const engine::Buffer buffer(kBytes);
                     return buffer.size() == kBytes;
                   }).ends_well();
  is_over = true;
  other.join();
  EXPECT_TRUE(all_end_well);
}

}  // namespace
