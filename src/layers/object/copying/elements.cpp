#include "layers/object/copying/elements.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "engine/buffer.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/filters/native_chunk_args.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "layers/object/elements/native_filters.hpp"
#include "vol/dataset/box_spaces.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::object {
namespace {

constexpr std::uint64_t kBytesAtOnce = std::uint64_t{4} << 20U;

// Those that are stored of a dataset, of which there may be millions.
struct StoredChunks {
  std::size_t rank = 0;
  std::vector<hsize_t> offsets;
  std::vector<hsize_t> sizes;  // in bytes
  void add(const hsize_t* offset, hsize_t size) {
    offsets.insert(offsets.end(), offset, offset + rank);
    sizes.push_back(size);
  }
};

void require(herr_t result, const std::string& what) {
  if (result < 0) throw Error(what + " cannot be copied: " + root_cause());
}

class DatasetCopy {
 public:
  DatasetCopy(const Held& from, const Held& to, const std::string& what, const NewReferences& anew)
      : from_(from), to_(to), what_(what), anew_(anew), list_(from.creation()) {
    const Id<Kind::dataspace> space = from.dataspace();
    extent_ = h5.Sget_simple_extent_type(space.get());
    const Id<Kind::datatype> given = from.datatype();
    // A committed type is one of the other file.
    type_ = Id<Kind::datatype>(h5.Tcopy(given.get()));
    elements_.element = h5.Tget_size(type_.get());
    if (extent_ == H5S_SIMPLE && !vol::read_dims(space.get(), elements_.rank, elements_.dims))
      throw Error(what + " has an extent that cannot be copied");
  }

  void run() {
    const H5D_layout_t layout = h5.Pget_layout(list_.get());
    if (extent_ == H5S_NULL || layout == H5D_VIRTUAL) return;
    if (layout == H5D_CHUNKED) return copy_chunks();
    if (is_unwritten() || engine::volume(elements_.rank, elements_.dims) == 0) return;
    if (elements_.rank == 0) return copy_scalar();
    copy_pieces({{}, elements_.dims}, rows_at_once(elements_.dims));
  }

 private:
  [[nodiscard]] static hid_t transfer_list() { return h5.transfer_list.get(); }

  [[nodiscard]] bool is_unwritten() const {
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE_STATUS, {}};
    args.args.get_space_status.status = &status;
    require(from_.connector().dataset_cls.get(from_.get(), &args, transfer_list(), nullptr), what_);
    return status == H5D_SPACE_STATUS_NOT_ALLOCATED;
  }

  herr_t ask(const Held& dataset, int operation, void* args) const {
    H5VL_optional_args_t call{operation, args};
    return dataset.connector().dataset_cls.optional(dataset.get(), &call, transfer_list(), nullptr);
  }

  [[nodiscard]] StoredChunks chunks(const engine::Index& shape) const {
    StoredChunks found{elements_.rank, {}, {}};
    const Id<Kind::vol> connector(h5.VLget_connector_id_by_name(from_.connector().name));
    const UnderDataset under{from_.get(), connector.get()};
    const auto visit = [](const hsize_t* offset, unsigned /*left_out*/, haddr_t /*address*/,
                          hsize_t size, void* to) {
      static_cast<StoredChunks*>(to)->add(offset, size);
      return 0;
    };
    if (tells_chunk_places(under))
      visit_chunks(under, visit, &found);
    else
      look_for_chunks(under, shape, found);
    return found;
  }

  void look_for_chunks(const UnderDataset& under, const engine::Index& shape,
                       StoredChunks& found) const {
    if (engine::volume(elements_.rank, elements_.dims) == 0) return;
    const engine::Grid grid{elements_.rank, elements_.dims, shape};
    const engine::Box all{{}, elements_.dims};
    engine::Pieces pieces(grid, all);
    engine::Piece piece;
    while (pieces.next(piece)) {
      std::array<hsize_t, H5S_MAX_RANK> offset{};
      std::ranges::copy(piece.origin, offset.begin());
      if (const hsize_t size = stored_size(under, offset.data()); size > 0)
        found.add(offset.data(), size);
    }
  }

  void copy_chunks() const {
    std::array<hsize_t, H5S_MAX_RANK> lengths{};
    if (h5.Pget_chunk(list_.get(), static_cast<int>(lengths.size()), lengths.data()) < 0)
      throw Error(what_ + " has chunks of no shape");
    engine::Index shape{};
    std::copy_n(lengths.begin(), elements_.rank, shape.begin());
    const bool as_stored = vol::is_flat(type_.get()) &&
                           listed_filters(list_.get()) == listed_filters(to_.creation().get());
    const StoredChunks all = chunks(shape);
    for (std::size_t i = 0; i < all.sizes.size(); ++i) {
      const hsize_t* const offset = &all.offsets[i * all.rank];
      if (as_stored) {
        copy_stored(offset, all.sizes[i]);
        continue;
      }
      engine::Box box;
      for (unsigned d = 0; d < elements_.rank; ++d) {
        box.start[d] = offset[d];
        box.count[d] = std::min<std::uint64_t>(shape[d], elements_.dims[d] - offset[d]);
      }
      copy_pieces(box, rows_at_once(box.count));
    }
  }

