// Stores whose files, disk or process do what they should not.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "base/descriptor.hpp"
#include "store/lmdb/file_locks.hpp"
#include "store/lmdb_folder.hpp"
#include "support/child.hpp"

namespace headrace::store {
namespace {

using test::Child;

TEST_F(LmdbFolder, what_cannot_be_written_changes_nothing) {
  const auto store = open();
  renew(*store, 1);
  const Child child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{kLarge / 2, kLarge / 2};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      put(*store, change("b", sample(kLarge, 2)));
      return false;
    } catch (const Error& error) {
      return std::string(error.what()).find("files/") != std::string::npos;
    }
  });
  EXPECT_TRUE(child.ends_well());
  EXPECT_EQ(whole(*store, "b"), sample(kLarge, 1));
  EXPECT_EQ(files(), 1U);
}

TEST_F(LmdbFolder, a_database_that_was_cut_off_is_an_error) {
  renew(*open(), 1);
  ASSERT_EQ(kind_of_failure(), std::nullopt);
  const std::string data = path_ + "/database";
  const auto size = fs::file_size(data);
  for (const std::uintmax_t left : {size - 4096, std::uintmax_t{8192}, std::uintmax_t{100}}) {
    fs::resize_file(data, left);
    EXPECT_EQ(kind_of_failure(), ErrorKind::corrupt) << left;
  }
  std::ofstream(data, std::ios::trunc) << std::string(size, 'x');
  EXPECT_EQ(kind_of_failure(), ErrorKind::corrupt);
}

TEST_F(LmdbFolder, a_file_that_is_gone_or_cut_off_is_an_error) {
  renew(*open(), 1);
  for (const auto& entry : fs::recursive_directory_iterator(path_ + "/files"))
    if (entry.is_regular_file() && entry.path().filename() != "lock")
      fs::resize_file(entry.path(), 10);
  EXPECT_EQ(kind_of_failure(), ErrorKind::corrupt);
  fs::remove_all(path_ + "/files");
  EXPECT_EQ(kind_of_failure(), ErrorKind::corrupt);
}

TEST_F(LmdbFolder, a_folder_of_something_else_is_refused) {
  fs::create_directory(path_);
  EXPECT_EQ(kind_of_failure(), ErrorKind::conflict);  // others may enter it
  fs::permissions(path_, fs::perms::owner_all);
  std::ofstream(path_ + "/format") << "another store";
  EXPECT_EQ(kind_of_failure(), ErrorKind::conflict);
  fs::remove(path_ + "/format");
  EXPECT_EQ(kind_of_failure(), std::nullopt);
  fs::remove_all(path_);
  std::ofstream(path_ + "") << "a file";
  EXPECT_EQ(kind_of_failure(), ErrorKind::conflict);
}

// Not a new database: it would have all files collected.
TEST_F(LmdbFolder, a_database_that_is_gone_or_empty_is_an_error) {
  renew(*open(), 1);
  fs::resize_file(path_ + "/database", 0);
  EXPECT_EQ(kind_of_failure(), ErrorKind::corrupt);
  fs::remove(path_ + "/database");
  EXPECT_EQ(kind_of_failure(), ErrorKind::corrupt);
  EXPECT_FALSE(fs::exists(path_ + "/database"));
  EXPECT_EQ(files(), 1U);
}

TEST_F(LmdbFolder, a_lock_goes_with_its_process_though_a_child_of_it_lives) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    FileLocks locks(folder_ / "lock");
    locks.lock();
    const pid_t child = ::fork();
    if (child == 0) ::pause();
    while (::write(ready[1], &child, sizeof child) == sizeof child) ::pause();
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ready[0], &child, sizeof child), sizeof child);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  FileLocks locks(folder_ / "lock");
  locks.lock();  // or the watchdog
  locks.unlock();
  ::kill(child, SIGKILL);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(LmdbFolder, a_lock_whose_file_was_erased_is_that_of_the_new_file) {
  FileLocks first(folder_ / "lock");
  first.lock();
  first.unlock();
  fs::remove(folder_ / "lock");
  first.lock();
  const Child child([&] {
    FileLocks second(folder_ / "lock");
    second.lock();
    return fs::exists(folder_ / "told");
  });
  ::usleep(20000);
  std::ofstream(folder_ / "told") << "x";
  first.unlock();
  EXPECT_TRUE(child.ends_well());
}

// What LMDB does not write of the end of its file is no damage.
TEST_F(LmdbFolder, a_database_can_be_opened_after_any_changes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr unsigned kTurns = 200;
#else
  constexpr unsigned kTurns = 1500;
#endif
  std::mt19937 random(2);
  const auto store = open();
  for (unsigned i = 0; i < kTurns; ++i) {
    const std::string value(random() % 3000, 'x');
    const bool erases = random() % 2 == 0;
    const unsigned first = random() % 1000;
    std::vector<Change> changes;
    for (unsigned key = first; key < first + 1 + random() % 200; ++key)
      changes.push_back(erases ? erasure(std::to_string(key)) : change(std::to_string(key), value));
    ASSERT_FALSE(store->commit("t", changes).refused);
    const auto all = store->scan("t", "", 10000).size();
    ASSERT_EQ(open()->scan("t", "", 10000).size(), all) << i;
  }
}

