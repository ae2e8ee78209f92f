#include "layers/async/connector/selections/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "engine/buffer.hpp"
#include "vol/dataset/box_io.hpp"

namespace headrace::async {
namespace {

using engine::Box;
using engine::Buffer;
using engine::Fragment;
using engine::Grid;
using engine::Index;

using Fragments = std::span<const Fragment>;

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
std::optional<vol::Runs> slow_rows_of(const vol::Transfer& call, const Elements& dataset) {
  constexpr std::uint64_t kRows = 16;
  constexpr std::uint64_t kLongest = 1ULL << 32U;  // elements of a row; kRows times more overflow
  std::uint64_t bytes = 0;
  if (!dataset.as_stored || !dataset.fills ||
      __builtin_mul_overflow(engine::volume(dataset.rank, dataset.dims), dataset.element, &bytes))
    return std::nullopt;
  const bool points = h5.Sget_select_type(call.file_space) == H5S_SEL_POINTS;
  if (points && !vol::goes_back(call.file_space)) return std::nullopt;
  if (points || dataset.chunk[0] != 0)
    return vol::file_rows_of(dataset, call.file_space, vol::kMostFragments);
  const std::uint64_t row = std::min(dataset.dims[dataset.rank - 1], kLongest);
  return vol::file_blocks_of(dataset, call.file_space, kRows * row);
}

// Reads or writes what is scattered over blocks. Writes put elements into what HDF5 has read, in
// the order of the selection: of points that are given twice the later one stays.
template <typename Byte>
class Blocks {
 public:
  Blocks(const vol::Transfer& call, const Elements& elements, const Grid& grid,
         const Transfer& transfer, Byte* program)
      : call_(call),
        elements_(elements),
        grid_(grid),
        element_(transfer.mem_element),
        distinct_(transfer.distinct),
        program_(program) {}

  // Those of one block, in the order of the selection. False when HDF5 refuses.
  bool move(Fragments fragments) {
    std::vector<std::uint32_t> order(fragments.size());
    std::iota(order.begin(), order.end(), 0);
    const auto begin_of = [&](std::uint32_t i) { return fragments[i].in_chunk; };
    std::ranges::sort(order, {}, begin_of);
    origin_ = engine::origin_of(grid_, fragments.front().chunk);
    std::vector<Fragment> near;
    for (std::span<std::uint32_t> rest(order); !rest.empty();) {
      const std::span<std::uint32_t> some = rest.first(count_near(fragments, rest));
      rest = rest.subspan(some.size());
      std::ranges::sort(some);
      near.clear();
      for (const std::uint32_t i : some) near.push_back(fragments[i]);
      if (!move_near(near)) return false;
    }
    return true;
  }

 private:
  static constexpr bool kWrites = std::is_const_v<Byte>;

  // How many of them, in the order of the block, are better moved with what lies between.
  [[nodiscard]] std::size_t count_near(Fragments fragments,
                                       std::span<const std::uint32_t> order) const {
    constexpr std::uint64_t kGap = 16 << 10;  // bytes
    std::uint64_t end = 0;
    std::size_t count = 0;
    for (const std::uint32_t i : order) {
      const Fragment& one = fragments[i];
      if (count > 0 && one.in_chunk > end + kGap / elements_.element) break;
      end = std::max(end, one.in_chunk + one.count);
      ++count;
    }
    return count;
  }

  bool move_near(Fragments fragments) {
    constexpr std::size_t kMostBytes = 64 << 20;
    std::uint64_t begin = ~std::uint64_t{0};
    std::uint64_t end = 0;
    std::uint64_t count = 0;
    for (const Fragment& one : fragments) {
      begin = std::min(begin, one.in_chunk);
      end = std::max(end, one.in_chunk + one.count);
      count += one.count;
    }
    const Box box = box_of(grid_, origin_, begin, end);
    const bool all = distinct_ && engine::volume(grid_.rank, box.count) == count;
    if (all && fragments.size() == 1)
      return move_box(box, program_ + fragments.front().in_memory * element_);
    const std::size_t bytes = engine::volume(grid_.rank, box.count) * element_;
    if (bytes > kMostBytes) return false;  // some rows, each of which is very long
    if (buffer_.size() < bytes) buffer_ = Buffer(bytes);
    if ((!kWrites || !all) && !read_box(box, buffer_.data())) return false;
    copy_all(fragments, box);
    if constexpr (kWrites) return move_box(box, buffer_.data());
    return true;
  }

  // Between the box, which lies in the buffer, and the program's memory.
  void copy_all(Fragments fragments, const Box& box) {
    const Index strides = engine::strides_of(grid_.rank, grid_.chunk, 1);
    const Index within = engine::strides_of(grid_.rank, box.count, element_);
    for (const Fragment& one : fragments) {
      std::size_t place = 0;
      for (unsigned d = 0; d < grid_.rank; ++d)
        place +=
            (origin_[d] + one.in_chunk / strides[d] % grid_.chunk[d] - box.start[d]) * within[d];
      Byte* const program = program_ + one.in_memory * element_;
      const std::size_t bytes = one.count * element_;
      if constexpr (kWrites)
        std::memcpy(buffer_.data() + place, program, bytes);
      else
        std::memcpy(program, buffer_.data() + place, bytes);
    }
  }

  bool read_box(const Box& box, std::byte* to) {
    return vol::read_box(call_.dataset, elements_, box, to, {call_.mem_type, call_.dxpl});
  }
  bool move_box(const Box& box, Byte* memory) {
    if constexpr (kWrites)
      return vol::write_box(call_.dataset, elements_, box, memory, {call_.mem_type, call_.dxpl});
    else
      return read_box(box, memory);
  }

  const vol::Transfer& call_;
  const Elements& elements_;
  const Grid& grid_;
  std::size_t element_;
  bool distinct_;
  Byte* program_;
  Index origin_{};
  Buffer buffer_;
};

template <typename Byte>
bool move_by_blocks(const vol::Transfer& call, Elements& elements, Byte* program) {
  if (!update_dims(elements, call.dataset)) return false;
  const auto file = slow_rows_of(call, elements);
  if (!file) return false;
  const Grid grid = elements.chunk[0] != 0 ? elements.grid() : blocks_of(elements);
  const auto transfer = vol::cut(elements, call, grid, *file);
  // What is converted on its way into the file would be converted where it is not written, too.
  if (!transfer || (std::is_const_v<Byte> && transfer->converts)) return false;
  Blocks<Byte> blocks(call, elements, grid, *transfer, program);
  bool done = true;
  engine::each_chunk(transfer->fragments,
                     [&](Fragments here) { done = done && blocks.move(here); });
  return done;
}

}  // namespace

bool may_go_by_blocks(const vol::Transfer& call) {
  return call.is_scattered() && vol::leaves_data_alone(call.dxpl);
}

bool read_by_blocks(const vol::Transfer& call, Elements& elements, std::byte* program) {
  return move_by_blocks(call, elements, program);
}

bool write_by_blocks(const vol::Transfer& call, Elements& elements, const std::byte* program) {
  return move_by_blocks(call, elements, program);
}

}  // namespace headrace::async
