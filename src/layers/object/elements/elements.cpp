#include "layers/object/elements/elements.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/elements/fill.hpp"
#include "layers/object/elements/transfer.hpp"
#include "objects/keys.hpp"

namespace headrace::object {
namespace {

objects::ChunksOf chunks_of(const objects::Container& container, const objects::Object& dataset,
                            const vol::Chunked& chunks) {
  const objects::Header& header = dataset.header();
  return {objects::prefix_of_chunks(container.name(), dataset.place().object),
          chunks.rank,
          chunks.chunk,
          chunks.element,
          chunks.chunk_bytes,
          chunks.fill,
          header.epoch,
          header.cuts};
}

}  // namespace

// Each time it takes long to make one.
struct Elements::TypesNow {
  explicit TypesNow(const Types& types)
      : program(types.program()),
        is_flat(vol::is_flat(program.get())),
        other(is_flat ? Id<Kind::datatype>() : types.file()) {}
  [[nodiscard]] hid_t in_file() const { return is_flat ? program.get() : other.get(); }
  Id<Kind::datatype> program;
  bool is_flat;
  Id<Kind::datatype> other;  // in the file
};

Elements::Elements(store::Store& store, objects::Container& container, objects::Handle dataset,
                   const Types& types, Id<Kind::plist> dcpl, BeforeChunks before)
    : Elements(store, container, std::move(dataset), types, std::move(dcpl), std::move(before),
               TypesNow(types)) {}

Elements::Elements(store::Store& store, objects::Container& container, objects::Handle dataset,
                   Types types, Id<Kind::plist> dcpl, BeforeChunks before, const TypesNow& now)
    : container_(container),
      dataset_(std::move(dataset)),
      types_(std::move(types)),
      dcpl_(std::move(dcpl)),
      is_flat_(now.is_flat),
      layout_(layout_of(header(), dcpl_.get(), now.in_file())),
      before_(std::move(before)),
      known_(cut_off()),
      said_(known_) {
  vol::Chunked& chunks = layout_.chunks;
  chunks.fill = fill_of(header(), now.program.get(), now.in_file(), dcpl_.get());
  if (layout_.in_header) {
    chunks_ =
        std::make_unique<ChunkInHeader>(container_, dataset_, chunks.chunk_bytes, chunks.fill);
    return;
  }
  // HDF5 has filters on chunks only.
  filters_ = layout_.program == H5D_CHUNKED
                 ? std::make_unique<Filters>(now.in_file(), chunks, dcpl_.get())
                 : std::make_unique<Filters>();
  auto stored =
      std::make_unique<StoredChunks>(store, *filters_, chunks_of(container_, *dataset_, chunks));
  stored_ = stored.get();
  chunks_ = std::move(stored);
}

vol::Chunked Elements::array_of(const Id<Kind::dataspace>& file) const {
  vol::Chunked array;
  array.rank = layout_.chunks.rank;
  array.element = layout_.chunks.element;
  array.chunk = layout_.chunks.chunk;
  array.chunk_bytes = layout_.chunks.chunk_bytes;
  array.fill = layout_.chunks.fill;
  unsigned rank = 0;
  if (!vol::read_dims(file.get(), rank, array.dims))
    throw Error("HDF5 does not tell an extent: " + root_cause());
  if (rank == 0) array.dims[0] = 1;
  return array;
}

void Elements::read(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl, void* buffer) {
  if (elsewhere_ != nullptr) return elsewhere_->read(mem_type, mem_space, file_space, dxpl, buffer);
  follow_header();
  const Selection selection = selection_of(header(), file_space, mem_space);
  const Id<Kind::datatype> in_file = file_type();
  const Conversion conversion(in_file.get(), mem_type, dxpl, Conversion::Memory::target);
  if (selection.count == 0) return conversion.require();
  if (buffer == nullptr) throw Error("there is no memory to read into");
  const vol::Chunked array = array_of(selection.file);
  Transfer(array, *chunks_, conversion)
      .read(selection, h5.Tget_size(mem_type), static_cast<std::byte*>(buffer));
}

void Elements::write(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                     const void* buffer) {
  if (elsewhere_ != nullptr)
    return elsewhere_->write(mem_type, mem_space, file_space, dxpl, buffer);
  follow_header();
  const Selection selection = selection_of(header(), file_space, mem_space);
  const Id<Kind::datatype> in_file = file_type();
  const Conversion conversion(mem_type, in_file.get(), dxpl, Conversion::Memory::source);
  if (selection.count == 0) return conversion.require();
  if (buffer == nullptr) throw Error("there is no memory to write from");
  const vol::Chunked array = array_of(selection.file);
  update_dims(header(), layout_.chunks);
  listed_.reset();
  if (stored_ != nullptr && has_new_cuts()) storing();  // chunks may be stored amid the write
  Transfer(array, *chunks_, conversion)
      .write(selection, h5.Tget_size(mem_type), array.dims == layout_.chunks.dims, is_flat_,
             static_cast<const std::byte*>(buffer));
}

StoredChunks& Elements::storing() {
  follow_header();
  before_(has_new_cuts());
  said_ = cut_off();
  return *stored_;
}

// A whole chunk replaces what is stored, whatever its epoch. Under one from before another's cut,
// elements beyond that cut would be neither this writer's nor the other's.
StoredChunks& Elements::storing_whole() {
  if (layout_.program == H5D_CHUNKED) container_.take_cuts(dataset_);
  return storing();
}

void Elements::flush() {
  if (stored_ == nullptr || chunks_->size() == 0) return chunks_->flush();
  storing_whole().flush();
}

void Elements::set_extent(const std::vector<std::uint64_t>& dims) {
  if (layout_.program != H5D_CHUNKED && elsewhere_ == nullptr)
    throw Error("the dataset cannot be resized: its storage is not chunked");
  if (dims.size() != header().dims.size()) throw Error("the dataset has another rank");
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (header().max_dims.size() == dims.size() && dims[d] > header().max_dims[d])
      throw Error("the dataset cannot be resized beyond its largest dimensions");
  if (elsewhere_ != nullptr) return elsewhere_->set_extent(dims);
  if (dims == header().dims) return;
  objects::cut(container_.change(dataset_), dims);
  reload();
}

void Elements::copy_stored(Elements& from) {
  if (from.stored_ == nullptr || stored_ == nullptr) return;  // it is in the header
  for (const objects::StoredInfo& chunk : from.stored())
    if (const auto raw = from.storing().stored().read_stored(chunk.at))
      storing().stored().write_stored(chunk.at, raw->left_out, raw->bytes.bytes());
}

void Elements::reload() {
  listed_.reset();
  update_dims(header(), layout_.chunks);
  if (!has_more_than(known_)) return;
  chunks_->cut(header());
  known_ = cut_off();
}

bool Elements::is_early() const {
  H5D_alloc_time_t time = H5D_ALLOC_TIME_DEFAULT;
  return h5.Pget_alloc_time(dcpl_.get(), &time) >= 0 && time == H5D_ALLOC_TIME_EARLY;
}

std::vector<objects::StoredInfo> Elements::stored() {
  std::vector<std::uint64_t> dims(layout_.chunks.rank);
  update_dims(header(), layout_.chunks);
  std::copy_n(layout_.chunks.dims.begin(), dims.size(), dims.begin());
  return storing().stored().list(dims);
}

std::uint64_t Elements::storage_size() {
  if (elsewhere_ != nullptr) return 0;
  update_dims(header(), layout_.chunks);
  const bool chunked = layout_.program == H5D_CHUNKED;
  if (!chunked && is_early()) return layout_.bytes();
  if (layout_.in_header) return header().data ? layout_.bytes() : 0;
  const auto chunks = stored();
  if (!chunked) return chunks.empty() ? 0 : layout_.bytes();
  std::uint64_t size = 0;
  for (const auto& chunk : chunks) size += chunk.size;
  if (is_early()) size += (layout_.count_chunks() - chunks.size()) * layout_.chunks.chunk_bytes;
  return size;
}

H5D_space_status_t Elements::status() {
  if (elsewhere_ != nullptr) return H5D_SPACE_STATUS_ALLOCATED;  // natively it means the mappings
  update_dims(header(), layout_.chunks);
  const bool chunked = layout_.program == H5D_CHUNKED;
  if (is_early() && (!chunked || layout_.count_chunks() > 0)) return H5D_SPACE_STATUS_ALLOCATED;
  if (layout_.in_header)
    return header().data ? H5D_SPACE_STATUS_ALLOCATED : H5D_SPACE_STATUS_NOT_ALLOCATED;
  const std::uint64_t chunks = stored().size();
  if (chunks == 0) return H5D_SPACE_STATUS_NOT_ALLOCATED;
  return chunked && chunks < layout_.count_chunks() ? H5D_SPACE_STATUS_PART_ALLOCATED
                                                    : H5D_SPACE_STATUS_ALLOCATED;
}

}  // namespace headrace::object
