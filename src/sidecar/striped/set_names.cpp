#include "sidecar/striped/set_names.hpp"

#include <algorithm>
#include <filesystem>

namespace headrace::sidecar {
namespace {

constexpr std::string_view kBefore = ".subfile_";

bool is_digit(char each) { return each >= '0' && each <= '9'; }

}  // namespace

std::string parent_of(const std::string& path) { return std::filesystem::path(path).parent_path(); }

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename(); }

std::string begin_of_names(const std::string& stub, const std::string& number) {
  return name_of(stub).append(kBefore).append(number);
}

std::vector<std::string> subfile_names(const std::string& begin, std::uint32_t count) {
  const std::string total = std::to_string(count);
  std::vector<std::string> names;
  for (std::uint32_t k = 1; k <= count; ++k) {
    std::string number = std::to_string(k);
    number.insert(0, total.size() - number.size(), '0');
    std::string& name = names.emplace_back(begin);
    name.append("_").append(number).append("_of_").append(total);
  }
  return names;
}

ConfigName parse_config_name(std::string_view name) {
  if (!name.ends_with(kConfigEnd)) return {};
  name.remove_suffix(kConfigEnd.size());
  const std::size_t at = name.rfind(kBefore);
  if (at == std::string_view::npos || at == 0) return {};
  const std::string_view number = name.substr(at + kBefore.size());
  if (number.empty() || !std::ranges::all_of(number, is_digit)) return {};
  return {name.substr(0, at), number};
}

std::string number_in(const std::string& config) {
  return std::string(parse_config_name(name_of(config)).number);
}

}  // namespace headrace::sidecar
