#include "base/settings/connection_string.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace headrace {
namespace {

TEST(ConnectionString, ReadsKeysInAnyOrder) {
  const Options options = parse_connection_string("b=2;under_vol=0;under_info={};a=x/y.z");
  EXPECT_EQ(options, (Options{{"a", "x/y.z"}, {"b", "2"}, {"under_info", ""}, {"under_vol", "0"}}));
}

TEST(ConnectionString, KeepsNestedBracesAsTheyAre) {
  const Options options = parse_connection_string("under_info={u=7200;under_info={a=%20}};z=1");
  EXPECT_EQ(options.at("under_info"), "u=7200;under_info={a=%20}");
  EXPECT_EQ(options.at("z"), "1");
}

TEST(ConnectionString, DecodesPercent) {
  EXPECT_EQ(parse_connection_string("f=a%20b%7B%3b").at("f"), "a b{;");
}

TEST(ConnectionString, RoundTripsEveryByte) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  const Options options{{"all", all}, {"under_info", "under_vol=0;under_info={}"}};
  const std::string text = format_connection_string(options, "under_info");
  EXPECT_EQ(text.find(' '), text.npos);  // HDF5's own tests cut the string at a blank
  EXPECT_EQ(parse_connection_string(text), options);
}

TEST(ConnectionString, SurvivesTheByteThatPassThroughAdds) {
  EXPECT_EQ(parse_connection_string("a=1;under_info={b=2}\x55").at("under_info"), "b=2");
}

TEST(ConnectionString, BracedComesLast) {
  EXPECT_EQ(format_connection_string({{"under_info", "x=1"}, {"z", "2"}, {"a", "3"}}, "under_info"),
            "a=3;z=2;under_info={x=1}");
}

TEST(ConnectionString, EmptyHasNoOptions) { EXPECT_TRUE(parse_connection_string("").empty()); }

TEST(ConnectionString, TellsAChainAsFarAsItIsWrittenSo) {
  const auto values = [](const char* text) {
    return values_down(parse_connection_string(text), "under_vol", "under_info");
  };
  using Values = std::vector<std::string>;
  EXPECT_EQ(values(""), Values());
  EXPECT_EQ(values("a=1;under_vol=7200"), Values{"7200"});
  EXPECT_EQ(values("under_vol=1;under_info={b=2;under_vol=7;under_info={under_vol=0}}"),
            (Values{"1", "7", "0"}));
  EXPECT_EQ(values("under_vol=1;under_info={anything else}"), Values{"1"});
}

class Malformed : public testing::TestWithParam<const char*> {};

TEST_P(Malformed, IsAnErrorThatShowsTheText) {
  try {
    parse_connection_string(GetParam());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam()), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, Malformed,
                         testing::Values("a", "=1", "a=1;a=2", "a={", "a={}}}", "a={}xy", "a=%",
                                         "a=%2", "a=%zz", "a=%00", "a=b=c", ";", "a=1;;b=2", "{}",
                                         "a=x{}"));

TEST(CheckOptions, UnknownOptionListsWhatExists) {
  const Setting row{"size", "E", Type::size, "", "bytes", "1", "m"};
  try {
    check_options({{"sice", "1"}}, std::span(&row, 1), {}, "layer_a");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "layer layer_a has no option 'sice'; it has: size");
  }
}

}  // namespace
}  // namespace headrace
