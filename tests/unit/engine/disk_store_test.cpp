#include "engine/cache/disk/disk_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "unit/engine/store_suite.hpp"

namespace headrace::engine::cache {
namespace {

constexpr std::uint64_t kSize = std::uint64_t{5} << 20U;  // four slabs of 1 MiB
constexpr std::size_t kBytes = 100'000;

class Folder {
 public:
  Folder() {
    if (::mkdtemp(path_.data()) == nullptr) throw Error("mkdtemp", errno);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file() const { return path_ + "/" + kDiskFile; }

 private:
  std::string path_ = "/tmp/headrace-test-XXXXXX";
};

std::vector<std::byte> chunk_of(std::uint64_t number, std::size_t bytes = kBytes) {
  std::mt19937_64 random(number);
  std::vector<std::byte> chunk(bytes);
  for (std::byte& each : chunk) each = static_cast<std::byte>(random());
  return chunk;
}

// Shows a chunk, does `after` that what there is to do, and says whether it was whole.
DiskStore::Source shows(
    std::uint64_t number, bool whole = true, const std::function<void()>& after = [] {},
    std::size_t bytes = kBytes) {
  return [chunk = chunk_of(number, bytes), whole, after](const Visitor& visitor) {
    visitor(chunk);
    after();
    return whole;
  };
}

void keep(DiskStore& disk, std::uint64_t number, std::size_t bytes = kBytes) {
  disk.keep(key_of(number), bytes, shows(number, true, [] {}, bytes));
}

// Whether it is there; a wrong one is a failure.
bool has(DiskStore& disk, std::uint64_t number, std::size_t bytes = kBytes) {
  std::vector<std::byte> chunk(bytes);
  if (!disk.load(key_of(number), chunk)) return false;
  EXPECT_EQ(chunk, chunk_of(number, bytes));
  return true;
}

void change(const std::string& file, std::uint64_t at, std::uint64_t word) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(at));
  stream.write(reinterpret_cast<const char*>(&word), sizeof word);
}

TEST(DiskStore, keeps_chunks_over_runs) {
  const Folder folder;
  {
    DiskStore disk(folder.path(), kSize);
    EXPECT_FALSE(has(disk, 1));
    keep(disk, 1);
    EXPECT_TRUE(has(disk, 1));
    EXPECT_FALSE(has(disk, 2));
    EXPECT_FALSE(has(disk, 1, kBytes - 1));
  }
  DiskStore again(folder.path(), 2 * kSize);  // the first one's bound holds
  EXPECT_TRUE(has(again, 1));
  EXPECT_LE(std::filesystem::file_size(folder.file()), kSize + sizeof(Fixed));
}

TEST(DiskStore, other_processes_find_what_one_keeps_meanwhile) {
  const Folder folder;
  DiskStore disk(folder.path(), kSize);
  const pid_t child = ::fork();
  if (child == 0) {
    disk.begin_child();
    keep(disk, 1);
    keep(disk, 2, 5000);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(has(disk, 1));
  EXPECT_TRUE(has(disk, 2, 5000));
}

TEST(DiskStore, what_is_damaged_is_not_there) {
  const Folder folder;
  DiskStore disk(folder.path(), kSize);
  keep(disk, 1);
  const Layout layout = Layout::for_disk(kSize);
  const auto bytes = std::filesystem::file_size(folder.file());
  std::ifstream stream(folder.file(), std::ios::binary);
  std::vector<char> all(bytes);
  stream.read(all.data(), static_cast<std::streamsize>(bytes));
  const auto chunk = chunk_of(1);
  const auto at =
      std::string_view(all.data(), bytes).find({reinterpret_cast<const char*>(chunk.data()), 64});
  ASSERT_GE(at, layout.data_of(0));
  change(folder.file(), at + kBytes / 2, 0);
  EXPECT_FALSE(has(disk, 1));
  EXPECT_EQ(disk.damaged(), 1);
  keep(disk, 1);
  EXPECT_TRUE(has(disk, 1));
}

TEST(DiskStore, what_changes_while_it_is_copied_is_not_kept) {
  const Folder folder;
  DiskStore disk(folder.path(), kSize);
  disk.keep(key_of(1), kBytes, shows(1, false));
  EXPECT_FALSE(has(disk, 1));
  keep(disk, 1);
  EXPECT_TRUE(has(disk, 1));
}

TEST(DiskStore, who_is_killed_amid_a_chunk_leaves_its_place_to_others) {
  const Folder folder;
  DiskStore disk(folder.path(), kSize);
  const pid_t child = ::fork();
  if (child == 0) {
    disk.begin_child();
    disk.keep(key_of(1), kBytes, shows(1, true, [] { ::raise(SIGKILL); }));
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(has(disk, 1));
  keep(disk, 1);
  EXPECT_TRUE(has(disk, 1));
}

TEST(DiskStore, nobody_waits_for_who_fills_a_place) {
  const Folder folder;
  DiskStore one(folder.path(), kSize);
  DiskStore two(folder.path(), kSize);
  one.keep(key_of(1), kBytes, shows(1, true, [&] {
             EXPECT_FALSE(has(two, 1));
             keep(two, 1);  // in the way that is locked, or in none
             EXPECT_FALSE(has(two, 1));
           }));
  EXPECT_TRUE(has(two, 1));
}

TEST(DiskStore, is_bounded_and_replaces_nothing_that_was_just_used) {
  const Folder folder;
  DiskStore disk(folder.path(), kSize);
  for (std::uint64_t number = 0; number < 200; ++number) keep(disk, number);
  std::size_t kept = 0;
  for (std::uint64_t number = 0; number < 200; ++number) kept += has(disk, number) ? 1 : 0;
  EXPECT_GE(kept, 16);
  EXPECT_LE(kept, kSize / kBytes);
  struct stat status{};
  ASSERT_EQ(::stat(folder.file().c_str(), &status), 0);
  EXPECT_LE(static_cast<std::uint64_t>(status.st_blocks) * 512, kSize + sizeof(Fixed));
}

TEST(DiskStore, sizes_of_chunks_take_slabs_from_each_other) {
  const Folder folder;
  DiskStore disk(folder.path(), kSize);
  for (std::uint64_t number = 0; number < 60; ++number) keep(disk, number);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));  // until growing is tried again
  for (std::uint64_t number = 1000; number < 1010; ++number) keep(disk, number, 3000);
  std::size_t small = 0;
  for (std::uint64_t number = 1000; number < 1010; ++number) small += has(disk, number, 3000);
  EXPECT_EQ(small, 10);
  for (std::uint64_t number = 0; number < 60; ++number) has(disk, number);  // right, or gone
}

TEST(DiskStore, begins_anew_where_its_table_is_torn) {
  const Folder folder;
  DiskStore disk(folder.path(), kSize);
  keep(disk, 1);
  change(folder.file(), offsetof(Header, left), 7);
  DiskStore again(folder.path(), kSize);
  EXPECT_FALSE(has(again, 1));
  keep(again, 1);
  EXPECT_TRUE(has(again, 1));
  EXPECT_TRUE(has(disk, 1));
}

// What a disk has after a power cut: each sector of some time since the file was last synchronised.
TEST(DiskStore, a_power_cut_leaves_right_chunks_or_none) {
  constexpr std::size_t kSector = 512;
  const Folder folder;
  std::vector<std::string> states;
  const auto note = [&] {
    std::ifstream file(folder.file(), std::ios::binary);
    states.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  };
  DiskStore disk(folder.path(), kSize);
  constexpr std::uint64_t kKeys = 30;
  for (std::uint64_t number = 0; number < kKeys; ++number) {
    // Small ones in between: the tables of slabs change, too. Each way of writing is seen.
    const std::size_t bytes = number % 3 == 2 ? 3000 : kBytes;
    disk.keep(key_of(number), bytes, shows(number, true, note, bytes));
    note();
  }
  std::mt19937_64 random(1);
  std::size_t found = 0;
  for (int cut = 0; cut < 25; ++cut) {
    const std::size_t first = random() % states.size();
    const std::size_t count = 1 + random() % (states.size() - first);
    std::string torn(states.front().size(), '\0');
    for (std::size_t at = 0; at < torn.size(); at += kSector)
      torn.replace(at, kSector, states[first + random() % count], at, kSector);
    const Folder after;
    std::ofstream(after.file(), std::ios::binary) << torn;
    std::filesystem::permissions(
        after.file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    DiskStore again(after.path(), kSize);
    for (std::uint64_t number = 0; number < kKeys; ++number)
      found += has(again, number, number % 3 == 2 ? 3000 : kBytes) ? 1 : 0;
    keep(again, 100 + kKeys);
    has(again, 100 + kKeys);
  }
  EXPECT_GT(found, 25);
}

TEST(DiskStore, hostile_files_are_errors_that_name_them) {
  const Folder folder;
  for (const std::size_t bytes : {0U, 8U, 300'000U}) {
    std::ofstream(folder.file()) << std::string(bytes, 'x');
    std::filesystem::permissions(
        folder.file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    try {
      const DiskStore disk(folder.path(), kSize);
      FAIL() << "it was opened";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(folder.file()), std::string::npos) << error.what();
    }
  }
  std::filesystem::remove(folder.file());
  EXPECT_THROW(DiskStore(folder.path(), 1000), Error);  // less than a slab
}

}  // namespace
}  // namespace headrace::engine::cache
