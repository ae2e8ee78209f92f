// Subfiles on another node, which its PieceServer reads and writes. No HDF5, no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "engine/io/file.hpp"
#include "layers/stripe/driver/nodes/messages.hpp"

namespace headrace::stripe {

// A node as a rank of another one sees it. It is connected to when it is first needed; a child
// after fork() has a connection of its own.
class FarNode {
 public:
  FarNode(std::string name, Invitation invitation);
  FarNode(const FarNode&) = delete;
  FarNode& operator=(const FarNode&) = delete;
  ~FarNode();

  // A subfile of it; `path` is for errors. Valid as long as the node is here.
  std::unique_ptr<engine::io::File> piece(std::uint32_t number, std::string path);

 private:
  struct Connection;
  class Piece;
  Connection& connection();
  std::unique_ptr<Connection> connect_to(const std::string& address) const;

  std::string name_;
  Invitation invitation_;
  std::mutex mutex_;  // of the connection: requests are made one after the other
  std::unique_ptr<Connection> connection_;
  std::int64_t process_ = 0;  // that has made it
};

}  // namespace headrace::stripe
