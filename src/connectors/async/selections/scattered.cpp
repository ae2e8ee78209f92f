#include "connectors/async/selections/scattered.hpp"

#include <cstring>

#include "connectors/async/chunks/cache.hpp"
#include "connectors/async/chunks/chunk_io.hpp"
#include "engine/ordered.hpp"
#include "engine/scattered.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/box_io.hpp"
#include "vol/selection.hpp"

namespace headrace::async {
namespace {

using engine::Box;
using engine::Buffer;
using engine::Fragment;
using engine::Grid;
using engine::Index;
using engine::Piece;
using vol::Runs;

constexpr std::size_t kMost = 1 << 20;  // runs, and fragments: 64 MiB of them
using Fragments = std::span<const Fragment>;

struct Selection {
  Runs file;
  Runs memory;
  std::uint64_t elements;
  std::size_t mem_element;  // bytes
  bool converts;
};

std::optional<Selection> selection_of(const Scattered& call, std::optional<Runs> file) {
  const Elements& dataset = call.elements;
  if (!file) return std::nullopt;
  auto memory = vol::memory_rows_of(call.mem_space, *file, kMost);
  const std::uint64_t elements = engine::elements_of(*file);
  if (!memory || engine::elements_of(*memory) != elements) return std::nullopt;
  const auto type = vol::memory_type_of(dataset, call.mem_type);
  if (!type) return std::nullopt;
  return Selection{std::move(*file), std::move(*memory), elements, type->size, type->converts};
}

// HDF5 converts a part at a time, where this layer needs memory for all elements.
bool too_large_to_convert(const Scattered& call, const Selection& selection) {
  constexpr std::uint64_t kMostBytes = 64 << 20;
  return selection.elements > kMostBytes / std::max(selection.mem_element, call.elements.element);
}

// The elements of a selection in the dataset's type, one after the other.
class Converted {
 public:
  Converted(const Scattered& call, const Selection& selection)
      : call_(call),
        selection_(selection),
        buffer_(selection.elements * std::max(selection.mem_element, call.elements.element)) {}

  [[nodiscard]] std::byte* data() { return buffer_.data(); }
  [[nodiscard]] Runs runs() const { return {{0, selection_.elements}}; }

  void to_program(std::byte* program) {
    convert(call_.elements.type.get(), call_.mem_type);
    const std::byte* from = buffer_.data();
    for (const engine::Run& run : selection_.memory) {
      const std::size_t bytes = run.count * selection_.mem_element;
      std::memcpy(program + run.first * selection_.mem_element, from, bytes);
      from += bytes;
    }
  }

  void from_program(const std::byte* program) {
    std::byte* to = buffer_.data();
    for (const engine::Run& run : selection_.memory) {
      const std::size_t bytes = run.count * selection_.mem_element;
      std::memcpy(to, program + run.first * selection_.mem_element, bytes);
      to += bytes;
    }
    convert(call_.mem_type, call_.elements.type.get());
  }

 private:
  void convert(hid_t from, hid_t to) {
    if (h5.Tconvert(from, to, selection_.elements, buffer_.data(), nullptr, call_.dxpl) < 0)
      throw Error("HDF5 cannot convert the elements of a selection");
  }

  const Scattered& call_;
  const Selection& selection_;
  Buffer buffer_;
};

Piece piece_of(const Dataset& dataset, std::uint64_t chunk) {
  Piece piece;
  piece.chunk = chunk;
  piece.origin = engine::origin_of(dataset.grid(), chunk);
  return piece;
}

Buffer decoded(const Dataset& dataset, const StoredChunk& stored) {
  Buffer chunk(dataset.chunk_bytes);
  if (stored.bytes.size() == 0)
    engine::fill_all(dataset.fill, chunk.bytes());
  else
    engine::decode(dataset.pipeline, stored.mask, stored.bytes.bytes(), chunk.bytes());
  return chunk;
}

class GatherJob final : public engine::Job {
 public:
  GatherJob(Dataset& dataset, Fragments fragments, StoredChunk stored, std::byte* memory)
      : dataset_(dataset), fragments_(fragments), stored_(std::move(stored)), memory_(memory) {}

  void work() override {
    chunk_ = decoded(dataset_, stored_);
    engine::gather(fragments_, dataset_.element, chunk_.data(), memory_);
  }

  void finish() override {
    if (stored_.mask != 0) return;  // the cache would not know it
    const Piece piece = piece_of(dataset_, fragments_.front().chunk);
    cache().insert(std::make_shared<CachedChunk>(dataset_, piece, std::move(chunk_)));
  }

