#include "base/report/json.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Json, EscapesWhatMustBe) {
  EXPECT_EQ(json_quote("a\"b\\c\n\x01z\xc3\xa9"), "\"a\\\"b\\\\c\\u000a\\u0001z\xc3\xa9\"");
}

TEST(Json, BuildsObjects) {
  EXPECT_EQ(JsonObject().text("a", "x").number("b", -2).boolean("c", true).raw("d", "[]").str(),
            R"({"a":"x","b":-2,"c":true,"d":[]})");
}

}  // namespace
}  // namespace headrace
