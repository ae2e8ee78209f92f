#include "sidecar/placed/placed_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"

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
