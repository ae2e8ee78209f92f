#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/descriptor.hpp"
#include "engine/io/local_file_system.hpp"
#include "store/lmdb/data_files.hpp"
#include "store/lmdb_folder.hpp"
#include "support/child.hpp"
#include "support/stepped.hpp"

namespace headrace::store {
namespace {

using test::Child;
using test::for_steps;
using test::kAny;
using test::Stepped;

INSTANTIATE_TEST_SUITE_P(Lmdb, Conformance,
                         testing::Values(Maker{"lmdb", [](const std::string& folder) {
                                                 return std::make_unique<LmdbStore>(
                                                     folder, Durability::process);
                                               }}));
INSTANTIATE_TEST_SUITE_P(SyncedLmdb, Conformance,
                         testing::Values(Maker{"synced", [](const std::string& folder) {
                                                 return std::make_unique<LmdbStore>(
                                                     folder, Durability::power);
                                               }}));

TEST_F(LmdbFolder, what_was_put_is_there_when_it_is_opened_again) {
  {
    const auto store = open();
    put(*store, change("b", sample(kLarge, 1)));
    put(*store, change("c", "small"));
    ASSERT_TRUE(commit_pair(*store, 3));
  }
  const auto store = open();
  EXPECT_EQ(whole(*store, "b"), sample(kLarge, 1));
  EXPECT_EQ(whole(*store, "c"), "small");
  EXPECT_EQ(text_of(present(store->find("t", "b")).value), "3");
  store->collect(Collect::erase);
  EXPECT_EQ(whole(*store, "b"), sample(kLarge, 1));
}

TEST_F(LmdbFolder, opened_twice_in_a_process_it_is_one) {
  auto first = open();
  fs::create_directory_symlink(path_, folder_ / "link");
  EXPECT_THROW(LmdbStore(folder_ / "link", Durability::process), Error);
  auto second = open();
  put(*first, change("b", sample(kLarge, 1)));
  EXPECT_EQ(whole(*second, "b"), sample(kLarge, 1));
  first.reset();
  put(*second, change("b", "2"));
  EXPECT_EQ(whole(*second, "b"), "2");
  EXPECT_EQ(whole(*open(), "b"), "2");
}

TEST_F(LmdbFolder, files_of_blobs_go_with_their_blobs) {
  const auto store = open();
  for (unsigned i = 0; i < 5; ++i) put(*store, change("b", sample(kLarge, i)));
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(put(*store, change("b", sample(kLarge, 9), kAbsent)), kAbsent);
  EXPECT_EQ(files(), 1U);
  put(*store, change("b", "small"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(LmdbFolder, a_child_goes_on_with_the_store_of_its_parent) {
  const auto store = open();
  ASSERT_TRUE(commit_pair(*store, 1));
  put(*store, change("parent", sample(kLarge, 1)));
  const Child child([&] {
    const auto another = open();
    put(*store, change("child", sample(kLarge, 2)));
    return present(whole(*another, "parent")).size() == kLarge && commit_pair(*another, 2) &&
           whole(*another, "child") == sample(kLarge, 2);
  });
  for (unsigned i = 0; i < 50; ++i) put(*store, change("parent", sample(kLarge, i)));
  EXPECT_TRUE(child.ends_well());
  EXPECT_EQ(whole(*store, "child"), sample(kLarge, 2));
  EXPECT_EQ(text_of(present(store->find("t", "a")).value), "2");
}

// What a process keeps for itself of readers it frees: there are as many places as there are
// readers.
TEST_F(LmdbFolder, many_children_one_after_the_other_leave_no_readers) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a child under tsan cannot start threads";
#endif
  const auto store = open();
  put(*store, change("b", "1"));
  for (unsigned i = 0; i < 300; ++i) {
    const Child child([&] {
      std::vector<std::jthread> readers;
      readers.reserve(20);
      for (unsigned j = 0; j < 20; ++j) readers.emplace_back([&] { whole(*store, "b"); });
      readers.clear();
      if (i % 2 == 0) ::raise(SIGKILL);
      return whole(*store, "b") == "1";
    });
    EXPECT_EQ(child.ends_well(), i % 2 == 1);
  }
}

TEST_F(LmdbFolder, processes_lose_nothing_of_each_other) {
  constexpr unsigned kTimes = 50;
  {
    put(*open(), change("n", std::string(kLarge, '\0')));
  }
  const auto add = [&] {
    const auto store = open();
    for (unsigned i = 0; i < kTimes;) {
      std::vector<std::byte> room(kLarge);
      const auto info = store->get("n", 0, room);
      if (!info || std::ranges::count(room, room[0]) != std::ssize(room)) return false;
      const std::string next(kLarge, static_cast<char>(std::to_integer<int>(room[0]) + 1));
      if (put(*store, change("n", next, info->version)) != kAbsent) ++i;
    }
    return true;
  };
  const Child first(add);
  const Child second(add);
  EXPECT_TRUE(first.ends_well());
  EXPECT_TRUE(second.ends_well());
  EXPECT_EQ(whole(*open(), "n"), std::string(kLarge, static_cast<char>(2 * kTimes)));
  EXPECT_EQ(files(), 1U);
}

// The numbers of the blob and of both entries.
std::array<std::string, 3> numbers_in(Store& store) {
  const std::string blob = present(whole(store, "b"));
  std::string number = "none";
  for (unsigned i = 0; i < 3; ++i)
    if (blob == sample(kLarge, i)) number = std::to_string(i);
  const auto entries = store.scan("t", "", 2);
  return {number, std::string(text_of(entries[0].value)), std::string(text_of(entries[1].value))};
}

TEST_F(LmdbFolder, whoever_is_killed_at_a_call_of_the_system_leaves_all_or_nothing) {
  {
    const auto store = open();
    const auto work = [&] { renew(*store, 2); };
    renew(*store, 1);
    const int all = Stepped(work, PTRACE_SYSCALL).step(kAny);
    for_steps(all, [&](int steps) {
      renew(*store, 1);
      Stepped(work, PTRACE_SYSCALL).step(steps);
      const auto [blob, a, b] = numbers_in(*store);
      EXPECT_TRUE(blob == "1" || blob == "2") << blob;
      EXPECT_TRUE(a == "1" || (a == "2" && blob == "2")) << a;
      EXPECT_EQ(a, b);
      store->collect(Collect::erase);
    });
  }
  open()->collect(Collect::erase);
  EXPECT_EQ(files(), 1U);
}

TEST_F(LmdbFolder, what_a_killed_process_has_left_is_told_before_it_is_erased) {
  const auto store = open();
  put(*store, change("b", sample(kLarge, 1)));
  {
    DataFiles another(path_ + "/files", /*synced=*/false);
    std::unique_ptr<Descriptor> written;
    another.write({}, bytes_of("text"), written);
  }
  EXPECT_EQ(files(), 2U);
  for (const Collect how : {Collect::tell, Collect::erase}) {
    const LeftOver left = store->collect(how);
    EXPECT_EQ(left.files, 1U);
    EXPECT_EQ(left.bytes, 4U);
  }
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(store->collect(Collect::tell).files, 0U);
}

TEST_F(LmdbFolder, whoever_is_killed_at_any_moment_leaves_all_or_nothing) {
  {
    const auto store = open();
    renew(*store, 0);
    std::mt19937 random(5);
    for (int i = 0; i < 100; ++i) {
      const pid_t writer = ::fork();
      if (writer == 0)
        for (unsigned number = 0; true; ++number) renew(*store, number % 3);
      ::usleep(random() % 5000);
      ::kill(writer, SIGKILL);
      ::waitpid(writer, nullptr, 0);
      const auto [blob, a, b] = numbers_in(*store);
      EXPECT_NE(blob, "none");
      EXPECT_EQ(a, b);
      store->collect(Collect::erase);
    }
  }
  open()->collect(Collect::erase);
  EXPECT_EQ(files(), 1U);
}

TEST_F(LmdbFolder, what_another_process_is_about_to_name_is_not_collected) {
  const auto store = open();
  DataFiles another(path_ + "/files", /*synced=*/false);
  std::unique_ptr<Descriptor> written;
  const DataFile file = another.write({}, bytes_of("text"), written);
  store->collect(Collect::erase);
  std::array<std::byte, 4> room{};
  EXPECT_TRUE(another.read(file, 0, room));
  EXPECT_EQ(text_of(room), "text");
}

TEST(LocalFileSystem, others_are_told_from_those_of_a_machine) {
  EXPECT_FALSE(engine::io::is_on_local_file_system(Descriptor("/proc/self/stat", O_RDONLY).get()));
  EXPECT_TRUE(engine::io::is_on_local_file_system(Descriptor("/dev/shm", O_RDONLY).get()));
}

}  // namespace
}  // namespace headrace::store
