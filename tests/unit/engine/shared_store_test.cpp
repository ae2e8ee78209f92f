#include "engine/cache/shared/shared_store.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "base/error.hpp"
#include "engine/cache/shared/writers.hpp"
#include "unit/engine/store_suite.hpp"

namespace headrace::engine::cache {
namespace {

using namespace std::chrono_literals;

// A shared folder of the test's own, in memory.
class SharedFolder {
 public:
  SharedFolder() {
    if (::mkdtemp(path_.data()) == nullptr) throw Error("mkdtemp", errno);
    ::setenv("HEADRACE_SHARED", path_.c_str(), 1);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() {
    ::unsetenv("HEADRACE_SHARED");
    std::filesystem::remove_all(path_);
  }
  [[nodiscard]] std::filesystem::path path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/headrace-test-XXXXXX";
};

constexpr std::size_t kMemory = std::size_t{13} << 20U;  // 12 slabs of 1 MiB
constexpr std::size_t kBytes = 300 << 10U;               // two in a slab
constexpr std::size_t kPlaces = 24;

struct SharedFixture {
  static constexpr std::size_t kChunks = kPlaces;
  static constexpr std::size_t kBytes = cache::kBytes;
  Store& store() { return shared; }

  SharedFolder folder;
  SharedStore shared{kMemory, 1min};
};
INSTANTIATE_TYPED_TEST_SUITE_P(Shared, StoreSuite, SharedFixture);

// Runs it in a child, which ends without any destructor. Its status; -1 where it was killed.
int in_child(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(action());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SharedStore, other_processes_have_what_one_has_cached) {
  const SharedFolder folder;
  SharedStore store(kMemory, 1min);
  EXPECT_TRUE(cache_one(store, key_of(1), kBytes, 1));
  EXPECT_EQ(in_child([] {
              SharedStore theirs(2 * kMemory, 1min);  // the first one's bounds hold
              if (value_in(theirs, key_of(1)) != 1) return 1;
              return cache_one(theirs, key_of(2), kBytes, 2) ? 0 : 2;
            }),
            0);
  EXPECT_EQ(value_in(store, key_of(2)), 2);
}

// As private copies of the library in one process are.
TEST(SharedStore, two_of_one_process_do_not_take_each_other_for_dead) {
  const SharedFolder folder;
  SharedStore one(kMemory, 1min);
  SharedStore two(kMemory, 1min);
  Claim claim = one.claim(key_of(1), kBytes);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(two.claim(key_of(1), kBytes));
  EXPECT_FALSE(two.wait_for(key_of(1), kBytes));
  fill(claim.bytes(), 5);
  claim.publish();
  EXPECT_TRUE(two.wait_for(key_of(1), kBytes));
  EXPECT_EQ(value_in(two, key_of(1)), 5);
}

TEST(SharedStore, a_child_fills_nothing_that_its_parent_does) {
  const SharedFolder folder;
  SharedStore store(kMemory, 1min);
  Claim claim = store.claim(key_of(1), kBytes);
  EXPECT_EQ(in_child([&] {
              store.begin_child();
              claim.publish();  // is not its own
              if (value_in(store, key_of(1))) return 1;
              if (store.claim(key_of(1), kBytes)) return 2;
              return cache_one(store, key_of(2), kBytes, 2) ? 0 : 3;
            }),
            0);
  EXPECT_EQ(value_in(store, key_of(2)), 2);
  fill(claim.bytes(), 1);
  claim.publish();
  EXPECT_EQ(value_in(store, key_of(1)), 1);
}

TEST(SharedStore, what_a_killed_process_claimed_can_be_claimed_again) {
  const SharedFolder folder;
  SharedStore store(kMemory, 1min);
  for (int round = 0; round < 50; ++round) {  // more than there are places
    in_child([] {
      SharedStore theirs(kMemory, 1min);
      for (int i = 0; i < 5; ++i) new Claim(theirs.claim(key_of(i), kBytes));
      ::raise(SIGKILL);
      return 0;
    });
  }
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(cache_one(store, key_of(i), kBytes, i));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(value_in(store, key_of(i)), i);
}

// Chunks of several classes, so that slabs change hands.
int random_work(unsigned seed) {
  constexpr std::array<std::size_t, 4> kSizes{5'000, 70'000, 300'000, 900'000};
  SharedStore store(kMemory, 1min);
  std::minstd_rand random(seed);
  const std::size_t size = kSizes[random() % kSizes.size()];
  for (;;) {
    const auto number = static_cast<int>(random() % 100);
    const Key key = key_of(number, size);
    if (random() % 2 == 0) cache_one(store, key, size, number);
    if (const auto value = value_in(store, key); value && *value != number) return 1;
  }
}

// Killed at the end of the test at the latest.
struct Children {
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const pid_t child : running) end(child);
  }
  static void end(pid_t child) {
    if (child == 0) return;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  std::array<pid_t, 3> running{};
};

TEST(SharedStore, processes_killed_at_any_moment_leave_nothing_wrong) {
  const SharedFolder folder;
  const char* const asked = std::getenv("LONG");
  const bool all = asked != nullptr && std::string_view(asked) != "0";
  const int rounds = all ? 10'000 : 100;
  if (all) ::alarm(600);
  std::minstd_rand random(1);
  Children children;
  for (int round = 0; round < rounds; ++round) {
    pid_t& child = children.running.at(random() % children.running.size());
    if (child != 0) {
      ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it saw a wrong chunk";
    }
    Children::end(child);
    child = ::fork();
    if (child == 0) ::_exit(random_work(static_cast<unsigned>(round)));
    ::usleep(static_cast<useconds_t>(random() % (all ? 8'000 : 20'000)));
  }
  for (pid_t& child : children.running) Children::end(std::exchange(child, 0));
  SharedStore store(kMemory, 1min);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(cache_one(store, key_of(i, 7), kBytes, i));
    EXPECT_EQ(value_in(store, key_of(i, 7)), i);
  }
  std::uintmax_t blocks = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    struct stat status{};
    ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
    blocks += static_cast<std::uintmax_t>(status.st_blocks) * 512;
  }
  EXPECT_LE(blocks, kMemory + (2U << 20U));
}

