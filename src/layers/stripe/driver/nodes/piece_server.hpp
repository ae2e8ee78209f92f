// Reads and writes the subfiles of a node for ranks of other nodes, which cannot reach them. One
// thread of its own, named headrace-pieces, for each open file. No HDF5, no MPI.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "engine/io/file.hpp"
#include "layers/stripe/driver/nodes/messages.hpp"

namespace headrace::stripe {

class PieceServer {
 public:
  // Begins to serve the subfiles, by their numbers; they must outlive the server.
  // Throws Error where the node has no network, or no more threads or files can be had.
  explicit PieceServer(std::map<std::uint32_t, engine::io::File*> pieces);

  PieceServer(const PieceServer&) = delete;
  PieceServer& operator=(const PieceServer&) = delete;
  // Ends all connections, when no rank has a request on its way any more.
  ~PieceServer();

  [[nodiscard]] const Invitation& invitation() const { return invitation_; }

 private:
  struct Service;
  Invitation invitation_;
  std::unique_ptr<Service> service_;
};

}  // namespace headrace::stripe
