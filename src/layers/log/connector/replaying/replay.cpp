#include "layers/log/connector/replaying/replay.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "engine/buffer.hpp"
#include "engine/joined_boxes.hpp"
#include "engine/log/pieces.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "hdf5/library_context.hpp"
#include "vol/dataset/box_io.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::log_layout {
namespace {

using engine::Box;
using engine::Buffer;
using engine::Index;
using engine::log::Covered;
using engine::log::LoggedWrites;

constexpr std::uint64_t kMostBytes = 16 << 20;

// As many whole rows as fit, or a part of one: what lies in one piece in the file.
Index piece_shape(const Dataset& dataset, std::uint64_t most) {
  if (dataset.chunked()) return dataset.chunk;
  Index shape{};
  std::uint64_t room = std::max<std::uint64_t>(most / dataset.element, 1);
  for (unsigned d = dataset.rank; d-- > 0;) {
    shape[d] = std::clamp<std::uint64_t>(room, 1, dataset.dims[d]);
    room /= shape[d];
    if (shape[d] < dataset.dims[d]) room = 1;
  }
  return shape;
}

// Calls row(first, count, place) for what lies in one piece both in the dataset and in the box,
// until it returns false: elements of the dataset, and their place in the box.
template <typename Row>
void each_row(const Dataset& dataset, const Box& box, const Row& row) {
  unsigned inner = dataset.rank - 1;  // the slowest dimension of a row
  std::uint64_t count = box.count[inner];
  while (inner > 0 && box.count[inner] == dataset.dims[inner]) count *= box.count[--inner];
  const Index strides = engine::strides_of(dataset.rank, dataset.dims, 1);
  const std::uint64_t rows = engine::volume(inner, box.count);
  Index at{};
  for (std::uint64_t i = 0; i < rows; ++i) {
    std::uint64_t first = 0;
    for (unsigned d = 0; d < dataset.rank; ++d) first += (box.start[d] + at[d]) * strides[d];
    if (!row(first, count, i * count)) return;
    for (unsigned d = inner; d-- > 0;) {
      if (++at[d] < box.count[d]) break;
      at[d] = 0;
    }
  }
}

Covered apply(const Dataset& dataset, const LoggedWrites& writes, const Box& box, Buffer& buffer) {
  constexpr std::size_t kAtOnce = 1 << 16;
  Covered covered(engine::volume(dataset.rank, box.count));
  std::vector<engine::Run> rows;
  std::uint64_t done = 0;
  const auto apply_rows = [&] {
    const std::uint64_t elements = engine::elements_of(rows);
    writes.apply(rows, buffer.bytes().subspan(done * dataset.element, elements * dataset.element),
                 covered, done);
    done += elements;
    rows.clear();
  };
  each_row(dataset, box, [&](std::uint64_t first, std::uint64_t count, std::uint64_t) {
    rows.push_back({first, count});
    if (rows.size() == kAtOnce) apply_rows();
    return true;
  });
  apply_rows();
  return covered;
}

// What the box is to hold; false when that is what it holds.
bool fill(Dataset& dataset, const LoggedWrites& writes, const Box& box, Buffer& buffer) {
  buffer = Buffer(engine::volume(dataset.rank, box.count) * dataset.element);
  const Covered covered = apply(dataset, writes, box, buffer);
  if (covered.none()) return false;
  if (!covered.all()) {
    std::ranges::fill(buffer.bytes(), std::byte{0});  // HDF5 may leave memory as it is
    if (!vol::read_box(*dataset.handle, dataset, box, buffer.data()))
      throw Error("HDF5 cannot read what lies between logged data: " + root_cause());
    apply(dataset, writes, box, buffer);
  }
  return true;
}

void write_box(Dataset& dataset, const Box& box, const Buffer& buffer) {
  if (!vol::write_box(*dataset.handle, dataset, box, buffer.data()))
    throw Error("HDF5 cannot write logged data: " + root_cause());
}

void put_box(Dataset& dataset, const LoggedWrites& writes, const Box& box) {
  Buffer buffer;
  if (fill(dataset, writes, box, buffer)) write_box(dataset, box, buffer);
}

// Keeps the first error.
template <typename Action>
void attempt(std::exception_ptr& error, const Action& action) {
  try {
    action();
  } catch (...) {
    if (error == nullptr) error = std::current_exception();
  }
}

// What is to be written of a box that is made of chunks.
struct Chunks {
  Buffer buffer;           // of the box
  std::vector<Box> parts;  // those of the chunks that are in it
};

// With the box of each chunk in turn that the box is made of.
template <typename Action>
void each_chunk(const Dataset& dataset, const Box& box, const Action& action) {
  const engine::Grid grid{dataset.rank, dataset.dims, dataset.chunk};
  engine::Pieces pieces(grid, box);
  for (engine::Piece piece; pieces.next(piece);) action(piece.box);
}

void forget(const Dataset& dataset, const Box& box) {
  const UnderDataset below{dataset.handle->under, dataset.handle->connector->id()};
  const auto forget_at = [&](const Box& chunk) {
    std::array<hsize_t, engine::kMaxRank> origin{};
    std::ranges::copy(chunk.start, origin.begin());
    forget_chunk(below, origin.data());
  };
  each_chunk(dataset, box, forget_at);
}

// Chunks that nothing was logged of are left as they are: filters may change values.
Chunks fill_chunks(Dataset& dataset, const LoggedWrites& writes, const Box& box) {
  const Index strides = engine::strides_of(dataset.rank, box.count, dataset.element);
  Chunks chunks{Buffer(engine::volume(dataset.rank, box.count) * dataset.element), {}};
  each_chunk(dataset, box, [&](const Box& chunk) {
    Buffer buffer;
    const bool any = fill(dataset, writes, chunk, buffer);
    forget(dataset, chunk);  // which was read, perhaps
    if (!any) return;
    Index inside{};
    for (unsigned d = 0; d < dataset.rank; ++d) inside[d] = chunk.start[d] - box.start[d];
    engine::copy_box(dataset.rank, chunk.count, dataset.element, buffer.data(),
                     engine::strides_of(dataset.rank, chunk.count, dataset.element),
                     chunks.buffer.data() + engine::offset_of(dataset.rank, inside, strides),
                     strides);
    chunks.parts.push_back(chunk);
  });
  return chunks;
}

Box one_element(const Dataset& dataset) {
  Box box;
  std::fill_n(box.count.begin(), dataset.rank, 1);
  return box;
}

// Together with the other ranks. Without parts it takes part in what they write.
void write_parts(Dataset& dataset, const Box& box, const Buffer& buffer, std::span<const Box> parts,
                 hid_t list) {
  const LibraryContext apart;  // HDF5 keeps the mode of the first transfer in a context
  if (!vol::write_parts(*dataset.handle, dataset, box, parts, buffer.data(), {.list = list}))
    throw Error("HDF5 cannot write logged data of several ranks: " + root_cause());
}

// Where a rank without data lies between two with data, ROMIO does not see that what they write
// together is interleaved, and has one of them write back what it read around its own pieces before
// the other wrote. A rank that writes one piece reads nothing.
void write_chunks(Dataset& dataset, const Box& box, const Chunks& chunks, const Share& share,
                  std::exception_ptr& error) {
  const std::span<const Box> parts(chunks.parts);
  const std::size_t mine = parts.size();
  std::vector<std::size_t> each(static_cast<std::size_t>(share.ranks->size()));
  share.ranks->all_gather(std::as_bytes(std::span(&mine, 1)),
                          std::as_writable_bytes(std::span(each)));
  const bool at_once = std::ranges::is_partitioned(each, [](std::size_t n) { return n > 0; });
  const std::size_t step = at_once ? std::ranges::max(each) : 1;
  for (std::size_t i = 0; i < std::ranges::max(each); i += step)
    attempt(error, [&] {
      const auto some = parts.subspan(std::min(i, mine), std::min(step, mine - std::min(i, mine)));
      write_parts(dataset, box, chunks.buffer, some, share.together);
    });
}

void verify_box(Dataset& dataset, const LoggedWrites& writes, const Box& box) {
  Buffer buffer(engine::volume(dataset.rank, box.count) * dataset.element);
  std::ranges::fill(buffer.bytes(), std::byte{0});
  if (!vol::read_box(*dataset.handle, dataset, box, buffer.data()))
    throw Error("HDF5 cannot read it: " + root_cause());
  Buffer expected(buffer.size());
  std::ranges::copy(buffer.bytes(), expected.data());
  apply(dataset, writes, box, expected);
  if (!std::ranges::equal(expected.bytes(), buffer.bytes()))
    throw Error("it does not hold what was logged");
}

// Calls action(box) for all boxes of that shape that the layers hold something of, in row-major
// order.
template <typename ForBox>
void for_boxes(Dataset& dataset, const LoggedWrites& writes, std::uint64_t most,
               const ForBox& action) {
  if (!vol::update_dims(dataset, *dataset.handle)) throw Error("HDF5 does not tell the extent");
  if (writes.end() > engine::volume(dataset.rank, dataset.dims) || !vol::countable(dataset))
    throw Error("it is smaller than what the log holds of it, or has grown too large for a log");
  const engine::Grid grid{dataset.rank, dataset.dims, piece_shape(dataset, most)};
  engine::log::each_piece(
      grid, [&](std::uint64_t begin, std::uint64_t enough) { return writes.next(begin, enough); },
      [&](const Box& box) { action(dataset, writes, box); });
}

// One text, as programs show the innermost cause only.
template <typename ForBox>
void act(Dataset& dataset, const LoggedWrites& writes, ForBox action, const char* doing) {
  try {
    for_boxes(dataset, writes, kMostBytes, action);
  } catch (const Error& error) {
    throw Error(doing + vol::describe(*dataset.handle) + " failed: " + error.what());
  }
}

// What a rank writes at once: each is to have something to do.
std::uint64_t most_of(const Dataset& dataset, const Share& share) {
  constexpr std::uint64_t kLeast = 64 << 10;
  const std::uint64_t all = engine::volume(dataset.rank, dataset.dims) * dataset.element;
  return std::clamp(all / static_cast<std::uint64_t>(share.ranks->size()), kLeast, kMostBytes);
}

// All boxes that the layers may hold something of, the same ones and in the same order on all
// ranks. Calls that ranks make together are few and large.
template <typename ForBox>
void for_shared_boxes(Dataset& dataset, const LoggedWrites& writes, const Share& share,
                      const ForBox& action) {
  const std::uint64_t most = most_of(dataset, share);
  engine::JoinedBoxes joined(dataset.rank, most / dataset.element, action);
  for_boxes(dataset, writes, most, [&](Dataset&, const LoggedWrites&, const Box& box) {
    share.together != kInvalidId ? joined.add(box) : action(box);
  });
  joined.finish();
}

struct SharedBoxes {
  std::uint64_t begin, end;  // those of the rank, by their numbers
  std::uint64_t calls;       // all ranks make together
};

// Of boxes that are written together only the last ranks have fewer than others: see write_chunks.
SharedBoxes shared_boxes(const Share& share) {
  const auto ranks = static_cast<std::uint64_t>(share.ranks->size());
  const auto rank = static_cast<std::uint64_t>(share.ranks->rank());
  if (share.together == kInvalidId)
    return {share.boxes * rank / ranks, share.boxes * (rank + 1) / ranks, 0};
  const std::uint64_t least = share.boxes / ranks;
  const std::uint64_t rest = share.boxes % ranks;
  const auto before = [&](std::uint64_t by) { return by * least + std::min(by, rest); };
  return {before(rank), before(rank + 1), before(1)};
}

}  // namespace

