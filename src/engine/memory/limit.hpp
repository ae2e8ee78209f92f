// How much memory a process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace headrace::engine {

// Bytes: of the machine, or what the process's control groups leave it, whichever is less.
std::uint64_t memory_limit();

// What control groups leave a process; all bits set where they say nothing. `groups`: the text of
// /proc/self/cgroup. `mounted`: /sys/fs/cgroup. Format: cgroups(7), of both versions.
std::uint64_t limit_of_groups(std::string_view groups, const std::filesystem::path& mounted);

}  // namespace headrace::engine
