#include "base/report/printable.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "/group/data set", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8a",
                           "\xed\x9f\xbf\xee\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsOtherBytesByTheirNumbers) {
  EXPECT_EQ(printable("a\nb\x7f"),
            "a\\x0a"
            "b\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\xe9t\xe9"), "\\xe9t\\xe9");
  EXPECT_EQ(printable("\x80z"), "\\x80z");
}

TEST(Printable, TakesNothingForUtf8ThatIsNot) {
  EXPECT_EQ(printable("\xc3"), "\\xc3");           // cut off
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");  // cut off
  EXPECT_EQ(printable("\xf0\x9f\x8c!"), "\\xf0\\x9f\\x8c!");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");  // a slash in two bytes
  EXPECT_EQ(printable("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate
  EXPECT_EQ(printable("\xf0\x8f\xbf\xbf"), "\\xf0\\x8f\\xbf\\xbf");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xff"), "\\xff");
}

}  // namespace
}  // namespace headrace
