// A chunk that was written in memory, in whole or in part.
//
// A few elements are kept as pieces, and more of them in memory for a whole chunk. So a program
// that writes single elements all over a large dataset needs little memory, and a chunk is stored
// once for many of its elements.
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

// Writes elements into a chunk. Sets the byte in `written` of each of them to 1, unless `written`
// is null.
using PutElements = std::function<void(std::byte* chunk, std::byte* written)>;
// Which elements of a chunk a PutElements writes: `count` of those from `first` to before `end`.
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
  // Takes the elements that were not written from the chunk as it is stored: chunk() has all then.
  void fill(const DecodedChunk& stored);
  // Forgets all elements but those within `left`, which counts from the first one on along each
  // dimension of a chunk, whose lengths are `shape`. Whether any of them was written.
  bool cut(unsigned rank, const engine::Index& left, const engine::Index& shape);

  // Whether all of it was written.
  [[nodiscard]] bool is_whole() const { return chunk_.size() > 0 && written_.empty(); }
  struct Filling {
    store::Version version = store::kAbsent;
    std::uint64_t epoch = 0;
  };
  // After fill(): of which stored chunk the elements in chunk() are that were not written.
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
  std::vector<Piece> pieces_;        // where two have the same element, the later one counts
  std::vector<std::byte> elements_;  // those of all pieces, one after the other
  std::optional<Filling> filling_;
};

}  // namespace headrace::objects
