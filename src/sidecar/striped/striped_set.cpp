#include "sidecar/striped/striped_set.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/striped/striped_config.hpp"
#include "sidecar/striped/stub.hpp"

namespace headrace::sidecar {
namespace {

namespace fs = std::filesystem;

struct stat status_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) < 0) throw Error(path + ": " + std::strerror(errno), errno);
  return status;
}

std::string parent_of(const std::string& path) { return fs::path(path).parent_path(); }
std::string name_of(const std::string& path) { return fs::path(path).filename(); }

// STUB.subfile_NUMBER, how the names of all pieces begin; the number is the stub's first inode.
std::string begin_of_names(const std::string& stub, const std::string& number) {
  return name_of(stub) + ".subfile_" + number;
}

constexpr std::string_view kConfigEnd = ".config";
constexpr std::string_view kPartialEnd = ".partial";

// Whether it is the name of a configuration of that stub, with whatever inode.
bool is_config_of(std::string_view name, const std::string& stub) {
  const std::string begin = name_of(stub) + ".subfile_";
  if (name.size() <= begin.size() + kConfigEnd.size() || !name.starts_with(begin) ||
      !name.ends_with(kConfigEnd))
    return false;
  name.remove_prefix(begin.size());
  name.remove_suffix(kConfigEnd.size());
  return std::ranges::all_of(name, [](char each) { return each >= '0' && each <= '9'; });
}

// That with the number of a stub which has been renamed; empty where there is none.
std::string config_of_renamed(const std::string& stub, const std::string& number,
                              const std::string& folder) {
  const std::string end = ".subfile_" + number + std::string(kConfigEnd);
  std::vector<std::string> found;
  for (const auto& each : fs::directory_iterator(folder))
    if (each.path().filename().string().ends_with(end)) found.push_back(each.path());
  if (found.size() > 1)
    throw Error(stub + ": several sets have its number: " + found[0] + ", " + found[1]);
  return found.empty() ? std::string() : found.front();
}

bool is_there(const std::string& path) {
  std::error_code failure;
  const bool there = fs::exists(path, failure);
  // Beside a file with a long name.
  if (failure == std::errc::filename_too_long) return false;
  if (failure) throw fs::filesystem_error("exists", path, failure);
  return there;
}

// Empty where there is none. `number`: of the set, where the stub tells it. `copied`: whether the
// stub may be a copy, which has another inode.
std::string config_of(const std::string& stub, const std::string& folder, const std::string& number,
                      bool copied) {
  const std::string inode = std::to_string(status_of(stub).st_ino);
  const std::string known = number.empty() ? inode : number;
  const std::string name = begin_of_names(stub, known).append(kConfigEnd);
  if (is_there(folder + "/" + name)) return folder + "/" + name;
  // Programs write to another name and rename the file when it is whole.
  if (number == inode)
    if (std::string renamed = config_of_renamed(stub, number, folder); !renamed.empty())
      return renamed;
  if (!number.empty())
    throw Error(stub + " is the stub of a file in pieces, whose configuration does not lie in " +
                folder + " (" + name + "): it may have been copied without them");
  std::vector<std::string> found;
  if (copied)
    for (const auto& each : fs::directory_iterator(folder))
      if (is_config_of(each.path().filename().string(), stub)) found.push_back(each.path());
  if (found.size() > 1)
    throw Error(stub + ": several sets have that name, none of them its inode (" + name + ")");
  return found.empty() ? std::string() : found.front();
}

std::string subfile_of(const std::string& config, const std::string& told,
                       const std::string& name) {
  for (const std::string& folder : {parent_of(config), told}) {
    std::string path = folder;
    path.append("/").append(name);
    if (fs::is_regular_file(path)) return path;
  }
  throw Error(parent_of(config) + "/" + name + ": this subfile is missing (nor is it in " +
              printable(told) + ")");
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

void write_text(const std::string& path, const std::string& text, const struct stat& stub) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, stub.st_mode & 0777U);
  open_to_those_of(stub, file);
  const auto bytes = std::as_bytes(std::span(text));
  engine::posix_device(file.get(), path.c_str())->write(0, {&bytes, 1});
}

