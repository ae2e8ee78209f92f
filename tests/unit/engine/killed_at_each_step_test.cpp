// Processes that are killed after so many of their instructions, or calls of the system, while they
// fill a chunk.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "engine/cache/disk/disk_store.hpp"
#include "engine/cache/shared/shared_store.hpp"
#include "support/stepped.hpp"
#include "unit/engine/store_suite.hpp"

namespace headrace::engine::cache {
namespace {

using namespace std::chrono_literals;
using test::for_steps;
using test::kAny;
using test::Stepped;

constexpr std::size_t kMemory = std::size_t{3} << 20U;
constexpr std::size_t kBytes = 4096;

class Folder {
 public:
  Folder() {
    if (::mkdtemp(path_.data()) == nullptr) throw Error("mkdtemp", errno);
    ::setenv("HEADRACE_SHARED", path_.c_str(), 1);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    ::unsetenv("HEADRACE_SHARED");
    std::filesystem::remove_all(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/headrace-test-XXXXXX";
};

TEST(SharedStore, whoever_is_killed_at_any_step_of_filling_a_chunk_leaves_nothing_wrong) {
  const Folder folder;
  SharedStore store(kMemory, 1min);
  ASSERT_TRUE(cache_one(store, key_of(0), kBytes, 1));  // the class has a slab
  const auto fill = [&] {
    store.begin_child();
    cache_one(store, key_of(1), kBytes, 2);
  };
  const int all = Stepped(fill).step(kAny);
  store.forget(key_of(1));
  for_steps(all, [&](int steps) {
    Stepped(fill).step(steps);
    const auto value = value_in(store, key_of(1));
    ASSERT_TRUE(!value || *value == 2);
    if (!value) {
      ASSERT_TRUE(cache_one(store, key_of(1), kBytes, 3));
    }
    ASSERT_EQ(value_in(store, key_of(1)), value.value_or(3));
    store.forget(key_of(1));
  });
}

// In a folder of its own each time.
void take_a_slab(int steps, int* all) {
  const Folder folder;
  SharedStore store(kMemory, 1min);
  {
    Stepped child([&] {
      store.begin_child();
      cache_one(store, key_of(1), kBytes, 2);
    });
    const int made = child.step(steps);
    if (all != nullptr) *all = made;
  }
  const auto value = value_in(store, key_of(1));
  ASSERT_TRUE(!value || *value == 2);
  for (int i = 2; i < 40; ++i) {
    EXPECT_TRUE(cache_one(store, key_of(i), kBytes, i)) << i;
    ASSERT_EQ(value_in(store, key_of(i)), i);
  }
}

TEST(SharedStore, whoever_is_killed_at_any_step_of_taking_a_slab_leaves_nothing_wrong) {
  int all = 0;
  take_a_slab(kAny, &all);
  for_steps(all, [](int steps) { take_a_slab(steps, nullptr); });
}

void keep_on_disk(int steps, int* all) {
  const std::vector<std::byte> chunk(kBytes, std::byte{7});
  const auto source = [&](const Visitor& visitor) {
    visitor(chunk);
    return true;
  };
  const Folder folder;
  DiskStore disk(folder.path(), std::uint64_t{3} << 20U);
  {
    Stepped child(
        [&] {
          disk.begin_child();
          disk.keep(key_of(1), kBytes, source);
        },
        PTRACE_SYSCALL);
    const int made = child.step(steps);
    if (all != nullptr) *all = made;
  }
  std::vector<std::byte> found(kBytes);
  if (disk.load(key_of(1), found)) {
    ASSERT_EQ(found, chunk);
  }
  disk.keep(key_of(1), kBytes, source);
  ASSERT_TRUE(disk.load(key_of(1), found));
  ASSERT_EQ(found, chunk);
  ASSERT_EQ(disk.damaged(), 0);
}

TEST(DiskStore, whoever_is_killed_at_any_step_leaves_nothing_wrong) {
  int all = 0;
  keep_on_disk(kAny, &all);
  for_steps(all, [](int steps) { keep_on_disk(steps, nullptr); });
}

}  // namespace
}  // namespace headrace::engine::cache
