// Stores in programs that fork beside threads, change their folder, or cancel threads.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "store/lmdb_folder.hpp"
#include "support/child.hpp"

namespace headrace::store {
namespace {

using test::Child;

TEST_F(LmdbFolder, a_fork_beside_threads_that_work_has_a_store_that_works) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's allocator may be locked in a child of busy threads";
#endif
  const auto store = open();
  std::atomic<bool> done = false;
  std::vector<std::jthread> threads;
  threads.reserve(3);
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      while (!done) {
        put(*store, change(std::to_string(i), sample(i == 0 ? kLarge : 10, i)));
        whole(*store, "0");
      }
    });
  for (unsigned i = 0; i < 200; ++i) {
    const Child child([&] {
      put(*store, change("child", sample(kLarge, i)));
      return whole(*store, "child") == sample(kLarge, i);
    });
    EXPECT_TRUE(child.ends_well()) << i;
  }
  done = true;
}

TEST_F(LmdbFolder, a_daemon_that_closes_all_and_changes_its_folder_goes_on) {
  fs::current_path(fs::path(path_).parent_path());
  const LmdbStore store("store", Durability::process);
  auto& used = const_cast<LmdbStore&>(store);
  put(used, change("b", sample(kLarge, 1)));
  const Child child([&] {
    for (int descriptor = 3; descriptor < 100; ++descriptor) ::close(descriptor);
    const std::string own = folder_ / "own";
    std::vector<int> opened;
    opened.reserve(20);
    for (int i = 0; i < 20; ++i) opened.push_back(::open(own.c_str(), O_RDWR | O_CREAT, 0600));
    if (::chdir("/") != 0) return false;
    put(used, change("c", sample(kLarge, 2)));
    for (const int descriptor : opened)
      if (::fcntl(descriptor, F_GETFD) < 0) return false;
    return whole(used, "b") == sample(kLarge, 1);
  });
  EXPECT_TRUE(child.ends_well());
  EXPECT_EQ(whole(used, "c"), sample(kLarge, 2));
  fs::current_path("/");
}

// Begins threads that repeat their work, and cancels each at some moment. `after` follows.
void cancel(unsigned threads, std::function<void(unsigned)> work,
            const std::function<void()>& after) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < threads && !testing::Test::HasFatalFailure(); ++i) {
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(
                  &thread, nullptr,
                  [](void* its) -> void* {
                    for (unsigned turn = 0; true; ++turn) {
                      (*static_cast<std::function<void(unsigned)>*>(its))(turn);
                      ::pthread_testcancel();
                    }
                  },
                  &work),
              0);
    ::usleep(random() % 2000);
    ::pthread_cancel(thread);
    ::pthread_join(thread, nullptr);
    after();
  }
}

#ifdef __SANITIZE_ADDRESS__
#define SKIP_UNDER_ASAN \
  GTEST_SKIP() << "a cancelled thread leaves the sanitizer's marks on its stack"
#else
#define SKIP_UNDER_ASAN
#endif

TEST_F(LmdbFolder, threads_that_are_cancelled_at_large_blobs_leave_no_descriptors) {
  SKIP_UNDER_ASAN;
  const auto store = open();
  renew(*store, 0);
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  const auto work = [&](unsigned turn) {
    renew(*store, turn % 3);
    whole(*store, "b");
  };
  cancel(200, work, [] {});
  EXPECT_LT(descriptors(), before + 10);
  EXPECT_TRUE(whole(*store, "b").has_value());
}

TEST_F(LmdbFolder, threads_that_are_cancelled_leave_the_store_in_order) {
  SKIP_UNDER_ASAN;
  const auto store = open();
  renew(*store, 0);
  cancel(
      100, [&](unsigned turn) { commit_pair(*store, turn % 3); },
      [&] {
        const auto entries = store->scan("t", "", 2);
        ASSERT_EQ(entries[0].value, entries[1].value);
        ASSERT_TRUE(commit_pair(*store, 1));
      });
}

}  // namespace
}  // namespace headrace::store
