#include "sidecar/placed/placed_log.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "sidecar/log_store.hpp"
#include "sidecar/placed/moved_log.hpp"

namespace headrace::sidecar {
namespace {

namespace fs = std::filesystem;

class PlacedLog : public ::testing::Test {
 public:
  PlacedLog() {
    if (::mkdtemp(path_.data()) == nullptr) throw Error("mkdtemp", errno);
    fs::create_directory(folder());
  }
  PlacedLog(const PlacedLog&) = delete;
  PlacedLog& operator=(const PlacedLog&) = delete;
  ~PlacedLog() override { fs::remove_all(path_); }

 protected:
  [[nodiscard]] fs::path root() const { return path_; }
  [[nodiscard]] fs::path folder() const { return root() / "x.h5.headrace"; }
  [[nodiscard]] fs::path log() const { return folder() / "0123.log"; }

 private:
  std::string path_ = "/tmp/headrace-test-XXXXXX";
};

TEST_F(PlacedLog, is_found_by_its_link_and_goes_with_it) {
  const int made = make_placed_log(log(), root() / ".", 0600);
  ASSERT_GE(made, 0);
  ::close(made);
  EXPECT_TRUE(is_placed(log()));
  const fs::path real = real_log(log());
  EXPECT_TRUE(fs::is_regular_file(real));
  EXPECT_EQ(fs::read_symlink(fs::path(real).replace_extension(".file")), root() / "x.h5");
  EXPECT_EQ(elsewhere(log()), "");
  EXPECT_TRUE(unlink_log(log()));
  EXPECT_FALSE(has_name(log()));
  EXPECT_TRUE(fs::is_empty(real.parent_path()));
}

TEST_F(PlacedLog, of_an_open_file_is_not_moved) {
  std::ofstream(root() / "x.h5") << "a file";
  LogStore store(root() / "x.h5", {}, Lifetime::kept, root(), {0, 1, {0}});
  const int descriptor = store.open(true);
  ASSERT_TRUE(store.is_placed());
  EXPECT_THROW(require_unused(store.own_path()), Error);
  ::close(descriptor);
  EXPECT_NO_THROW(require_unused(store.own_path()));
  const auto begun = begin_move(store.own_path());
  ASSERT_NE(begun, nullptr);
  Throttle unbounded(0);
  move_beside(store.own_path(), unbounded);
  EXPECT_FALSE(fs::is_symlink(store.own_path()));
  EXPECT_EQ(begin_move(store.own_path()), nullptr);
}

TEST_F(PlacedLog, whose_copy_has_no_room_stays) {
  const int made = make_placed_log(log(), root() / ".", 0600);
  ASSERT_EQ(::ftruncate(made, 1 << 20), 0);
  ASSERT_EQ(::pwrite(made, "data", 4, 1 << 19), 4);
  ::close(made);
  const auto begun = begin_move(log());
  struct rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto full = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit little{1 << 10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  Throttle unbounded(0);
  EXPECT_THROW(move_beside(log(), unbounded), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, full);
  EXPECT_TRUE(is_placed(log()));
  EXPECT_EQ(fs::file_size(part_of(log())), 0);
  move_beside(log(), unbounded);
  EXPECT_EQ(fs::file_size(log()), 1 << 20);
}

TEST_F(PlacedLog, a_link_that_others_have_planted_is_all_that_goes) {
  // As the folder of a placed log is called, but one that anybody may enter; and a folder's link.
  const fs::path planted = root() / "headrace-0" / "logs@x";
  fs::create_directories(planted);
  fs::permissions(planted, fs::perms::all);
  fs::create_directories(root() / "headrace-1");
  fs::create_directory_symlink(planted, root() / "headrace-1" / "logs@x");
  for (const fs::path& target :
       {planted / "0123.log", root() / "headrace-1" / "logs@x" / "0123.log"}) {
    std::ofstream(planted / "0123.log") << "a thesis";
    fs::create_symlink(target, log());
    EXPECT_FALSE(is_placed(log()));
    EXPECT_EQ(real_log(log()), log());
    EXPECT_TRUE(unlink_log(log()));
    EXPECT_TRUE(fs::exists(planted / "0123.log"));
  }
}

TEST_F(PlacedLog, of_another_node_is_named) {
  fs::create_symlink("/nowhere/headrace-0/logs@far/0123.log", log());
  EXPECT_TRUE(has_name(log()));
  EXPECT_NE(elsewhere(log()).find("on the storage of node far"), std::string::npos);
  EXPECT_THROW(require_readable(log()), Error);
}

TEST_F(PlacedLog, is_not_made_where_it_cannot_be) {
  EXPECT_LT(make_placed_log(log(), root() / "missing", 0600), 0);
  EXPECT_FALSE(has_name(log()));
}

}  // namespace
}  // namespace headrace::sidecar
