// The nodes of the ranks that have a set open whose subfiles lie in folders of each node's own
// (local=true): which of them are here, and how the others are read and written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "layers/stripe/driver/nodes/far_pieces.hpp"
#include "layers/stripe/driver/nodes/piece_server.hpp"
#include "sidecar/striped/striped_set.hpp"

namespace headrace::stripe {

// Collective: what `of` says of each subfile, where each rank is asked for those that are its own.
// Throws Error on all ranks.
std::vector<std::uint64_t> of_all_subfiles(Communicator& ranks, std::uint32_t count,
                                           std::span<const std::uint32_t> mine,
                                           const std::function<std::uint64_t(std::uint32_t)>& of);

// The application's thread only.
class Nodes {
 public:
  // Collective. Throws Error on all ranks.
  explicit Nodes(Communicator& ranks);

  // Of the nodes, in order: what the state of a new set says.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Whether this rank acts for its node, as the first there.
  [[nodiscard]] bool first() const { return place_ == 0; }

  // Throws Error where a subfile lies on none of these nodes.
  void place(const sidecar::StripedSet& set);
  // After place(): all subfiles of this node, and those of them that are this rank's to look after.
  [[nodiscard]] std::vector<std::uint32_t> here() const;
  [[nodiscard]] std::vector<std::uint32_t> mine() const;
  // Collective: how long the subfiles are, in bytes. Throws Error on all ranks.
  [[nodiscard]] std::vector<std::uint64_t> sizes(Communicator& ranks,
                                                 const sidecar::StripedSet& set) const;

  // Collective, of several nodes. `pieces`: those of this node, on its first rank; they outlive the
  // server. Throws Error on all ranks.
  void serve(Communicator& ranks, std::map<std::uint32_t, engine::io::File*> pieces);
  // When no rank has anything to ask for any more.
  void stop_serving() { server_.reset(); }
  // One that is not here; null for one that is.
  std::unique_ptr<engine::io::File> far_piece(std::uint32_t number, const std::string& path);

 private:
  std::size_t node_ = 0;   // of this rank
  std::size_t place_ = 0;  // of this rank among those of its node
  std::size_t ranks_ = 0;  // of its node
  std::vector<std::string> names_;
  std::vector<std::size_t> node_of_;  // of each subfile
  std::unique_ptr<PieceServer> server_;
  std::vector<std::unique_ptr<FarNode>> far_;  // null for this one
};

}  // namespace headrace::stripe
