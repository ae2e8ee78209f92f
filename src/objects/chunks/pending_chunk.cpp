#include "objects/chunks/pending_chunk.hpp"

#include <algorithm>
#include <cstring>

#include "objects/chunks/cut_off.hpp"

namespace headrace::objects {
namespace {

constexpr std::byte kWritten{1};
constexpr std::size_t kShare = 8;  // of a chunk that pieces may take at most

// The first byte from `at` on that is set, or is not; `end` where there is none.
std::size_t next(const std::vector<std::byte>& marks, std::size_t at, std::size_t end, bool set) {
  const void* const found =
      std::memchr(marks.data() + at, set ? std::to_integer<int>(kWritten) : 0, end - at);
  return found == nullptr
             ? end
             : static_cast<std::size_t>(static_cast<const std::byte*>(found) - marks.data());
}

bool is_within(std::size_t element, unsigned rank, const engine::Index& left,
               const engine::Index& shape) {
  for (unsigned d = rank; d-- > 0; element /= shape[d])
    if (element % shape[d] >= left[d]) return false;
  return true;
}

}  // namespace

std::size_t PendingChunk::size() const {
  constexpr std::size_t kItself = 256;  // with its key
  return kItself + chunk_.size() + written_.size() + elements_.size() +
         pieces_.size() * sizeof(Piece);
}

template <typename Visit>
void PendingChunk::each_run(bool marked, const Visit& visit) const {
  const std::size_t all = written_.size();
  for (std::size_t end = 0; end < all;) {
    const std::size_t first = next(written_, end, all, marked);
    end = next(written_, first, all, !marked);
    if (first < end) visit(first, end - first);
  }
}

// Out of the scratch, which is as before then. Each piece has its elements, also where memory ends.
void PendingChunk::take_pieces(const Touched& touched, ChunkScratch& scratch) {
  for (std::size_t end = touched.first; end < touched.end;) {
    const std::size_t first = next(scratch.written, end, touched.end, true);
    end = next(scratch.written, first, touched.end, false);
    if (first == end) continue;
    const std::byte* const from = scratch.chunk.data() + first * element_;
    const std::size_t before = elements_.size();
    elements_.insert(elements_.end(), from, from + (end - first) * element_);
    try {
      pieces_.push_back({first, end - first});
    } catch (...) {
      elements_.resize(before);
      throw;
    }
    std::memset(scratch.written.data() + first, 0, end - first);
  }
}

// Pieces become a chunk.
void PendingChunk::join() {
  engine::Buffer chunk(bytes_);
  written_.assign(bytes_ / element_, std::byte{0});
  overlay(chunk.bytes());
  for (const Piece& piece : pieces_)
    std::memset(written_.data() + piece.first, std::to_integer<int>(kWritten), piece.count);
  chunk_ = std::move(chunk);
  pieces_ = {};
  elements_ = {};
  note_whole();
}

void PendingChunk::note_whole() {
  if (written_.empty()) return;
  first_left_ = next(written_, first_left_, written_.size(), false);
  if (first_left_ < written_.size()) return;
  written_ = {};
  filling_.reset();
}

void PendingChunk::put(const PutElements& put, const Touched& touched, ChunkScratch& scratch) {
  if (is_in_pieces()) {
    if (touched.count * element_ <= bytes_ / kShare) {
      if (scratch.chunk.size() == 0) {
        scratch.chunk = engine::Buffer(bytes_);
        scratch.written.assign(bytes_ / element_, std::byte{0});
      }
      try {
        put(scratch.chunk.data(), scratch.written.data());
        take_pieces(touched, scratch);
      } catch (...) {
        scratch = {};  // its marks would be taken for those of the next write
        throw;
      }
      if (elements_.size() + pieces_.size() * sizeof(Piece) > bytes_ / kShare) join();
      return;
    }
    join();
  }
  put(chunk_.data(), written_.empty() ? nullptr : written_.data());
  note_whole();
}

void PendingChunk::overlay(std::span<std::byte> chunk) const {
  if (is_whole()) {
    std::ranges::copy(chunk_.bytes(), chunk.begin());
    return;
  }
  const std::byte* from = elements_.data();
  for (const Piece& piece : pieces_) {
    std::memcpy(chunk.data() + piece.first * element_, from, piece.count * element_);
    from += piece.count * element_;
  }
  if (is_in_pieces()) return;
  each_run(/*marked=*/true, [&](std::size_t first, std::size_t count) {
    std::memcpy(chunk.data() + first * element_, chunk_.data() + first * element_,
                count * element_);
  });
}

void PendingChunk::fill(const DecodedChunk& stored) {
  if (is_in_pieces()) join();
  if (is_whole()) return;
  each_run(/*marked=*/false, [&](std::size_t first, std::size_t count) {
    std::memcpy(chunk_.data() + first * element_, stored.data() + first * element_,
                count * element_);
  });
  filling_ = {stored.version, stored.epoch};
}

bool PendingChunk::cut(unsigned rank, const engine::Index& left, const engine::Index& shape) {
  constexpr std::byte kNotWritten{0};
  filling_.reset();
  if (engine::volume(rank, left) == 0) return false;
  if (left == shape) return true;
  if (is_in_pieces()) {
    std::vector<Piece> pieces;
    std::vector<std::byte> elements;
    const std::byte* from = elements_.data();
    for (const Piece& piece : pieces_)
      for (std::size_t i = piece.first; i < piece.first + piece.count; ++i, from += element_) {
        if (!is_within(i, rank, left, shape)) continue;
        pieces.push_back({i, 1});
        elements.insert(elements.end(), from, from + element_);
      }
    pieces_ = std::move(pieces);
    elements_ = std::move(elements);
    return !pieces_.empty();
  }
  if (written_.empty()) written_.resize(bytes_ / element_, kWritten);
  fill_beyond(rank, left, shape, {&kNotWritten, 1}, written_);
  first_left_ = 0;
  return next(written_, 0, written_.size(), true) < written_.size();
}

}  // namespace headrace::objects
