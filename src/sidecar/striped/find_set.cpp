#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "engine/io/reopened_file.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/striped/set_names.hpp"
#include "sidecar/striped/striped_config.hpp"
#include "sidecar/striped/striped_set.hpp"
#include "sidecar/striped/stub.hpp"

// How the set of a stub is found.
namespace headrace::sidecar {
namespace {

namespace fs = std::filesystem;

struct FoundConfig {
  std::string path;
  StripedConfig told;
  bool busy = false;  // somebody makes one file of the set
};

// Nothing where there is none of that name.
std::optional<FoundConfig> read_config(const std::string& path) try {
  const Descriptor file(path, O_RDONLY);
  const bool busy = ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return FoundConfig{path, read_striped_config(file), busy};
} catch (const Error& error) {
  // The second one beside a file with a long name.
  if (error.kind() == ErrorKind::not_found) return std::nullopt;
  throw;
}

// Whether a configuration may be that of a stub by what both tell of themselves: HDF5's subfiling
// and older versions tell nothing.
bool is_of(const FoundConfig& config, const Stub& stub) {
  return stub.id.empty() || config.told.id == stub.id;
}

// Those in a folder that a name fits, and that are of the stub.
template <typename Fits>
std::vector<FoundConfig> configs_in(const std::string& folder, const Stub& stub, const Fits& fits) {
  std::vector<FoundConfig> found;
  for (const auto& each : fs::directory_iterator(folder)) {
    const std::string name = each.path().filename();
    const ConfigName parts = parse_config_name(name);
    if (parts.number.empty() || !fits(parts)) continue;
    // A damaged one is named unless the stub knows of another one.
    try {
      auto config = read_config(each.path());
      if (config && is_of(*config, stub)) found.push_back(*std::move(config));
    } catch (const Error&) {
      if (stub.id.empty()) throw;
    }
  }
  return found;
}

// That of a stub which has been renamed, as programs write to another name first. There may be sets
// of the same number: of files that were replaced, whose inodes the system has used again.
std::optional<FoundConfig> config_of_renamed(const std::string& path, const Stub& stub,
                                             const std::string& folder) {
  auto found = configs_in(folder, stub,
                          [&](const ConfigName& parts) { return parts.number == stub.number; });
  if (found.size() > 1)
    throw Error(path + ": several sets have its number: " + found[0].path + ", " + found[1].path);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

[[noreturn]] void fail_without_config(const std::string& path, const Stub& stub,
                                      const std::string& folder, const std::string& name,
                                      bool other_there) {
  std::string text =
      path + " is the stub of a file in pieces, whose configuration does not lie in ";
  text.append(folder).append(" (").append(name);
  text.append(other_there ? " is another file's): " : "): ");
  struct stat status{};
  if (stub.made.empty()) throw Error(text + "it may have been copied without them");
  const std::string made = printable(stub.made);
  if (::stat(stub.made.c_str(), &status) == 0 && status.st_ino == stub.inode)
    throw Error(text + "it is another name of " + made + ", beside which its subfiles lie");
  throw Error(text + "it may have been copied without them, or moved; they were made beside " +
              made);
}

// Nothing where there is none. `copied`: whether the stub may be a copy, which has another inode.
std::optional<FoundConfig> config_of(const std::string& path, const Stub& stub,
                                     const std::string& folder, bool copied) {
  const std::string inode = std::to_string(stub.inode);
  const std::string known = stub.number.empty() ? inode : stub.number;
  const std::string name = begin_of_names(path, known).append(kConfigEnd);
  auto named = read_config(folder + "/" + name);
  if (named && is_of(*named, stub)) return named;
  if (stub.number == inode)
    if (auto renamed = config_of_renamed(path, stub, folder)) return renamed;
  if (!stub.number.empty()) fail_without_config(path, stub, folder, name, named.has_value());
  if (!copied) return std::nullopt;
  const std::string own = name_of(path);
  auto found = configs_in(folder, stub, [&](const ConfigName& parts) { return parts.stub == own; });
  if (found.size() > 1)
    throw Error(path + ": several sets have that name, none of them its inode (" + name + ")");
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

// Adds where a subfile is and what the system says of it.
void add_subfile(StripedSet& set, std::set<dev_t>& devices, const std::string& told,
                 const std::string& name) {
  for (const std::string& folder : {parent_of(set.config), told}) {
    std::string path = folder;
    path.append("/").append(name);
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    devices.insert(status.st_dev);
    set.sizes.push_back(static_cast<std::uint64_t>(status.st_size));
    set.subfiles.push_back(std::move(path));
    return;
  }
  throw Error(parent_of(set.config) + "/" + name + ": this subfile is missing (nor is it in " +
              printable(told) + ")");
}

// A stub that was copied with links to subfiles, or without them: who wrote to the copy would write
// to the file that it was made from.
void require_own_subfiles(const StripedSet& set, const Stub& stub, const std::string& original) {
  const std::string number = number_in(set.config);
  if (std::to_string(stub.inode) == number) return;
  struct stat status{};
  if (::stat(original.c_str(), &status) != 0 || std::to_string(status.st_ino) != number) return;
  const bool own = std::ranges::all_of(set.subfiles, [&](const std::string& path) {
    return fs::canonical(path).parent_path() == fs::canonical(parent_of(set.stub));
  });
  if (own) return;
  throw Error(set.stub + " is a copy of " + printable(original) +
              ", and its subfiles are that file's, which lie elsewhere: headrace fuse " +
              printable(original) + " --output makes a copy");
}

// Whether the superblock in the stub is that in the pieces: HDF5 writes both. An ordinary file that
// has been copied over a stub has another one.
bool begins_alike(const StripedSet& set, const Stub& stub) {
  std::vector<std::unique_ptr<engine::io::File>> opened(set.layout.count);
  engine::FileOfSubfiles pieces(set.layout, [&](std::uint32_t number) -> engine::io::File& {
    if (opened[number] == nullptr)
      opened[number] = std::make_unique<engine::io::ReopenedFile>(set.subfiles[number]);
    return *opened[number];
  });
  std::string there(stub.superblock.size(), '\0');
  pieces.read(stub.superblock_at, std::as_writable_bytes(std::span(there)));
  return there == stub.superblock;
}

// Of a set whose subfiles lie on several nodes, behind links.
StripedSet set_on_nodes(StripedSet set, const StripedConfig& told, SetState state) {
  if (!set.has_text)
    throw Error(set.stub + ": who does not know that its subfiles lie on several nodes has " +
                "written to it since " + set.config + " was made");
  for (const std::string& name : told.names)
    set.subfiles.push_back(parent_of(set.config) + "/" + name);
  set.nodes = state.nodes;
  set.state = std::move(state);
  return set;
}

}  // namespace

std::optional<StripedSet> find_set(const std::string& path, const std::string& config_folder) try {
  const Stub stub = read_stub(path);
  const bool text = stub.kind == Stub::Kind::text;
  const bool alone = stub.kind == Stub::Kind::superblock && !stub.names_subfiling;
  if (stub.kind == Stub::Kind::other || (alone && !stub.was_text)) return std::nullopt;
  const std::string folder = config_folder.empty() ? parent_of(path) : config_folder;
  const auto config = config_of(path, stub, folder, text || stub.names_subfiling);
  if (!config && text)
    throw Error(path + " is the stub of a file in pieces, whose configuration does not lie in " +
                folder);
  if (!config) return std::nullopt;
  const StripedConfig& told = config->told;
  StripedSet set;
  set.stub = path;
  set.config = config->path;
  set.layout = told.layout;
  set.id = told.id;
  set.has_text = text;
  set.busy = config->busy;
  auto state = read_set_state(set.config);
  if (state && !state->nodes.empty()) return set_on_nodes(set, told, *std::move(state));
  std::set<dev_t> devices;
  for (const std::string& name : told.names) add_subfile(set, devices, told.folder, name);
  set.devices = devices.size();
  if (stub.kind == Stub::Kind::superblock && !begins_alike(set, stub)) return std::nullopt;
  require_own_subfiles(set, stub, told.stub);
  // HDF5's subfiling writes a superblock into the stub, and knows of no state.
  if (text) set.state = std::move(state);
  check_sizes(set, set.sizes);
  return set;
} catch (const fs::filesystem_error& error) {
  throw Error(error.what(), error.code().value());
}

}  // namespace headrace::sidecar
