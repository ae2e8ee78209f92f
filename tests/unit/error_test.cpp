#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "sidecar/striped/striped_config.hpp"

namespace headrace {
namespace {

TEST(ErrorKind, FollowsFromTheErrno) {
  EXPECT_EQ(Error("x").kind(), ErrorKind::failed);
  EXPECT_EQ(Error("x", EIO).kind(), ErrorKind::failed);
  EXPECT_EQ(Error("x", ENOENT).kind(), ErrorKind::not_found);
  EXPECT_EQ(Error("x", ENAMETOOLONG).kind(), ErrorKind::not_found);
  EXPECT_EQ(Error("x", EEXIST).kind(), ErrorKind::conflict);
  EXPECT_EQ(Error("x", EWOULDBLOCK).kind(), ErrorKind::busy);
  EXPECT_EQ(Error("x", EBUSY).kind(), ErrorKind::busy);
  EXPECT_EQ(Error("x", ENOSPC).kind(), ErrorKind::no_space);
  EXPECT_EQ(Error("x", EDQUOT).kind(), ErrorKind::no_space);
  EXPECT_EQ(Error("x", ENOTSUP).kind(), ErrorKind::unsupported);
}

TEST(ErrorKind, IsKeptWithTheErrnoWhereMoreIsTold) {
  const Error more("file x: full", Error("full", ENOSPC));
  EXPECT_EQ(more.kind(), ErrorKind::no_space);
  EXPECT_EQ(more.error_number(), ENOSPC);
  EXPECT_EQ(Error("x", Error("y", ErrorKind::corrupt)).kind(), ErrorKind::corrupt);
}

TEST(ErrorKind, OfADamagedConfigurationIsNoneOfAMissingOne) {
  const auto kind = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::failed;
  };
  EXPECT_EQ(kind([] { sidecar::parse_striped_config("nonsense", "x"); }), ErrorKind::corrupt);
  EXPECT_EQ(kind([] { sidecar::read_striped_config("/nowhere/x.config"); }), ErrorKind::not_found);
}

}  // namespace
}  // namespace headrace
