#include "hdf5/filters/native_chunks.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/filters/native_chunk_args.hpp"
#include "hdf5/id.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace {
namespace {

struct ChunkIndex {
  H5D_chunk_index_t* type;
};

struct StorageSize {
  const hsize_t* offset;
  hsize_t* size;
};

struct RawOffset {
  haddr_t* offset;
};

struct ChunkIteration {
  VisitChunk visit;
  void* data;
};

herr_t call(const UnderDataset& dataset, int operation, void* native) {
  H5VL_optional_args_t args{operation, native};
  return h5.VLdataset_optional(dataset.object, dataset.connector, &args, h5.transfer_list.get(),
                               nullptr);
}

[[noreturn]] void fail(const std::string& what) {
  const std::string cause = root_cause();
  throw Error(cause.empty() ? what : what + ": " + cause);
}

// HDF5 says that a chunk does not exist by an error that this function itself has found; one that
// it met on the way has further records below.
herr_t look(unsigned n, const H5E_error2_t* error, void* missing) {
  if (n == 0)
    *static_cast<bool*>(missing) =
        error->func_name != nullptr &&
        error->func_name == std::string_view("H5D__get_chunk_storage_size");
  return 0;
}

}  // namespace

bool has_native_chunks(const UnderDataset& dataset) {
  std::uint64_t flags = 0;
  const PrivateErrors own;
  return h5.VLintrospect_opt_query(dataset.object, dataset.connector, H5VL_SUBCLS_DATASET,
                                   H5VL_NATIVE_DATASET_CHUNK_WRITE, &flags) >= 0 &&
         (flags & H5VL_OPT_QUERY_SUPPORTED) != 0;
}

bool has_chunks(const UnderDataset& dataset) {
  H5D_chunk_index_t index{};
  ChunkIndex native{&index};
  const PrivateErrors own;
  return call(dataset, H5VL_NATIVE_DATASET_GET_CHUNK_INDEX_TYPE, &native) >= 0;
}

haddr_t raw_address(const UnderDataset& dataset) {
  haddr_t address = HADDR_UNDEF;
  RawOffset native{&address};
  const PrivateErrors own;
  return call(dataset, H5VL_NATIVE_DATASET_GET_OFFSET, &native) >= 0 ? address : HADDR_UNDEF;
}

std::uint64_t stored_size(const UnderDataset& dataset, const hsize_t* origin) {
  hsize_t size = 0;
  StorageSize native{origin, &size};
  const PrivateErrors own;
  if (call(dataset, H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE, &native) >= 0) return size;
  bool missing = false;
  h5.Ewalk2(kDefaultStack, H5E_WALK_UPWARD, &look, &missing);
  if (!missing) throw Error("the size of a stored chunk cannot be read");
  return 0;
}

bool tells_chunk_places(const UnderDataset& dataset) {
  H5D_chunk_index_t index{};
  ChunkIndex native{&index};
  const PrivateErrors own;
  if (call(dataset, H5VL_NATIVE_DATASET_GET_CHUNK_INDEX_TYPE, &native) < 0) return false;
  if (index != H5D_CHUNK_IDX_EARRAY) return true;
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
  args.args.get_space.space_id = kInvalidId;
  if (h5.VLdataset_get(dataset.object, dataset.connector, &args, h5.transfer_list.get(), nullptr) <
      0)
    return false;
  const Id<Kind::dataspace> space(args.args.get_space.space_id);
  std::array<hsize_t, H5S_MAX_RANK> most{};
  return h5.Sget_simple_extent_dims(space.get(), nullptr, most.data()) > 0 &&
         most.front() == H5S_UNLIMITED;
}

void visit_chunks(const UnderDataset& dataset, VisitChunk visit, void* data) {
  ChunkIteration native{visit, data};
  const PrivateErrors own;
  if (call(dataset, H5VL_NATIVE_DATASET_CHUNK_ITER, &native) < 0)
    fail("HDF5 does not tell where the dataset's chunks are");
}

bool addresses_count_user_block() { return library.version >= "1.14.4"; }

std::uint32_t read_stored(const UnderDataset& dataset, const hsize_t* origin,
                          std::span<std::byte> bytes) {
  std::size_t size = bytes.size();
  ChunkRead native{origin, 0, bytes.data(), &size};
  if (call(dataset, H5VL_NATIVE_DATASET_CHUNK_READ, &native) < 0 || size != bytes.size())
    fail("a stored chunk cannot be read");
  return native.left_out;
}

// H5Dread_chunk evicts first. HDF5 1.14 then needs room for what is stored, 2.x takes none.
void forget_chunk(const UnderDataset& dataset, const hsize_t* origin) {
  std::size_t size = 0;
  const std::size_t room = is_major1() ? stored_size(dataset, origin) : 0;
  std::vector<std::byte> bytes(room + 1);
  ChunkRead native{origin, 0, bytes.data(), &size};
  const PrivateErrors own;  // it may not be stored
  call(dataset, H5VL_NATIVE_DATASET_CHUNK_READ, &native);
}

void write_stored(const UnderDataset& dataset, const hsize_t* origin,
                  std::span<const std::byte> bytes) {
  ChunkWrite1 one{origin, 0, static_cast<std::uint32_t>(bytes.size()), bytes.data()};
  ChunkWrite2 two{origin, 0, bytes.size(), bytes.data()};
  void* native = is_major1() ? static_cast<void*>(&one) : static_cast<void*>(&two);
  if (call(dataset, H5VL_NATIVE_DATASET_CHUNK_WRITE, native) < 0)
    fail("a compressed chunk cannot be stored");
}

}  // namespace headrace
