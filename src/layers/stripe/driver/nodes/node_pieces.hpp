// Pieces of writes that the ranks of a node put into memory that they share, for the first of them
// to write (aggregate=node). No HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace headrace::stripe {

// The application's thread only.
class NodePieces {
 public:
  // Collective. Each rank gets `share` bytes, which all say alike. Null on all ranks where each has
  // a node of its own, or where those of a node cannot share memory. Throws Error on all ranks.
  static std::unique_ptr<NodePieces> make(Communicator& ranks, std::uint64_t share);

  NodePieces(const NodePieces&) = delete;
  NodePieces& operator=(const NodePieces&) = delete;
  ~NodePieces();

  // A copy of this rank's bytes for that address of the file. False where there is no room.
  bool put(std::uint64_t address, std::span<const std::byte> bytes);
  // Of this rank: what it has put in is not needed any more.
  void forget();
  // Whether this rank writes for its node.
  [[nodiscard]] bool writes() const { return place_ == 0; }

  // Pieces that lie side by side in the file.
  struct Run {
    std::uint64_t address;
    std::vector<std::span<const std::byte>> pieces;
  };
  // What this rank has put in.
  [[nodiscard]] std::vector<Run> mine() const;
  // What all ranks of the node have, in the order to be written in. Between two barriers: no rank
  // changes its share meanwhile.
  [[nodiscard]] std::vector<Run> all() const;

 private:
  NodePieces(std::size_t place, std::size_t ranks, std::uint64_t share)
      : place_(place), ranks_(ranks), share_(share) {}
  struct Piece;
  // The first eight bytes tell how many bytes of the share are in use.
  [[nodiscard]] std::byte* share_of(std::size_t place) const;
  void add(std::size_t place, std::vector<Piece>& pieces) const;
  static std::vector<Run> joined(std::vector<Piece> pieces);

  std::size_t place_;  // of this rank among those of the node
  std::size_t ranks_;  // of the node
  std::uint64_t share_;
  std::byte* memory_ = nullptr;  // null where the rank has a node of its own
};

}  // namespace headrace::stripe
