#include "sidecar/node_logs.hpp"

#include <map>
#include <utility>

#include "base/error.hpp"
#include "engine/io/reopened_file.hpp"
#include "engine/log/node_file.hpp"
#include "sidecar/placed/placed_log.hpp"
#include "sidecar/rank_logs.hpp"

namespace headrace::sidecar {
namespace {

using engine::log::NodeFile;

std::string path_of(const std::string& file, const Owner& owner, std::uint32_t node) {
  return node_log_path(file, owner, node, Lifetime::kept);
}

NodeFile header_of(const std::string& path, const Owner& owner, std::uint32_t node) {
  engine::io::ReopenedFile file(path);
  NodeFile header = engine::log::node_file_of(file);
  if (header.owner != owner || header.node != node) throw Error("it belongs to another file");
  return header;
}

void add_logs(std::map<std::uint32_t, LogFile>& logs, const std::string& path,
              const NodeFile& node) {
  const std::uint64_t bytes = bytes_of(path);
  for (std::size_t place = 0; place < node.ranks.size(); ++place) {
    engine::io::ReopenedFile file(path);
    const std::uint64_t length = engine::log::length_of(file, node, place, bytes);
    auto log = engine::log::log_in(std::make_unique<engine::io::ReopenedFile>(path), node, place);
    if (!logs.try_emplace(node.ranks[place], path, std::move(log), length).second)
      throw Error("it has a log that another file has, too");
  }
}

// That of one rank says how many there are.
void require_all(const std::map<std::uint32_t, LogFile>& logs, const Owner& owner) {
  const auto ranks = static_cast<std::uint32_t>(logs.size());
  for (const auto& [rank, log] : logs)
    if (log.reader().owner() != engine::log::Belonging{owner, rank, ranks})
      throw Error("log " + log.path() + " cannot be used: it belongs to another file");
}

}  // namespace

bool has_node_logs(const std::string& file, const Owner& owner) {
  const auto is_there = [&](std::uint32_t node) { return has_name(path_of(file, owner, node)); };
  return is_there(0) || is_there(1);
}

std::vector<LogFile> logs_of_nodes(const std::string& file, const Owner& owner) {
  std::map<std::uint32_t, LogFile> logs;
  std::uint32_t nodes = 1;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const std::string path = path_of(file, owner, node);
    require_readable(path);
    try {
      const NodeFile header = header_of(path, owner, node);
      if (node == 0) nodes = header.nodes;
      if (header.nodes != nodes) throw Error("it belongs to another file");
      add_logs(logs, path, header);
    } catch (const std::exception& error) {
      throw Error("log " + path + " cannot be used: " + error.what());
    }
  }
  require_all(logs, owner);
  std::vector<LogFile> by_rank;
  by_rank.reserve(logs.size());
  for (auto& [rank, log] : logs) by_rank.push_back(std::move(log));
  return by_rank;
}

}  // namespace headrace::sidecar
