// Datasets that shrink and grow, at random, against an array in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "objects/pending_chunks.hpp"
#include "objects/shortening_codec.hpp"
#include "store/memory/memory_store.hpp"

namespace headrace::objects {
namespace {

using engine::Index;
using Element = std::uint16_t;
constexpr Element kBlank = 0x0707;
using Array = std::vector<Element>;

std::span<const std::byte> bytes_of_one(const Element& element) {
  return std::as_bytes(std::span(&element, 1));
}

class CutDataset {
 public:
  CutDataset(unsigned rank, unsigned seed) : rank_(rank), random_(seed) {
    constexpr std::uint64_t kMostElements = 200;
    const std::uint64_t most = rank == 1 ? kMostElements : rank == 2 ? 16 : 7;
    of_.prefix = "c/d/";
    of_.rank = rank;
    of_.element = sizeof(Element);
    of_.chunk_bytes = sizeof(Element);
    of_.fill.assign(sizeof(Element), ShorteningCodec::kSeven);
    header_.kind = Header::Kind::dataset;
    for (unsigned d = 0; d < rank; ++d) {
      most_[d] = most;
      of_.chunk[d] = rank == 1 ? 1 + random_() % 20 : 1 + random_() % 5;
      of_.chunk_bytes *= of_.chunk[d];
      header_.dims.push_back(random_() % (most + 1));
      header_.max_dims.push_back(most);
    }
    model_.assign(engine::volume(rank, most_), kBlank);
    chunks_ = std::make_unique<PendingChunks>(store_, codec_, of_);
  }

  void work(unsigned steps) {
    for (last_ = 1; last_ <= steps && !testing::Test::HasFailure(); ++last_) {
      const auto what = random_() % 20;
      if (what < 9)
        write();
      else if (what < 13)
        resize();
      else if (what < 15)
        chunks_->flush();
      else if (what == 15)
        reopen();
      else if (what == 16)
        write_stored();
      else if (what == 17)
        check_stored();
      else
        check();
    }
    reopen();
    check();
    check_stored();
  }

 private:
  [[nodiscard]] Index dims() const {
    Index dims{};
    std::ranges::copy(header_.dims, dims.begin());
    return dims;
  }
  [[nodiscard]] Index model_strides() const {
    return engine::strides_of(rank_, most_, sizeof(Element));
  }
  [[nodiscard]] Index chunk_strides() const {
    return engine::strides_of(rank_, of_.chunk, sizeof(Element));
  }
  std::byte* model_at(const Index& start) {
    return reinterpret_cast<std::byte*>(model_.data()) +
           engine::offset_of(rank_, start, model_strides());
  }

  [[nodiscard]] Index coordinates_of(const Index& element) const {
    Index at{};
    for (unsigned d = 0; d < rank_; ++d) at[d] = element[d] / of_.chunk[d];
    return at;
  }

  // Of all of the extent, or of a box.
  template <typename Action>
  void for_each_piece(const engine::Box& box, const Action& action) {
    if (engine::volume(rank_, box.count) == 0) return;
    const engine::Grid grid{rank_, dims(), of_.chunk};
    engine::Pieces pieces(grid, box);
    for (engine::Piece piece; pieces.next(piece);) action(piece);
  }

  engine::Box any_box() {
    engine::Box box;
    for (unsigned d = 0; d < rank_; ++d) {
      const std::uint64_t dim = header_.dims[d];
      if (dim == 0) return {};
      box.start[d] = random_() % 3 == 0 ? 0 : random_() % dim;
      const std::uint64_t most = dim - box.start[d];
      box.count[d] = random_() % 3 == 0 ? most : 1 + random_() % most;
    }
    return box;
  }

  [[nodiscard]] std::byte* in_chunk(const engine::Piece& piece, std::byte* chunk,
                                    std::size_t element) const {
    Index start{};
    for (unsigned d = 0; d < rank_; ++d) start[d] = piece.box.start[d] - piece.origin[d];
    return chunk + engine::offset_of(rank_, start, engine::strides_of(rank_, of_.chunk, element));
  }

  // A chunk with that in the piece, and blank elsewhere.
  [[nodiscard]] engine::Buffer chunk_with(const engine::Piece& piece, Element value) const {
    engine::Buffer chunk(of_.chunk_bytes);
    engine::fill_all(of_.fill, chunk.bytes());
    put(piece, value, chunk.data());
    return chunk;
  }
  void put(const engine::Piece& piece, Element value, std::byte* chunk) const {
    engine::fill_box(rank_, piece.box.count, bytes_of_one(value),
                     in_chunk(piece, chunk, sizeof value), chunk_strides());
  }
  void put_in_model(const engine::Piece& piece, Element value) {
    engine::fill_box(rank_, piece.box.count, bytes_of_one(value), model_at(piece.box.start),
                     model_strides());
  }

