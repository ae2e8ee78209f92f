// A chunk that was written in memory, in whole or in part.
//
// A few elements of a chunk are kept as pieces, and only what is more as a chunk: who writes single
// elements anywhere in a large dataset needs little memory, and chunks are stored once for many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "objects/chunks/decoded_chunks.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// Writes elements into a chunk, and sets a byte of `written`, unless that is null, to 1 for each.
using PutElements = std::function<void(std::byte* chunk, std::byte* written)>;
// How many elements that writes, all of them in [first, end).
struct Touched {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t count = 0;
};

// Room for a chunk, used again and again.
struct ChunkScratch {
  engine::Buffer chunk;
  std::vector<std::byte> written;  // all 0
};

class PendingChunk {
 public:
  // Nothing is written of a chunk of so many bytes.
  PendingChunk(std::size_t chunk_bytes, std::size_t element)
      : bytes_(chunk_bytes), element_(element) {}
  PendingChunk(engine::Buffer whole, std::size_t element)
      : bytes_(whole.size()), element_(element), chunk_(std::move(whole)) {}

  void put(const PutElements& put, const Touched& touched, ChunkScratch& scratch);
  // Puts what was written over a chunk.
  void overlay(std::span<std::byte> chunk) const;
  // What was not written is taken from the chunk as it is stored: chunk() has all of it then.
  void fill(const DecodedChunk& stored);
  // Nothing counts but what lies within so many elements from the first one on. Whether that is
  // anything.
  bool cut(unsigned rank, const engine::Index& left, const engine::Index& shape);

  // Whether all of it was written.
  [[nodiscard]] bool is_whole() const { return chunk_.size() > 0 && written_.empty(); }
  struct Filling {
    store::Version version = store::kAbsent;  // of what is stored
    std::uint64_t epoch = 0;
  };
  // Where chunk() has all: of what the rest is.
  [[nodiscard]] const std::optional<Filling>& filling() const { return filling_; }
  [[nodiscard]] bool is_in_pieces() const { return chunk_.size() == 0; }
  [[nodiscard]] store::Bytes chunk() const { return chunk_.bytes(); }
  // Bytes of memory, about.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Piece {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  // Calls `visit(first, count)` for elements that are marked, or are not.
  template <typename Visit>
  void each_run(bool marked, const Visit& visit) const;
  void take_pieces(const Touched& touched, ChunkScratch& scratch);
  void join();
  void note_whole();

  std::size_t bytes_;
  std::size_t element_;
  engine::Buffer chunk_;             // empty as long as there are only pieces
  std::vector<std::byte> written_;   // 1 for each element that was; empty: all of them were
  std::size_t first_left_ = 0;       // before that one all of them were
  std::vector<Piece> pieces_;        // later ones over earlier ones
  std::vector<std::byte> elements_;  // theirs, one after the other
  std::optional<Filling> filling_;
};

}  // namespace headrace::objects