TEST_F(LmdbFolder, a_changed_byte_is_an_error_and_nothing_is_collected) {
  const std::string database = path_ + "/database";
  for (const char* const text : {"a value to be changed", "bkey of a blob"}) {
    fs::remove_all(path_);
    {
      const auto store = open();
      ASSERT_FALSE(store->commit("t", std::vector{change("a", "a value to be changed")}).refused);
      for (const char* const key : {"a", "key of a blob", "z"})
        put(*store, change(key, sample(kLarge, 1)));
    }
    std::fstream file(database, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    for (auto at = bytes.find(text); at != bytes.npos; at = bytes.find(text, at + 1)) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put('c');
    }
    file.close();
    const auto store = open();
    const auto fails = [&](const auto& call) {
      try {
        call();
        return false;
      } catch (const Error& error) {
        return error.kind() == ErrorKind::corrupt;
      }
    };
    EXPECT_TRUE(fails([&] {
                  (void)store->scan("t", "", 9);
                  (void)store->list("", 9);
                }) ||
                store->list("", 9).size() < 3);
    EXPECT_TRUE(fails([&] { store->collect(Collect::erase); }));
    EXPECT_EQ(files(), 3U);
  }
}

// Under the entry of a blob that is damaged.
TEST_F(LmdbFolder, a_put_that_fails_leaves_what_was_there) {
  const auto store = open();
  put(*store, change("a", sample(kLarge, 1)));
  put(*store, change("b", "this will be damaged"));
  {
    std::fstream file(path_ + "/database", std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    for (auto at = bytes.find("will be"); at != bytes.npos; at = bytes.find("will be", at + 1)) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put('W');
    }
  }
  const std::string large = sample(kLarge, 2);
  EXPECT_THROW(store->put(std::vector{change("a", large), change("b", large)}), Error);
  EXPECT_EQ(whole(*store, "a"), sample(kLarge, 1));
  EXPECT_EQ(files(), 1U);
}

// A disk of so many bytes at the store's folder, of this process alone.
bool mount_small(const std::string& folder, const std::string& bytes) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + bytes + ",mode=700").c_str()) == 0;
}

TEST_F(LmdbFolder, a_full_disk_is_an_error_and_what_was_there_stays) {
  const Child child([&] {
    if (!mount_small(path_, "512k")) return false;
    auto store = open();
    std::string last;
    std::optional<ErrorKind> kind;
    try {
      for (unsigned i = 0; i < 1000; ++i) {
        put(*store, change(std::to_string(i), sample(i % 3 == 0 ? kLarge : 3000, i)));
        last = std::to_string(i);
      }
    } catch (const Error& error) {
      kind = error.kind();
    }
    const auto number = static_cast<unsigned>(std::stoul(last));
    const auto is_there = [&] {
      return whole(*store, last) == sample(number % 3 == 0 ? kLarge : 3000, number);
    };
    const bool stayed = is_there();
    put(*store, erasure("0"));
    put(*store, erasure("3"));
    put(*store, change("again", "fits"));
    store.reset();
    store = open();
    return kind == ErrorKind::no_space && stayed && is_there() && whole(*store, "again") == "fits";
  });
  EXPECT_TRUE(child.ends_well());
}

TEST_F(LmdbFolder, a_store_that_has_no_room_to_be_made_is_made_later) {
  for (const char* const bytes : {"4k", "8k", "12k", "16k", "20k"}) {
    const Child child([&] {
      if (!mount_small(path_, bytes)) return false;
      try {
        commit_pair(*open(), 1);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::no_space) return false;
      }
      if (::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT, "size=1m") != 0) return false;
      return commit_pair(*open(), 1);
    });
    EXPECT_TRUE(child.ends_well()) << bytes;
  }
}

TEST_F(LmdbFolder, stores_are_opened_and_closed_by_many_processes) {
  const auto use = [&] {
    for (unsigned i = 0; i < 300; ++i) {
      const auto store = open();
      put(*store, change(std::to_string(::getpid()), i % 20 == 0 ? sample(kLarge, 1) : "small"));
      if (i % 50 == 0) store->collect(Collect::erase);
    }
    return true;
  };
  const Child first(use);
  const Child second(use);
  const Child third(use);
  EXPECT_TRUE(first.ends_well());
  EXPECT_TRUE(second.ends_well());
  EXPECT_TRUE(third.ends_well());
}

TEST_F(LmdbFolder, a_reader_sees_one_moment_of_a_writers_work) {
  const auto store = open();
  commit_pair(*store, 0);
  const Child writer([&] {
    for (unsigned i = 1; i < 2000; ++i) commit_pair(*store, i);
    return true;
  });
  for (unsigned i = 0; i < 2000; ++i) {
    const auto entries = store->scan("t", "", 2);
    ASSERT_EQ(entries[0].value, entries[1].value);
    ASSERT_EQ(entries[0].version, entries[1].version);
  }
  EXPECT_TRUE(writer.ends_well());
}

}  // namespace
}  // namespace headrace::store
