// What is freed and kept.
#include "engine/buffer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

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

}  // namespace
