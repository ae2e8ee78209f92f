// HDF5's functions for the chunks of a dataset, and what else it asks of native datasets only.
#include <algorithm>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/filters/native_chunk_args.hpp"
#include "layers/object/elements/elements.hpp"
#include "layers/object/elements/sequence_bytes.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::object {
namespace {

// HDF5's arguments.
struct ChunkSize {
  const hsize_t* offset;
  hsize_t* size;
};
struct CountChunks {
  hid_t space;
  hsize_t* count;
};
struct ChunkByPlace {
  hid_t space;
  hsize_t place;
  hsize_t* offset;
  unsigned* left_out;
  haddr_t* address;
  hsize_t* size;
};
struct ChunkByOffset {
  const hsize_t* offset;
  unsigned* left_out;
  haddr_t* address;
  hsize_t* size;
};
struct DataOffset {
  haddr_t* offset;
};
struct VisitChunks {
  H5D_chunk_iter_op_t visit;
  void* data;
};
struct SequenceSize {
  hid_t type;
  hid_t space;
  hsize_t* size;
};

template <typename Args>
Args& given(const H5VL_optional_args_t& args) {
  return *static_cast<Args*>(args.args);
}

}  // namespace

herr_t Elements::optional(H5VL_optional_args_t& args) {
  switch (args.op_type) {
    case H5VL_NATIVE_DATASET_GET_OFFSET:
      *given<DataOffset>(args).offset = HADDR_UNDEF;
      return 0;
    case H5VL_NATIVE_DATASET_GET_VLEN_BUF_SIZE:
      tell_sequences(args);
      return 0;
    case H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE:
    case H5VL_NATIVE_DATASET_GET_NUM_CHUNKS:
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX:
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD:
    case H5VL_NATIVE_DATASET_CHUNK_READ:
    case H5VL_NATIVE_DATASET_CHUNK_WRITE:
    case H5VL_NATIVE_DATASET_CHUNK_ITER:
      if (layout_.program != H5D_CHUNKED) throw Error("the dataset is not chunked");
      update_dims(header(), layout_.chunks);
      return chunk_call(args);
    default:
      throw Error("operation " + std::to_string(args.op_type) +
                      " on a dataset of a container is not supported",
                  ErrorKind::unsupported);
  }
}

herr_t Elements::chunk_call(H5VL_optional_args_t& args) {
  switch (args.op_type) {
    case H5VL_NATIVE_DATASET_CHUNK_READ:
      read_chunk(args);
      return 0;
    case H5VL_NATIVE_DATASET_CHUNK_WRITE:
      write_chunk(args);
      return 0;
    case H5VL_NATIVE_DATASET_CHUNK_ITER:
      return visit_chunks(args);
    case H5VL_NATIVE_DATASET_GET_NUM_CHUNKS:
      *given<CountChunks>(args).count = listed().size();
      return 0;
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX: {
      const auto& wanted = given<ChunkByPlace>(args);
      const auto& all = listed();
      const bool is_there = wanted.place < all.size();
      tell({wanted.left_out, wanted.address, wanted.size}, is_there ? &all[wanted.place] : nullptr);
      if (is_there && wanted.offset != nullptr)
        std::ranges::copy(offset_of(all[wanted.place].at), wanted.offset);
      return 0;
    }
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD: {
      const auto& wanted = given<ChunkByOffset>(args);
      const auto chunk = info_of(wanted.offset);
      tell({wanted.left_out, wanted.address, wanted.size}, chunk ? &*chunk : nullptr);
      return 0;
    }
    default: {  // H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE
      const auto& wanted = given<ChunkSize>(args);
      const auto chunk = info_of(wanted.offset);
      *wanted.size = chunk ? chunk->size : 0;
      return 0;
    }
  }
}

// None outside of the extent.
std::optional<Coordinates> Elements::chunk_with(const hsize_t* offset) const {
  Coordinates at{};
  for (unsigned d = 0; d < layout_.chunks.rank; ++d) {
    if (offset[d] >= layout_.chunks.dims[d]) return std::nullopt;
    at[d] = offset[d] / layout_.chunks.chunk[d];
  }
  return at;
}

Coordinates Elements::chunk_at(const hsize_t* offset) const {
  const auto at = chunk_with(offset);
  if (!at) throw Error("the chunk is not within the dataset's extent");
  for (unsigned d = 0; d < layout_.chunks.rank; ++d)
    if (offset[d] % layout_.chunks.chunk[d] != 0) throw Error("no chunk begins at that offset");
  return *at;
}

