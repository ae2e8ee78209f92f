#include "sidecar/striped/replaced_sets.hpp"

#include <dirent.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "sidecar/striped/set_names.hpp"
#include "sidecar/striped/striped_config.hpp"
#include "sidecar/striped/striped_set.hpp"
#include "sidecar/striped/stub.hpp"

namespace headrace::sidecar {
namespace {

constexpr std::size_t kMostEntries = 20'000;  // a folder with more is left as it is
constexpr std::size_t kEntriesForEach = 8;    // call, as there are so many on the way

// What a folder has, by names alone.
struct Listing {
  std::map<std::string, std::vector<std::string>> configs;  // names by number
  std::map<ino_t, std::string> files;                       // that are no pieces
  std::size_t entries = 0;
};

Listing list(const std::string& folder) {
  Listing listing;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (open == nullptr) return listing;
  while (const dirent* const each = ::readdir(open.get())) {
    if (++listing.entries > kMostEntries) break;
    const std::string_view name(&each->d_name[0]);
    if (const ConfigName config = parse_config_name(name); !config.number.empty())
      listing.configs[std::string(config.number)].emplace_back(name);
    else if (each->d_type == DT_REG || each->d_type == DT_UNKNOWN)
      if (name.find(".subfile_") == std::string_view::npos) listing.files[each->d_ino] = name;
  }
  return listing;
}

// Whether a stub is that of a set: of a copy, which has another inode than the set has in its name.
bool is_told_by(const std::string& path, const StripedConfig& config) try {
  const Stub stub = read_stub(path);
  return stub.id == config.id || stub.was_text;
} catch (const std::exception&) {
  return true;  // perhaps
}

bool is_told_in(const std::string& folder, const Listing& listing, const StripedConfig& config) {
  return std::ranges::any_of(listing.files, [&](const auto& each) {
    return is_told_by(std::string(folder).append("/").append(each.second), config);
  });
}

void keep_only(const std::string& id, const std::vector<std::string>& configs,
               const std::string& folder, const Listing& listing) {
  for (const std::string& name : configs) {
    const std::string path = std::string(folder).append("/").append(name);
    const StripedConfig config = read_striped_config(path);
    if (config.id.empty() || config.id == id || is_told_in(folder, listing, config)) continue;
    remove_set_of("", path);
    log(Level::info, "stripe: removed the pieces of a file that was replaced: " + path);
  }
}

}  // namespace

void remove_replaced_sets(const std::string& folder) noexcept try {
  static struct {
    std::size_t calls, entries;
  } since{};
  if (++since.calls * kEntriesForEach < since.entries) return;
  const Listing listing = list(folder);
  since = {0, listing.entries};
  if (listing.entries > kMostEntries) return;
  for (const auto& [number, configs] : listing.configs) {
    if (configs.size() < 2) continue;
    const auto file = listing.files.find(std::stoull(number));
    if (file == listing.files.end()) continue;
    const Stub stub = read_stub(folder + "/" + file->second);
    if (stub.number == number && !stub.id.empty() && std::to_string(stub.inode) == number)
      keep_only(stub.id, configs, folder, listing);
  }
} catch (const std::exception& error) {
  log(Level::debug, std::string("stripe: pieces of replaced files stay: ") + error.what());
}

}  // namespace headrace::sidecar