  void write() {
    const auto value = static_cast<Element>(last_);
    for_each_piece(any_box(), [&](const engine::Piece& piece) {
      put_in_model(piece, value);
      const Index at = coordinates_of(piece.origin);
      if (piece.covers && random_() % 2 == 0) return chunks_->write(at, chunk_with(piece, value));
      const auto put_both = [&](std::byte* chunk, std::byte* written) {
        put(piece, value, chunk);
        constexpr std::byte kWritten{1};
        if (written != nullptr)
          engine::fill_box(rank_, piece.box.count, {&kWritten, 1}, in_chunk(piece, written, 1),
                           engine::strides_of(rank_, of_.chunk, 1));
      };
      chunks_->write_part(
          at, put_both, {0, of_.chunk_bytes / of_.element, engine::volume(rank_, piece.box.count)});
      // What is read alone is made whole.
      if (random_() % 4 == 0) chunks_->read_all({&at, 1}, [](std::size_t, const std::byte*) {});
    });
  }

  void write_stored() {
    const auto value = static_cast<Element>(last_);
    for_each_piece({{}, dims()}, [&](const engine::Piece& piece) {
      if (random_() % 4 != 0) return;
      put_in_model(piece, value);
      const engine::Buffer chunk = chunk_with(piece, value);
      std::uint32_t left_out = 0;
      const engine::Buffer encoded = codec_.encode(chunk.bytes(), left_out);
      chunks_->write_stored(coordinates_of(piece.origin), left_out,
                            encoded.size() > 0 ? encoded.bytes() : chunk.bytes());
    });
  }

  void resize() {
    std::vector<std::uint64_t> dims(rank_);
    for (unsigned d = 0; d < rank_; ++d)
      dims[d] = random_() % 3 == 0 ? header_.dims[d] : random_() % (most_[d] + 1);
    const std::uint64_t before = header_.epoch;
    cut(header_, dims);
    if (header_.epoch > before) chunks_->cut(header_.epoch, dims, header_.cuts);
    for (std::size_t i = 0; i < model_.size(); ++i) {
      std::size_t left = i;
      for (unsigned d = rank_; d-- > 0; left /= most_[d])
        if (left % most_[d] >= dims[d]) model_[i] = kBlank;
    }
  }

  void reopen() {
    chunks_->flush();
    EXPECT_EQ(chunks_->size(), 0U);
    const Header again = decode_header(encode(header_));
    EXPECT_EQ(again, header_);
    of_.epoch = again.epoch;
    of_.cuts = again.cuts;
    chunks_ = std::make_unique<PendingChunks>(store_, codec_, of_);
  }

  void check() {
    std::vector<engine::Piece> pieces;
    std::vector<Coordinates> all;
    for_each_piece({{}, dims()}, [&](const engine::Piece& piece) {
      pieces.push_back(piece);
      all.push_back(coordinates_of(piece.origin));
    });
    Array array(model_.size(), kBlank);
    auto* const bytes = reinterpret_cast<std::byte*>(array.data());
    std::size_t next = 0;
    chunks_->read_all(all, [&](std::size_t i, const std::byte* chunk) {
      EXPECT_EQ(i, next++);
      engine::copy_box(rank_, pieces[i].box.count, sizeof(Element), chunk, chunk_strides(),
                       bytes + engine::offset_of(rank_, pieces[i].origin, model_strides()),
                       model_strides());
      EXPECT_EQ(std::memcmp(chunk, read(all[i]).data(), of_.chunk_bytes), 0);
    });
    EXPECT_EQ(next, all.size());
    EXPECT_EQ(array, model_) << "after " << last_;
  }

  std::vector<std::byte> read(const Coordinates& at) {
    std::vector<std::byte> chunk(of_.chunk_bytes);
    chunks_->read(at, chunk);
    return chunk;
  }

  // Chunks as they are stored are what is read, and all that is not blank is there.
  void check_stored() {
    const std::vector<StoredInfo> list = chunks_->list(header_.dims);
    EXPECT_EQ(chunks_->size(), 0U);
    EXPECT_TRUE(std::ranges::is_sorted(list, {}, &StoredInfo::at));
    std::set<Coordinates> there;
    for (const StoredInfo& one : list) {
      EXPECT_TRUE(there.insert(one.at).second);
      const auto raw = chunks_->read_stored(one.at);
      ASSERT_TRUE(raw);
      if (!raw) return;  // for those who read this without running it
      EXPECT_EQ(raw->bytes.size(), one.size);
      EXPECT_EQ(raw->left_out, one.left_out);
      std::vector<std::byte> chunk(of_.chunk_bytes);
      codec_.decode(raw->left_out, raw->bytes.bytes(), chunk);
      EXPECT_EQ(chunk, read(one.at));
    }
    const std::vector<std::byte> blank(of_.chunk_bytes, ShorteningCodec::kSeven);
    for_each_piece({{}, dims()}, [&](const engine::Piece& piece) {
      const Index at = coordinates_of(piece.origin);
      if (there.contains(at)) return;
      EXPECT_EQ(read(at), blank);
      EXPECT_FALSE(chunks_->read_stored(at));
    });
  }

  unsigned rank_;
  std::mt19937 random_;
  store::MemoryStore store_;
  ShorteningCodec codec_;
  ChunksOf of_;
  Header header_;
  Index most_{};
  Array model_;
  std::unique_ptr<PendingChunks> chunks_;
  unsigned last_ = 0;
};

class CutDatasets : public testing::TestWithParam<unsigned> {};

TEST_P(CutDatasets, are_what_an_array_is) {
  const engine::WantedThreads threads(2);
  for (unsigned seed = 0; seed < 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    CutDataset(GetParam(), seed).work(300);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, CutDatasets, testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace headrace::objects
