#include "vol/file/driver_seat.hpp"

#include <gtest/gtest.h>

#include "base/settings/connection_string.hpp"

namespace headrace::vol {
namespace {

std::string under(const std::string& config) { return parse_connection_string(config)["under"]; }
std::string below(const std::string& config) {
  return parse_connection_string(config)["under_config"];
}

TEST(DriverSeat, ADriverGoesBelowTheLastOfTheChain) {
  const std::string two = put_below("a=1", "second", "b=2");
  EXPECT_EQ(under(two), "second");
  EXPECT_EQ(below(two), "b=2");
  EXPECT_EQ(parse_connection_string(two)["a"], "1");
  const std::string three = put_below(two, "third", "c=3");
  EXPECT_EQ(under(three), "second");
  EXPECT_EQ(under(below(three)), "third");
  EXPECT_EQ(below(below(three)), "c=3");
}

TEST(DriverSeat, ADriverTakesThePlaceOfHdf5sOwn) {
  EXPECT_EQ(under(put_below("under=sec2;under_config={}", "mine", "")), "mine");
  EXPECT_EQ(under(put_below("under=mpio", "mine", "")), "mine");
}

}  // namespace
}  // namespace headrace::vol
