#include "engine/memory/limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

namespace headrace::engine {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// "max", or a number.
std::uint64_t number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kNone;
}

// Of a group and those that it is in.
std::uint64_t least_of(const std::filesystem::path& mounted, std::filesystem::path group,
                       const char* name) {
  std::uint64_t least = kNone;
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    least = std::min(least, number_in(mounted / group / name));
  return std::min(least, number_in(mounted / name));
}

}  // namespace

std::uint64_t limit_of_groups(std::string_view groups, const std::filesystem::path& mounted) {
  std::uint64_t least = kNone;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::filesystem::path group(line.substr(second + 1));
    if (controllers.empty())
      least = std::min(least, least_of(mounted, group, "memory.max"));
    else if (controllers == "memory")
      least = std::min(least, least_of(mounted / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

std::uint64_t memory_limit() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), {}};
  return std::min(pages * page, limit_of_groups(groups, "/sys/fs/cgroup"));
}

}  // namespace headrace::engine