TEST(SharedStore, is_made_anew_when_nobody_has_had_it_for_long) {
  const SharedFolder folder;
  {
    SharedStore store(kMemory, 1min);
    EXPECT_TRUE(cache_one(store, key_of(1), kBytes, 1));
    const SharedStore other(kMemory, 0s);  // somebody has it
    store.leave();
  }
  EXPECT_EQ(in_child([] {
              SharedStore store(kMemory, 1min);
              return value_in(store, key_of(1)) == 1 ? 0 : 1;
            }),
            0);
  SharedStore anew(kMemory, 0s);
  EXPECT_EQ(value_in(anew, key_of(1)), std::nullopt);
}

TEST(SharedStore, what_is_damaged_or_others_own_is_refused) {
  const SharedFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  EXPECT_THROW(SharedStore(kMemory, 1min), Error);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  EXPECT_THROW(SharedStore(1000, 1min), Error);
  {
    const OwnedDescriptor file = open_private(shared_folder(), kFile, [](int) {});
  }
  EXPECT_THROW(SharedStore(kMemory, 1min), Error);
  std::filesystem::remove(folder.path() / kFile);
  std::filesystem::create_symlink("/dev/null", folder.path() / kFile);
  EXPECT_THROW(SharedStore(kMemory, 1min), Error);
}

TEST(Writers, a_file_is_settled_when_nobody_writes_it) {
  const SharedFolder folder;
  constexpr io::FileIdentity kFile{1, 2, 3};
  Writers ours("writers");
  Writers theirs("writers");  // as of another process
  const auto before = ours.settled(kFile);
  ASSERT_TRUE(before);
  const auto one = theirs.begin(kFile);
  EXPECT_NE(ours.number(kFile), *before);
  EXPECT_FALSE(ours.settled(kFile));
  EXPECT_FALSE(theirs.settled(kFile));
  theirs.end(kFile, theirs.begin(kFile));
  EXPECT_FALSE(ours.settled(kFile));
  theirs.end(kFile, one);
  const auto after = ours.settled(kFile);
  ASSERT_TRUE(after);
  EXPECT_NE(*after, *before);
  EXPECT_EQ(theirs.settled(kFile), after);
  EXPECT_TRUE(ours.settled({1, 3, 3}));
}

TEST(Writers, one_that_is_killed_is_gone) {
  const SharedFolder folder;
  constexpr io::FileIdentity kFile{1, 2, 3};
  const Writers ours("writers");
  const auto before = ours.settled(kFile);
  in_child([&] {
    Writers theirs("writers");
    static_cast<void>(theirs.begin(kFile));
    return 0;
  });
  const auto after = ours.settled(kFile);
  ASSERT_TRUE(after);
  EXPECT_NE(after, before);
}

TEST(Writers, a_child_does_not_end_what_its_parent_writes) {
  const SharedFolder folder;
  constexpr io::FileIdentity kFile{1, 2, 3};
  Writers ours("writers");
  const auto begun = ours.begin(kFile);
  EXPECT_EQ(in_child([&] {
              ours.begin_child();
              ours.end(kFile, begun);
              if (ours.settled(kFile)) return 1;
              const auto childs = ours.begin(kFile);
              ours.end(kFile, begun);  // is not the child's
              ours.end(kFile, childs);
              return 0;
            }),
            0);
  EXPECT_FALSE(Writers("writers").settled(kFile));
  ours.end(kFile, begun);
  EXPECT_TRUE(ours.settled(kFile));
}

}  // namespace
}  // namespace headrace::engine::cache