// A link lies beside the stub where the subfile does not. Returns its path there.
std::string make_subfile(const std::string& beside, const SetFolders& folders, std::size_t k,
                         const std::string& name, const struct stat& stub) {
  const std::size_t each = std::max<std::size_t>(folders.nodes.size(), 1);
  const std::string folder =
      folders.subfiles.empty() ? "" : folders.subfiles[k / each % folders.subfiles.size()];
  const bool apart = !folder.empty() && !fs::equivalent(folder, beside);
  if (!folders.nodes.empty() && !apart)
    throw Error("stripe: local=true needs folders of each node's own in `dirs`, not that of " +
                name);
  std::string path = beside + "/" + name;
  fs::remove(path);
  if (folders.nodes.empty()) write_text((apart ? folder : beside) + "/" + name, "", stub);
  if (apart) fs::create_symlink(fs::absolute(folder + "/" + name), path);
  return path;
}

StripedSet set_beside(const std::string& stub, const std::string& config) {
  const StripedConfig told = read_striped_config(config);
  StripedSet set{stub, config, told.layout, {}, {}, {}};
  for (const std::string& name : told.names) set.subfiles.push_back(parent_of(config) + "/" + name);
  return set;
}

// The number in the name of a configuration.
std::string number_in(const std::string& config) {
  constexpr std::string_view kBefore = ".subfile_";
  const std::string name = name_of(config);
  const std::size_t begin = name.rfind(kBefore) + kBefore.size();
  return name.substr(begin, name.size() - kConfigEnd.size() - begin);
}

// A stub that was copied with links to subfiles, or without them: who wrote to the copy would write
// to the file that it was made from.
void require_own_subfiles(const StripedSet& set, const std::string& original) {
  const std::string number = number_in(set.config);
  if (std::to_string(status_of(set.stub).st_ino) == number) return;
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

// What a link leads to, as make_set() makes them; a link to anything else stays what it leads to.
void remove_target(const fs::path& link) {
  if (fs::is_symlink(link) && fs::read_symlink(link).filename() == link.filename())
    fs::remove(fs::read_symlink(link));
}

// Whether the superblock in the stub is that in the pieces: HDF5 writes both. An ordinary file that
// has been copied over a stub has another one.
bool begins_alike(const StripedSet& set, const Stub& stub) {
  std::vector<std::unique_ptr<engine::Device>> opened(set.layout.count);
  engine::StripedDevice pieces(set.layout, [&](std::uint32_t number) -> engine::Device& {
    if (opened[number] == nullptr) opened[number] = engine::on_demand_device(set.subfiles[number]);
    return *opened[number];
  });
  std::string there(stub.superblock.size(), '\0');
  pieces.read(stub.superblock_at, std::as_writable_bytes(std::span(there)));
  return there == stub.superblock;
}

}  // namespace

std::string why_no_set(const std::string& stub, std::uint32_t count) {
  const struct stat status = status_of(stub);
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if (stub.find('\n') != std::string::npos) return "a line's end is in its path";
  const std::string begin = begin_of_names(stub, std::to_string(status.st_ino));
  const std::size_t longest = std::max(begin.size() + kConfigEnd.size() + kPartialEnd.size(),
                                       subfile_names(begin, count).back().size());
  const std::string folder = parent_of(stub);
  const long room = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  if (room >= 0 && longest > static_cast<std::size_t>(room))
    return "the names of its pieces would be too long";
  if (folder.size() + 1 + longest >= PATH_MAX) return "the paths of its pieces would be too long";
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return "no files can be made beside it: " + std::string(std::strerror(errno));
  return {};
}

std::string config_of_new(const std::string& stub, const std::string& config_folder) {
  const std::string number = std::to_string(status_of(stub).st_ino);
  const std::string folder = config_folder.empty() ? parent_of(stub) : config_folder;
  return folder + "/" + begin_of_names(stub, number).append(kConfigEnd);
}

void remove_set_of(const std::string& stub, const std::string& config) try {
  if (!is_there(config)) return;
  remove_pieces(set_beside(stub, config));
} catch (const Error&) {
  fs::remove(config);
}

void begin_changing(const StripedSet& set) {
  mark_open(set.config, set.nodes);
  write_stub(set.stub, set.layout, number_in(set.config));
}

