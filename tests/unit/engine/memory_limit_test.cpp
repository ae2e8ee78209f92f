#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "engine/memory/limit.hpp"
#include "unit/files.hpp"

namespace headrace::engine {
namespace {

void put(const std::string& path, const char* text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text << '\n';
}

constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();

TEST(MemoryLimit, is_the_least_of_a_group_and_those_around_it) {
  const TestFolder folder;
  put(folder / "job/step/memory.max", "max");
  put(folder / "job/memory.max", "5000");
  put(folder / "memory.max", "9000");
  EXPECT_EQ(limit_of_groups("0::/job/step\n", folder / ""), 5000U);
  EXPECT_EQ(limit_of_groups("0::/", folder / ""), 9000U);
  EXPECT_EQ(limit_of_groups("0::/elsewhere", folder / ""), 9000U);
}

TEST(MemoryLimit, of_the_first_version_is_that_of_its_controller) {
  const TestFolder folder;
  put(folder / "memory/job/memory.limit_in_bytes", "7000");
  EXPECT_EQ(limit_of_groups("3:cpu,cpuacct:/job\n2:memory:/job\n", folder / ""), 7000U);
  EXPECT_EQ(limit_of_groups("3:cpu:/job\n", folder / ""), kNone);
}

TEST(MemoryLimit, is_no_number_where_nothing_is_said) {
  const TestFolder folder;
  for (const char* text : {"", "\n", "0", "0:", "::", "0::/../..", "0::/job"})
    EXPECT_EQ(limit_of_groups(text, folder / ""), kNone) << text;
  EXPECT_GT(memory_limit(), 1U << 20U);
}

}  // namespace
}  // namespace headrace::engine
