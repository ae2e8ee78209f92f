#include "sidecar/log_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "engine/io/reopened_file.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/placed/moved_log.hpp"
#include "sidecar/placed/placed_log.hpp"

namespace headrace::sidecar {

using engine::log::NodeFile;

namespace {

// An unnamed file beside another one, so that nothing is left of it whatever happens.
int open_beside(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = path + ".headrace-XXXXXX";
  descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw Error("no log can be made for file " + path, errno);
  ::unlink(name.c_str());
  return descriptor;
}

}  // namespace

LogStore::LogStore(std::string file, const engine::log::Owner& owner, Lifetime lifetime,
                   std::string place)
    : file_(std::move(file)), owner_(owner), lifetime_(lifetime), place_(std::move(place)) {}

LogStore::LogStore(std::string file, const engine::log::Owner& owner, Lifetime lifetime,
                   std::string place, const Rank& rank)
    : LogStore(std::move(file), owner, lifetime, std::move(place)) {
  rank_ = rank.rank;
  ranks_ = rank.ranks;
  const std::vector<int>& lowest = rank.lowest;
  if (lowest.empty()) return;
  in_.resize(lowest.size());
  for (std::size_t one = 0; one < lowest.size(); ++one) {
    const auto first = static_cast<std::size_t>(lowest[one]);
    if (first == one) {
      in_[one].node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back().owner = owner;
    }
    NodeFile& node = nodes_[in_[first].node];
    in_[one] = {in_[first].node, node.ranks.size()};
    node.ranks.push_back(static_cast<std::uint32_t>(one));
  }
  for (std::size_t number = 0; number < nodes_.size(); ++number) {
    nodes_[number].node = static_cast<std::uint32_t>(number);
    nodes_[number].nodes = static_cast<std::uint32_t>(nodes_.size());
  }
  leads_ = own().place == 0;
}

int LogStore::open(bool is_new) {
  if (unnamed()) {
    const int descriptor = place_.empty() ? -1 : make_unnamed_log(place_);
    placed_ = descriptor >= 0;
    return placed_ ? descriptor : open_beside(file_);
  }
  const int descriptor = open_named(is_new);
  placed_ = !place_.empty() && sidecar::is_placed(own_path());
  if (placed_) mark_in_use(descriptor);
  return descriptor;
}

int LogStore::open_named(bool is_new) const {
  if (alone()) return open_log(file_, owner_, is_new, place_);
  const std::string path = own_path();
  if (!by_node()) return make_rank_log(path, place_);
  const NodeFile& node = nodes_[own().node];
  const int descriptor = leads_ ? make_node_log(path, place_) : open_node_log(path);
  try {
    const auto storage = engine::io::posix_file(descriptor, path.c_str());
    if (leads_) make_node_file(*storage, node);
    if (engine::log::node_file_of(*storage) != node) throw Error("it is not the node's");
  } catch (const Error& error) {
    ::close(descriptor);
    if (leads_) remove_rank_log(path);
    throw Error("log " + path + " cannot be made: " + error.what(), error);
  }
  return descriptor;
}

void LogStore::find_moved(int descriptor) {
  const int moved = open_node_log(own_path());
  const bool done = ::dup3(moved, descriptor, O_CLOEXEC) >= 0;
  const int cause = errno;
  ::close(moved);
  if (!done) throw Error("log " + own_path() + " cannot be opened", cause);
  placed_ = false;
}

std::string LogStore::path_of(int rank) const {
  if (unnamed()) return {};
  if (alone()) return log_path(file_, owner_);
  if (!by_node()) return rank_log_path(file_, owner_, rank, lifetime_);
  return node_log_path(file_, owner_, in_[static_cast<std::size_t>(rank)].node, lifetime_);
}

std::optional<engine::log::Belonging> LogStore::belonging(int rank) const {
  if (unnamed()) return std::nullopt;
  if (alone()) return engine::log::Belonging{owner_};
  return engine::log::Belonging{owner_, static_cast<std::uint32_t>(rank),
                                static_cast<std::uint32_t>(ranks_)};
}

std::unique_ptr<engine::io::File> LogStore::log_of(int rank,
                                                   std::unique_ptr<engine::io::File> file) const {
  if (!by_node()) return file;
  const In& in = in_[static_cast<std::size_t>(rank)];
  return engine::log::log_in(std::move(file), nodes_[in.node], in.place);
}

std::unique_ptr<engine::io::File> LogStore::storage_of(int rank) const {
  return log_of(rank, std::make_unique<engine::io::ReopenedFile>(path_of(rank)));
}

std::unique_ptr<engine::io::File> LogStore::own_storage(int descriptor) const {
  const std::string name = "log of " + file_;
  return log_of(rank_, engine::io::posix_file(descriptor, name.c_str()));
}

void LogStore::empty(int descriptor, bool sync) const {
  if (unnamed()) return;  // it goes with its descriptor
  if (!by_node()) return empty_log(descriptor, own_path(), sync);
  if (!leads_) return;
  const auto storage = engine::io::posix_file(descriptor, own_path().c_str());
  empty_node_file(*storage, nodes_[own().node]);
  if (sync) storage->sync();
}

void LogStore::remove() const {
  if (unnamed()) return;
  if (alone()) return remove_log(own_path());
  remove_rank_log(own_path());
}

}  // namespace headrace::sidecar
