#include "sidecar/log_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "sidecar/folder.hpp"

namespace headrace::sidecar {

using engine::log::NodeFile;

LogStore::LogStore(std::string file, const engine::log::Owner& owner, Lifetime lifetime, int rank,
                   const std::vector<int>& lowest)
    : file_(std::move(file)), owner_(owner), lifetime_(lifetime), rank_(rank) {
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

int LogStore::open() const {
  const std::string path = path_of(rank_);
  if (!by_node()) return make_rank_log(path);
  const NodeFile& node = nodes_[own().node];
  const int descriptor = leads_ ? make_node_log(path) : open_node_log(path);
  try {
    const auto device = engine::posix_device(descriptor, path.c_str());
    if (leads_) make_node_file(*device, node);
    if (engine::log::node_file_of(*device) != node) throw Error("it is not the node's");
  } catch (const Error& error) {
    ::close(descriptor);
    if (leads_) remove_rank_log(path);
    throw Error("log " + path + " cannot be made: " + error.what(), error.error_number());
  }
  return descriptor;
}

std::string LogStore::path_of(int rank) const {
  if (!by_node()) return rank_log_path(file_, owner_, rank, lifetime_);
  return node_log_path(file_, owner_, in_[static_cast<std::size_t>(rank)].node, lifetime_);
}

std::unique_ptr<engine::Device> LogStore::log_of(int rank,
                                                 std::unique_ptr<engine::Device> file) const {
  if (!by_node()) return file;
  const In& in = in_[static_cast<std::size_t>(rank)];
  return engine::log::log_in(std::move(file), nodes_[in.node], in.place);
}

std::unique_ptr<engine::Device> LogStore::device_of(int rank) const {
  return log_of(rank, engine::on_demand_device(path_of(rank)));
}

std::unique_ptr<engine::Device> LogStore::own_device(int descriptor) const {
  const std::string name = "log of " + file_;
  return log_of(rank_, engine::posix_device(descriptor, name.c_str()));
}

void LogStore::empty(int descriptor, bool sync) const {
  if (!by_node()) return empty_log(descriptor, path_of(rank_), sync);
  if (!leads_) return;
  const auto device = engine::posix_device(descriptor, path_of(rank_).c_str());
  empty_node_file(*device, nodes_[own().node]);
  if (sync) device->sync();
}

}  // namespace headrace::sidecar