  void copy_stored(const hsize_t* offset, std::size_t size) const {
    engine::Buffer bytes(size);
    ChunkRead read{offset, 0, bytes.data(), &size};
    require(ask(from_, H5VL_NATIVE_DATASET_CHUNK_READ, &read), what_);
    ChunkWrite1 one{offset, read.left_out, static_cast<std::uint32_t>(size), bytes.data()};
    ChunkWrite2 two{offset, read.left_out, size, bytes.data()};
    void* const args = is_major1() ? static_cast<void*>(&one) : &two;
    require(ask(to_, H5VL_NATIVE_DATASET_CHUNK_WRITE, args), what_);
  }

  // The shape of a part of a box that is copied at once: as many rows as have about kBytesAtOnce.
  [[nodiscard]] engine::Index rows_at_once(const engine::Index& count) const {
    engine::Index shape = count;
    std::uint64_t most = std::max<std::uint64_t>(kBytesAtOnce / elements_.element, 1);
    for (unsigned d = elements_.rank; d-- > 0;) {
      shape[d] = std::clamp<std::uint64_t>(count[d], 1, most);
      most = std::max<std::uint64_t>(most / shape[d], 1);
    }
    return shape;
  }

  void copy_pieces(const engine::Box& box, const engine::Index& shape) const {
    // A grid of its own, which begins where the box does.
    const engine::Grid grid{elements_.rank, box.count, shape};
    const engine::Box all{{}, box.count};
    engine::Pieces pieces(grid, all);
    engine::Piece piece;
    while (pieces.next(piece)) {
      engine::Box part = piece.box;
      for (unsigned d = 0; d < elements_.rank; ++d) part.start[d] += box.start[d];
      const vol::BoxSpaces spaces(elements_, part);
      transfer(spaces.memory(), spaces.file(), spaces.memory(),
               engine::volume(elements_.rank, part.count));
    }
  }

  void copy_scalar() const {
    const Id<Kind::dataspace> one(h5.Screate(H5S_SCALAR));
    transfer(vol::kAll, vol::kAll, one.get(), 1);
  }

  void transfer(hid_t memory, hid_t file, hid_t reclaimed, std::uint64_t count) const {
    engine::Buffer buffer(count * elements_.element);
    void* object = from_.get();
    hid_t type = type_.get();
    void* bytes = buffer.data();
    require(from_.connector().dataset_cls.read(1, &object, &type, &memory, &file, transfer_list(),
                                               &bytes, nullptr),
            what_);
    // HDF5 frees what it has read by where that leads to.
    const std::exception_ptr failed = error_of([&] {
      if (has_references(type)) replace_references(type, buffer.data(), count, anew_);
      object = to_.get();
      const void* from = buffer.data();
      require(to_.connector().dataset_cls.write(1, &object, &type, &memory, &file, transfer_list(),
                                                &from, nullptr),
              what_);
    });
    if (!vol::is_flat(type)) h5.Treclaim(type, reclaimed, kDefaultPlist, buffer.data());
    if (failed != nullptr) std::rethrow_exception(failed);
  }

  const Held& from_;
  const Held& to_;
  const std::string& what_;
  const NewReferences& anew_;
  Id<Kind::plist> list_;
  Id<Kind::datatype> type_;
  H5S_class_t extent_ = H5S_NO_CLASS;
  vol::Elements elements_;
};

}  // namespace

void copy_dataset(const Held& from, const Held& to, const std::string& what,
                  const NewReferences& anew) {
  DatasetCopy(from, to, what, anew).run();
}

void copy_attribute(const Held& from, const Held& to, const std::string& what,
                    const NewReferences& anew) {
  const Id<Kind::dataspace> space = from.dataspace();
  const hssize_t count = h5.Sget_simple_extent_npoints(space.get());
  if (count <= 0 || h5.Sget_simple_extent_type(space.get()) == H5S_NULL) return;
  const Id<Kind::datatype> given = from.datatype();
  const Id<Kind::datatype> type(h5.Tcopy(given.get()));
  const auto elements = static_cast<std::size_t>(count);
  engine::Buffer buffer(elements * h5.Tget_size(type.get()));
  const hid_t list = h5.transfer_list.get();
  require(from.connector().attr_cls.read(from.get(), type.get(), buffer.data(), list, nullptr),
          what);
  const std::exception_ptr failed = error_of([&] {
    if (has_references(type.get())) replace_references(type.get(), buffer.data(), elements, anew);
    require(to.connector().attr_cls.write(to.get(), type.get(), buffer.data(), list, nullptr),
            what);
  });
  if (!vol::is_flat(type.get())) h5.Treclaim(type.get(), space.get(), kDefaultPlist, buffer.data());
  if (failed != nullptr) std::rethrow_exception(failed);
}

}  // namespace headrace::object
