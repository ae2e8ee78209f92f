// The names of a set's files (sidecar/striped/striped_set.hpp). No HDF5. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sidecar {

inline constexpr std::string_view kConfigEnd = ".config";

std::string parent_of(const std::string& path);
std::string name_of(const std::string& path);

// STUB.subfile_NUMBER, how the names of all pieces begin; the number is the stub's first inode.
std::string begin_of_names(const std::string& stub, const std::string& number);
std::vector<std::string> subfile_names(const std::string& begin, std::uint32_t count);

// What the name of a configuration says: of STUB.subfile_NUMBER.config. Empty for another name.
struct ConfigName {
  std::string_view stub;
  std::string_view number;
};
ConfigName parse_config_name(std::string_view name);
// The number in the name of a configuration, given its path.
std::string number_in(const std::string& config);

}  // namespace headrace::sidecar