std::uint64_t count_boxes(Dataset& dataset, const LoggedWrites& writes, const Share& share,
                          bool cached) {
  std::uint64_t boxes = 0;
  for_shared_boxes(dataset, writes, share, [&](const Box& box) {
    ++boxes;
    if (cached && dataset.chunked()) forget(dataset, box);
  });
  return boxes;
}

void replay_share(Dataset& dataset, const LoggedWrites& writes, const Share& share) {
  SharedBoxes mine = shared_boxes(share);
  std::uint64_t number = 0;
  std::exception_ptr error;
  const auto put_together = [&](const Box& box) {
    --mine.calls;
    Chunks chunks;
    if (error == nullptr) attempt(error, [&] { chunks = fill_chunks(dataset, writes, box); });
    write_chunks(dataset, box, chunks, share, error);
  };
  for_shared_boxes(dataset, writes, share, [&](const Box& box) {
    const bool is_mine = number >= mine.begin && number < mine.end;
    ++number;
    if (!is_mine) return;
    if (share.together != kInvalidId)
      put_together(box);
    else if (error == nullptr)
      attempt(error, [&] { put_box(dataset, writes, box); });
  });
  while (mine.calls-- > 0) write_chunks(dataset, one_element(dataset), {}, share, error);
  if (error != nullptr) std::rethrow_exception(error);
}

void replay(Dataset& dataset, const LoggedWrites& writes, Throttle& throttle) {
  const auto put = [&](Dataset&, const LoggedWrites&, const Box& box) {
    put_box(dataset, writes, box);
    throttle.spend(engine::volume(dataset.rank, box.count) * dataset.element);
  };
  act(dataset, writes, put, "writing ");
}

void verify(Dataset& dataset, const LoggedWrites& writes) {
  act(dataset, writes, &verify_box, "verifying ");
}

}  // namespace headrace::log_layout
