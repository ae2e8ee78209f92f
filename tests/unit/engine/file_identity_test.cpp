#include "engine/io/file_identity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace headrace::engine {
namespace {

std::optional<io::FileIdentity> identity_at(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto identity = io::identity_of(descriptor);
  ::close(descriptor);
  return identity;
}

TEST(FileIdentity, is_the_files_whatever_it_is_called) {
  const std::filesystem::path one = ::testing::TempDir() + "identity" + std::to_string(::getpid());
  const std::filesystem::path two = one.string() + "_renamed";
  const std::filesystem::path other = one.string() + "_other";
  std::ofstream(one) << "1";
  std::ofstream(other) << "1";
  const auto before = identity_at(one);
  ASSERT_TRUE(before);
  EXPECT_TRUE(before->is_shared());
  EXPECT_NE(before, identity_at(other));
  std::filesystem::rename(one, two);
  EXPECT_EQ(before, identity_at(two));
  std::ofstream(one) << "1";
  EXPECT_NE(before, identity_at(one));
  for (const auto& path : {one, two, other}) std::filesystem::remove(path);
  EXPECT_EQ(io::identity_of(-1), std::nullopt);
  EXPECT_FALSE(io::FileIdentity{}.is_shared());
}

}  // namespace
}  // namespace headrace::engine