std::vector<hsize_t> Elements::offset_of(const Coordinates& at) const {
  std::vector<hsize_t> offset(layout_.chunks.rank);
  for (unsigned d = 0; d < layout_.chunks.rank; ++d) offset[d] = at[d] * layout_.chunks.chunk[d];
  return offset;
}

std::optional<objects::StoredInfo> Elements::info_of(const hsize_t* offset) {
  const auto at = chunk_with(offset);
  if (!at) return std::nullopt;
  const auto chunk = storing().stored().read_stored(*at);
  if (!chunk) return std::nullopt;
  return objects::StoredInfo{*at, chunk->bytes.size(), chunk->left_out};
}

haddr_t Elements::address_of(const Coordinates& at) const {
  constexpr haddr_t kBehindAllFiles = haddr_t{1} << 62U;
  const engine::Grid grid = layout_.chunks.grid();
  haddr_t number = 0;
  for (unsigned d = 0; d < grid.rank; ++d)
    number = number * (grid.dims[d] / grid.chunk[d] + 1) + at[d];
  return kBehindAllFiles + number;
}

void Elements::tell(const Told& told, const objects::StoredInfo* chunk) const {
  if (told.address != nullptr)
    *told.address = chunk == nullptr ? HADDR_UNDEF : address_of(chunk->at);
  if (told.size != nullptr) *told.size = chunk == nullptr ? 0 : chunk->size;
  if (told.left_out != nullptr && chunk != nullptr) *told.left_out = chunk->left_out;
}

void Elements::read_chunk(H5VL_optional_args_t& args) {
  auto& wanted = given<ChunkRead>(args);
  const auto chunk = storing().stored().read_stored(chunk_at(wanted.offset));
  if (!chunk) throw Error("nothing is stored of that chunk");
  wanted.left_out = chunk->left_out;
  const std::size_t size = chunk->bytes.size();
  // Null from programs of HDF5 1.14, who have asked for the size before.
  std::size_t* const room = is_major1() ? nullptr : wanted.size;
  if (wanted.buffer != nullptr && (room == nullptr || *room >= size))
    std::ranges::copy(chunk->bytes.bytes(), static_cast<std::byte*>(wanted.buffer));
  if (room != nullptr) *room = size;
}

void Elements::write_chunk(H5VL_optional_args_t& args) {
  const auto& one = given<ChunkWrite1>(args);
  const auto& two = given<ChunkWrite2>(args);
  const std::size_t size = is_major1() ? one.size : two.size;
  const void* const bytes = is_major1() ? one.buffer : two.buffer;
  const Coordinates at = chunk_at(one.offset);
  if (filters_->is_empty() && size != layout_.chunks.chunk_bytes)
    throw Error("the chunk has another size than the dataset's chunks");
  listed_.reset();
  storing_whole().stored().write_stored(at, filters_->is_empty() ? 0 : one.left_out,
                                        {static_cast<const std::byte*>(bytes), size});
}

herr_t Elements::visit_chunks(H5VL_optional_args_t& args) {
  const auto& wanted = given<VisitChunks>(args);
  for (const auto& chunk : stored()) {
    const auto offset = offset_of(chunk.at);
    const int result =
        wanted.visit(offset.data(), chunk.left_out, address_of(chunk.at), chunk.size, wanted.data);
    if (result < 0) throw Error("the function that was called for each chunk failed");
    if (result > 0) return result;
  }
  return 0;
}

const std::vector<objects::StoredInfo>& Elements::listed() {
  if (!listed_) listed_ = stored();
  return *listed_;
}

void Elements::tell_sequences(H5VL_optional_args_t& args) {
  const auto& wanted = given<SequenceSize>(args);
  const hssize_t selected =
      wanted.space == vol::kAll
          ? static_cast<hssize_t>(engine::volume(layout_.chunks.rank, layout_.chunks.dims))
          : h5.Sget_select_npoints(wanted.space);
  if (selected < 0) throw Error("HDF5 does not tell what is selected: " + root_cause());
  const auto count = static_cast<hsize_t>(selected);
  const std::size_t size = h5.Tget_size(wanted.type);
  std::vector<std::byte> elements(count * size);
  read(wanted.type, vol::kBlock, wanted.space, kDefaultPlist, elements.data());
  *wanted.size = 0;
  for (hsize_t i = 0; i < count; ++i)
    *wanted.size += sequence_bytes(wanted.type, elements.data() + i * size);
  const Id<Kind::dataspace> all(h5.Screate_simple(1, &count, nullptr));
  h5.Treclaim(wanted.type, all.get(), kDefaultPlist, elements.data());
}

}  // namespace headrace::object