 private:
  Dataset& dataset_;
  Fragments fragments_;
  StoredChunk stored_;
  std::byte* memory_;
  Buffer chunk_;
};

void fill(const Dataset& dataset, Fragments fragments, std::byte* memory) {
  if (!dataset.fills) return;  // HDF5 leaves the program's memory as it is
  for (const Fragment& one : fragments)
    engine::fill_all(dataset.fill,
                     {memory + one.in_memory * dataset.element, one.count * dataset.element});
}

void gather_all(Dataset& dataset, Fragments fragments, std::byte* memory) {
  cache().store_encoded();
  engine::Ordered ordered(window_of(dataset));
  engine::each_chunk(fragments, [&](Fragments here) {
    if (const ChunkRef chunk = cache().find(dataset, here.front().chunk)) {
      ++statistics().cache_hits;
      engine::gather(here, dataset.element, chunk->bytes.data(), memory);
      return;
    }
    StoredChunk stored = load_chunk(dataset, piece_of(dataset, here.front().chunk).origin);
    if (stored.bytes.size() == 0)
      fill(dataset, here, memory);
    else
      ordered.give(std::make_unique<GatherJob>(dataset, here, std::move(stored), memory));
  });
  ordered.finish();
}

class ScatterJob final : public engine::Job {
 public:
  ScatterJob(Dataset& dataset, Fragments fragments, StoredChunk stored, const std::byte* memory)
      : dataset_(dataset), fragments_(fragments), stored_(std::move(stored)), memory_(memory) {}

  void work() override {
    chunk_ = decoded(dataset_, stored_);
    engine::scatter(fragments_, dataset_.element, memory_, chunk_.data());
  }

  void finish() override {
    const Piece piece = piece_of(dataset_, fragments_.front().chunk);
    const auto chunk = std::make_shared<CachedChunk>(dataset_, piece, std::move(chunk_));
    cache().insert(chunk);
    cache().mark_dirty(chunk);
  }

 private:
  Dataset& dataset_;
  Fragments fragments_;
  StoredChunk stored_;
  const std::byte* memory_;
  Buffer chunk_;
};

void scatter_all(Dataset& dataset, Fragments fragments, const std::byte* memory) {
  cache().store_encoded();
  engine::Ordered ordered(window_of(dataset));
  engine::each_chunk(fragments, [&](Fragments here) {
    if (const ChunkRef chunk = cache().find_to_write(dataset, here.front().chunk)) {
      ++statistics().cache_hits;
      engine::scatter(here, dataset.element, memory, chunk->bytes.data());
      cache().mark_dirty(chunk);
      return;
    }
    StoredChunk stored = load_chunk(dataset, piece_of(dataset, here.front().chunk).origin);
    require_all_filters(stored.mask);
    ordered.give(std::make_unique<ScatterJob>(dataset, here, std::move(stored), memory));
  });
  ordered.finish();
}

// Chunks of about the size at which a call of HDF5 costs little, where it has none itself.
Grid blocks_of(const Elements& dataset) {
  constexpr std::uint64_t kBlock = 256 << 10;  // bytes
  Grid grid{dataset.rank, dataset.dims, dataset.dims};
  std::uint64_t bytes = engine::volume(dataset.rank, dataset.dims) * dataset.element;
  for (unsigned d = 0; d < dataset.rank && bytes > kBlock; ++d) {
    bytes /= dataset.dims[d];
    grid.chunk[d] = std::clamp<std::uint64_t>(kBlock / bytes, 1, dataset.dims[d]);
  }
  return grid;
}

// A box of the dataset that has the elements from `begin` to `end` of a block, as they lie there.
Box box_of(const Grid& grid, const Index& origin, std::uint64_t begin, std::uint64_t end) {
  const Index strides = engine::strides_of(grid.rank, grid.chunk, 1);
  Box box;
  bool same = true;  // so far
  for (unsigned d = 0; d < grid.rank; ++d) {
    const std::uint64_t first = begin / strides[d] % grid.chunk[d];
    const std::uint64_t last = (end - 1) / strides[d] % grid.chunk[d];
    const std::uint64_t most = std::min(grid.chunk[d], grid.dims[d] - origin[d]);
    box.start[d] = origin[d] + (same ? first : 0);
    box.count[d] = same ? last - first + 1 : most;
    same = same && first == last;
  }
  return box;
}

// Those that HDF5 takes longer for where nothing is coded: points out of order, and unions of
// blocks, of which it reads contiguous data row by row in the fastest dimension.
std::optional<Runs> slow_rows_of(const Scattered& call) {
  constexpr std::uint64_t kRows = 16;
  const Elements& dataset = call.elements;
  std::uint64_t bytes = 0;
  if (!dataset.as_stored || !dataset.fills ||
      __builtin_mul_overflow(engine::volume(dataset.rank, dataset.dims), dataset.element, &bytes))
    return std::nullopt;
  const bool points = h5.Sget_select_type(call.file_space) == H5S_SEL_POINTS;
  if (points && !vol::goes_back(call.file_space)) return std::nullopt;
  if (points || dataset.chunk[0] != 0) return vol::file_rows_of(dataset, call.file_space, kMost);
  auto runs = vol::file_blocks_of(dataset, call.file_space);
  if (!runs || engine::elements_of(*runs) / runs->size() < kRows * dataset.dims[dataset.rank - 1])
    return std::nullopt;
  return runs;
}

class BlockReader {
 public:
  BlockReader(const Scattered& call, const Grid& grid, std::size_t element, std::byte* program)
      : call_(call), grid_(grid), element_(element), program_(program) {}

