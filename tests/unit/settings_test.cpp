#include "base/settings/settings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "base/error.hpp"

namespace headrace {
namespace {

constexpr Setting kSize{"budget", "HEADRACE_T_BUDGET", Type::size, "", "bytes", "1MiB", "m"};
constexpr Setting kSeat{"seat", "HEADRACE_T_SEAT", Type::choice, "vol|vfd", "", "vol", "m"};

struct Case {
  Type type;
  const char* value;
  bool valid;
};

class Value : public testing::TestWithParam<Case> {};

TEST_P(Value, IsCheckedByType) {
  const Setting setting{"o", "E", GetParam().type, "vol|vfd", "", "", ""};
  if (GetParam().valid)
    EXPECT_NO_THROW(check_value(setting, "o", GetParam().value));
  else
    EXPECT_THROW(check_value(setting, "o", GetParam().value), Error);
}

INSTANTIATE_TEST_SUITE_P(
    All, Value,
    testing::Values(Case{Type::size, "0", true}, Case{Type::size, "64KiB", true},
                    Case{Type::size, "16777215TiB", true}, Case{Type::size, "16777216TiB", false},
                    Case{Type::size, "18446744073709551616", false}, Case{Type::size, "-1", false},
                    Case{Type::size, "", false}, Case{Type::size, "1 KiB", false},
                    Case{Type::integer, "12", true}, Case{Type::integer, "12K", false},
                    Case{Type::duration, "20ms", true}, Case{Type::duration, "20m", false},
                    Case{Type::boolean, "true", true}, Case{Type::boolean, "yes", false},
                    Case{Type::choice, "vfd", true}, Case{Type::choice, "vf", false},
                    Case{Type::choice, "", false}, Case{Type::choice, "vol|vfd", false},
                    Case{Type::path, "/any thing", true}));

TEST(NumberOf, IsTheNumberMeantOrAnErrorWithTheName) {
  EXPECT_EQ(number_of(Type::size, "x", "3MiB"), 3U << 20U);
  EXPECT_EQ(number_of(Type::duration, "x", "250us"), 250'000U);
  EXPECT_EQ(number_of(Type::integer, "x", "7"), 7U);
  for (const char* bad : {"", "1 KiB", "-1", "KiB", "18446744073709551616", "17179869184T"})
    EXPECT_THROW(number_of(Type::size, "x", bad), Error) << bad;
  EXPECT_THROW(number_of(Type::integer, "x", "1K"), Error);
  EXPECT_THROW(number_of(Type::string, "x", "1"), Error);
  try {
    number_of(Type::duration, "the delay", "1min");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the delay: '1min'"), std::string::npos);
  }
}

TEST(ValueOf, OptionBeatsEnvironmentBeatsDefault) {
  const std::span<const Setting> table(&kSeat, 1);
  EXPECT_EQ(value_of(kSeat, {}), "vol");
  setenv("HEADRACE_T_SEAT", "vfd", 1);
  EXPECT_EQ(value_of(kSeat, {}), "vol") << "the environment is read once, not each time";
  read_environment({&table, 1});
  EXPECT_EQ(value_of(kSeat, {}), "vfd");
  EXPECT_EQ(value_of(kSeat, {{"seat", "vol"}}), "vol");
  unsetenv("HEADRACE_T_SEAT");
  EXPECT_EQ(value_of(kSeat, {}), "vfd");
}

constexpr std::span<const Setting> kTable(&kSize, 1);

std::string environment_complaint(std::span<const std::span<const Setting>> tables = {&kTable, 1}) {
  read_environment(tables);
  try {
    require_environment();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ValueOf, AnOptionWithoutARowIsAnError) {
  constexpr std::array settings{kSize};
  EXPECT_THROW(value_of(settings, "seat", {}), Error);
  EXPECT_THROW(number_of(settings, "seat", {}), Error);
}

TEST(Environment, NamesUnknownAndMalformed) {
  setenv("HEADRACE_T_BUDGET", "1GiB", 1);
  EXPECT_EQ(environment_complaint(), "");
  setenv("HEADRACE_T_BUDGET", "lots", 1);
  EXPECT_EQ(environment_complaint(),
            "setting HEADRACE_T_BUDGET: 'lots' is not a size such as 4096, 64KiB or 2GiB");
  setenv("HEADRACE_T_BUDGET", "1", 1);
  setenv("HEADRACE_NO_SUCH", "1", 1);
  EXPECT_NE(environment_complaint().find("HEADRACE_NO_SUCH"), std::string::npos);
  unsetenv("HEADRACE_NO_SUCH");
  unsetenv("HEADRACE_T_BUDGET");
}

TEST(Environment, OfAModuleOutsideTheCoreIsItsOwn) {
  constexpr Setting kOwn{"level", "OTHER_LEVEL", Type::integer, "", "", "1", "m"};
  const std::array<std::span<const Setting>, 2> tables{global_settings(), {&kOwn, 1}};
  setenv("HEADRACE_NULL_SEAT", "vol", 1);  // the core's
  EXPECT_EQ(environment_complaint(tables), "");
  setenv("OTHER_LEVEL", "high", 1);
  EXPECT_EQ(environment_complaint(tables),
            "setting OTHER_LEVEL: 'high' is not a whole number, 0 or more");
  unsetenv("OTHER_LEVEL");
  unsetenv("HEADRACE_NULL_SEAT");
}

}  // namespace
}  // namespace headrace