std::optional<StripedSet> find_set(const std::string& stub, const std::string& config_folder) try {
  const Stub found = read_stub(stub);
  const bool text = found.kind == Stub::Kind::text;
  const bool alone = found.kind == Stub::Kind::superblock && !found.names_subfiling;
  if (found.kind == Stub::Kind::other || (alone && !found.was_text)) return std::nullopt;
  const std::string folder = config_folder.empty() ? parent_of(stub) : config_folder;
  const std::string config = config_of(stub, folder, found.number, text || found.names_subfiling);
  if (config.empty() && text)
    throw Error(stub + " is the stub of a file in pieces, whose configuration does not lie in " +
                folder);
  if (config.empty()) return std::nullopt;
  const StripedConfig told = read_striped_config(config);
  const std::optional<SetState> state = read_set_state(config);
  if (state && !state->nodes.empty()) {
    if (!text)
      throw Error(stub + ": who does not know that its subfiles lie on several nodes has written " +
                  "to it since " + config + " was made");
    StripedSet set = set_beside(stub, config);
    set.state = state;
    set.nodes = state->nodes;
    return set;
  }
  StripedSet set{stub, config, told.layout, {}, {}, {}};
  for (const std::string& name : told.names)
    set.subfiles.push_back(subfile_of(config, told.folder, name));
  if (found.kind == Stub::Kind::superblock && !begins_alike(set, found)) return std::nullopt;
  require_own_subfiles(set, told.stub);
  // HDF5's subfiling writes a superblock into the stub, and knows of no state.
  if (text) set.state = state;
  check_sizes(set, subfile_sizes(set));
  return set;
} catch (const fs::filesystem_error& error) {
  throw Error(error.what(), error.code().value());
}

StripedSet make_set(const std::string& stub, const engine::StripeLayout& layout,
                    const SetFolders& folders) try {
  const struct stat status = status_of(stub);
  const std::string beside = parent_of(stub);
  const std::string number = std::to_string(status.st_ino);
  const std::string begin = begin_of_names(stub, number);
  StripedSet set{stub, config_of_new(stub, folders.config), layout, {}, {}, {}};
  set.nodes = folders.nodes;
  remove_set_of(stub, set.config);
  const StripedConfig config{layout, stub, beside, subfile_names(begin, layout.count)};
  for (std::size_t k = 0; k < config.names.size(); ++k)
    set.subfiles.push_back(make_subfile(beside, folders, k, config.names[k], status));
  const std::string partial = set.config + std::string(kPartialEnd);
  write_text(partial, striped_config_text(config), status);
  fs::rename(partial, set.config);
  write_stub(stub, layout, number);
  return set;
} catch (const fs::filesystem_error& error) {
  throw Error(error.what(), error.code().value());
}

void make_subfile_here(const StripedSet& set, std::uint32_t number) try {
  const fs::path link = set.subfiles[number];
  write_text(fs::read_symlink(link), "", status_of(set.stub));
} catch (const fs::filesystem_error& error) {
  throw Error(error.what(), error.code().value());
}

void remove_subfiles_here(const std::string& config) try {
  if (!fs::exists(config)) return;
  for (const fs::path path : set_beside("", config).subfiles) remove_target(path);
} catch (const fs::filesystem_error& error) {
  throw Error(error.what(), error.code().value());
}

void remove_pieces(const StripedSet& set) try {
  fs::remove(set.config);
  fs::remove(state_path_of(set.config));
  for (const fs::path path : set.subfiles) {
    remove_target(path);
    fs::remove(path);
  }
} catch (const fs::filesystem_error& error) {
  throw Error(error.what(), error.code().value());
}

std::size_t devices_of(const StripedSet& set) {
  std::set<dev_t> devices;
  for (const std::string& path : set.subfiles) devices.insert(status_of(path).st_dev);
  return devices.size();
}

std::uint64_t subfile_size(const StripedSet& set, std::uint32_t number) {
  return static_cast<std::uint64_t>(status_of(set.subfiles[number]).st_size);
}

std::vector<std::uint64_t> subfile_sizes(const StripedSet& set) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(set.subfiles.size());
  for (std::uint32_t number = 0; number < set.subfiles.size(); ++number)
    sizes.push_back(subfile_size(set, number));
  return sizes;
}

// One that was copied in part, or is older, would read as zeros.
void check_sizes(const StripedSet& set, const std::vector<std::uint64_t>& sizes) {
  if (!set.state || !set.state->closed) return;
  for (std::uint32_t number = 0; number < set.layout.count; ++number) {
    const std::uint64_t expected = set.layout.subfile_size(number, set.state->size);
    if (sizes[number] != expected)
      throw Error(set.subfiles[number] + ": this subfile has " + std::to_string(sizes[number]) +
                  " bytes, and had " + std::to_string(expected) + " when " + set.stub +
                  " was closed: it is an older one, or was copied in part (without " +
                  state_path_of(set.config) + " it is read as it is)");
  }
}

}  // namespace headrace::sidecar