  // False when HDF5 refuses.
  bool read(Fragments fragments) {
    std::vector<Fragment> sorted(fragments.begin(), fragments.end());
    std::ranges::sort(sorted, {}, &Fragment::in_chunk);
    origin_ = engine::origin_of(grid_, sorted.front().chunk);
    for (Fragments rest(sorted); !rest.empty();) {
      const std::size_t count = near(rest);
      if (!read_near(rest.first(count))) return false;
      rest = rest.subspan(count);
    }
    return true;
  }

 private:
  // How many of them are better read with what lies between.
  [[nodiscard]] std::size_t near(Fragments fragments) const {
    constexpr std::uint64_t kGap = 16 << 10;  // bytes
    std::size_t count = 1;
    std::uint64_t end = fragments[0].in_chunk + fragments[0].count;
    while (count < fragments.size() &&
           fragments[count].in_chunk <= end + kGap / call_.elements.element) {
      end = std::max(end, fragments[count].in_chunk + fragments[count].count);
      ++count;
    }
    return count;
  }

  bool read_near(Fragments fragments) {
    constexpr std::size_t kMostBytes = 64 << 20;
    const Fragment& first = fragments.front();
    std::uint64_t end = 0;
    for (const Fragment& one : fragments) end = std::max(end, one.in_chunk + one.count);
    const Box box = box_of(grid_, origin_, first.in_chunk, end);
    if (fragments.size() == 1 && engine::volume(grid_.rank, box.count) == first.count)
      return read_box(box, program_ + first.in_memory * element_);
    const std::size_t bytes = engine::volume(grid_.rank, box.count) * element_;
    if (bytes > kMostBytes) return false;  // some rows, each of which is very long
    if (buffer_.size() < bytes) buffer_ = Buffer(bytes);
    if (!read_box(box, buffer_.data())) return false;
    const Index strides = engine::strides_of(grid_.rank, grid_.chunk, 1);
    const Index within = engine::strides_of(grid_.rank, box.count, element_);
    for (const Fragment& one : fragments) {
      std::size_t place = 0;
      for (unsigned d = 0; d < grid_.rank; ++d)
        place +=
            (origin_[d] + one.in_chunk / strides[d] % grid_.chunk[d] - box.start[d]) * within[d];
      std::memcpy(program_ + one.in_memory * element_, buffer_.data() + place,
                  one.count * element_);
    }
    return true;
  }

  bool read_box(const Box& box, std::byte* to) {
    return vol::read_box(call_.object, call_.elements, box, to, {call_.mem_type, call_.dxpl});
  }

  const Scattered& call_;
  const Grid& grid_;
  std::size_t element_;
  std::byte* program_;
  Index origin_{};
  Buffer buffer_;
};

}  // namespace

bool read_scattered(const Scattered& call, Dataset& dataset, std::byte* program) {
  const auto selection =
      selection_of(call, vol::file_rows_of(call.elements, call.file_space, kMost));
  if (!selection || (selection->converts && !dataset.fills)) return false;
  if (!selection->converts) {
    const auto fragments =
        engine::fragments_of(dataset.grid(), selection->file, selection->memory, kMost);
    if (fragments) gather_all(dataset, *fragments, program);
    return fragments.has_value();
  }
  if (too_large_to_convert(call, *selection)) return false;
  Converted converted(call, *selection);
  const auto fragments =
      engine::fragments_of(dataset.grid(), selection->file, converted.runs(), kMost);
  if (!fragments) return false;
  gather_all(dataset, *fragments, converted.data());
  converted.to_program(program);
  return true;
}

bool write_scattered(const Scattered& call, Dataset& dataset, const std::byte* program) {
  const auto selection =
      selection_of(call, vol::file_rows_of(call.elements, call.file_space, kMost));
  if (!selection) return false;
  if (!selection->converts) {
    const auto fragments =
        engine::fragments_of(dataset.grid(), selection->file, selection->memory, kMost);
    if (fragments) scatter_all(dataset, *fragments, program);
    return fragments.has_value();
  }
  if (too_large_to_convert(call, *selection)) return false;
  Converted converted(call, *selection);
  converted.from_program(program);
  const auto fragments =
      engine::fragments_of(dataset.grid(), selection->file, converted.runs(), kMost);
  if (fragments) scatter_all(dataset, *fragments, converted.data());
  return fragments.has_value();
}

bool read_scattered(const Scattered& call, std::byte* program) {
  const auto selection = selection_of(call, slow_rows_of(call));
  if (!selection) return false;
  const bool chunked = call.elements.chunk[0] != 0;
  const Grid grid = chunked ? call.elements.grid() : blocks_of(call.elements);
  const auto fragments = engine::fragments_of(grid, selection->file, selection->memory, kMost);
  if (!fragments) return false;
  BlockReader reader(call, grid, selection->mem_element, program);
  bool done = true;
  engine::each_chunk(*fragments, [&](Fragments here) { done = done && reader.read(here); });
  return done;
}

}  // namespace headrace::async
