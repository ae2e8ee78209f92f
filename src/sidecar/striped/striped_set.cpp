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

#include "base/error.hpp"
#include "base/unique_id.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/striped/set_names.hpp"
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

void write_text(const std::string& path, const std::string& text, const struct stat& stub) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC, stub.st_mode & 0777U);
  open_to_those_of(stub, file);
  const auto bytes = std::as_bytes(std::span(text));
  engine::io::posix_file(file.get(), path.c_str())->write(0, {&bytes, 1});
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
  StripedSet set;
  set.stub = stub;
  set.config = config;
  set.layout = told.layout;
  set.id = told.id;
  for (const std::string& name : told.names) set.subfiles.push_back(parent_of(config) + "/" + name);
  return set;
}

std::size_t devices_of(const StripedSet& set) {
  std::set<dev_t> devices;
  for (const std::string& path : set.subfiles) devices.insert(status_of(path).st_dev);
  return devices.size();
}

// What a link leads to, as make_set() makes them; a link to anything else stays what it leads to.
void remove_target(const fs::path& link) {
  if (fs::is_symlink(link) && fs::read_symlink(link).filename() == link.filename())
    fs::remove(fs::read_symlink(link));
}

}  // namespace

std::string why_no_set(const std::string& stub, std::uint32_t count) {
  const struct stat status = status_of(stub);
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if (stub.find('\n') != std::string::npos) return "a line's end is in its path";
  const std::string begin = begin_of_names(stub, std::to_string(status.st_ino));
  const std::size_t longest =
      std::max(begin.size() + kConfigEnd.size(), subfile_names(begin, count).back().size());
  const std::string folder = parent_of(stub);
  constexpr std::size_t kShort = 100;  // has room on every file system
  const long room = longest <= kShort ? -1 : ::pathconf(folder.c_str(), _PC_NAME_MAX);
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
  remove_pieces(set_beside(stub, config));
} catch (const Error& error) {
  if (error.kind() != ErrorKind::not_found) fs::remove(config);
}

void remove_older_set(const StripedSet& older, const std::string& config) {
  if (older.config != config) remove_pieces(older);
}

void begin_changing(const StripedSet& set) {
  mark_open(set.config, set.nodes);
  if (!set.has_text) write_text_of_stub(set);
}

void write_text_of_stub(const StripedSet& set) {
  write_stub(set.stub, set.layout, number_in(set.config), set.id);
}

StripedSet make_set(const std::string& stub, const engine::StripeLayout& layout,
                    const SetFolders& folders) try {
  const struct stat status = status_of(stub);
  const std::string beside = parent_of(stub);
  const std::string number = std::to_string(status.st_ino);
  const std::string begin = begin_of_names(stub, number);
  StripedSet set;
  set.stub = stub;
  set.config = config_of_new(stub, folders.config);
  set.layout = layout;
  set.id = new_unique_id();
  set.nodes = folders.nodes;
  remove_set_of(stub, set.config);
  const StripedConfig config{layout, stub, set.id, beside, subfile_names(begin, layout.count)};
  for (std::size_t k = 0; k < config.names.size(); ++k)
    set.subfiles.push_back(make_subfile(beside, folders, k, config.names[k], status));
  // The stub comes last: who is interrupted leaves it empty, which is no file of HDF5's.
  write_text(set.config, striped_config_text(config), status);
  write_text_of_stub(set);
  set.has_text = true;
  set.sizes.assign(layout.count, 0);
  if (folders.nodes.empty() && !folders.subfiles.empty()) set.devices = devices_of(set);
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
