#include "layers/object/elements/native_filters.hpp"

#include <array>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::object {
namespace {

constexpr std::array<hsize_t, H5S_MAX_RANK> kOrigin{};

std::string encoded(hid_t type) {
  std::size_t size = 0;
  std::string text;
  if (h5.Tencode(type, nullptr, &size) >= 0) {
    text.resize(size);
    if (h5.Tencode(type, text.data(), &size) >= 0) return text;
  }
  throw Error("HDF5 does not encode a type: " + root_cause());
}

// Also between containers that are open, as it takes longer to make than a small one to open.
std::shared_ptr<vol::NativeFile>& kept_file() {
  static auto& kept = *new std::shared_ptr<vol::NativeFile>();
  return kept;
}

}  // namespace

std::shared_ptr<vol::NativeFile> filters_file() {
  static auto& known = *new std::weak_ptr<vol::NativeFile>();
  std::shared_ptr<vol::NativeFile> file = known.lock();
  if (file == nullptr) {
    known = kept_file() = file = std::make_shared<vol::NativeFile>();
    before_library_ends({[] { return kept_file() != nullptr; }, [] { kept_file().reset(); }});
  }
  return file;
}

void* new_native(const vol::NativeFile& file, hid_t type, hid_t space, hid_t dcpl) {
  constexpr H5VL_loc_params_t kItself{H5I_GROUP, H5VL_OBJECT_BY_SELF, {}};
  void* const dataset = h5.VLdataset_create(
      file.root(), &kItself, file.connector()->get(), nullptr, kDefaultPlist, type, space, dcpl,
      h5.dataset_access_list(), h5.transfer_list.get(), nullptr);
  if (dataset == nullptr) throw Error(root_cause());
  return dataset;
}

Id<Kind::plist> NativeDataset::creation_list() const {
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_DCPL, {}};
  args.args.get_dcpl.dcpl_id = kInvalidId;
  const UnderDataset under = get();
  if (h5.VLdataset_get(under.object, under.connector, &args, h5.transfer_list.get(), nullptr) < 0)
    throw Error("HDF5 does not tell the parameters of filters: " + root_cause());
  return Id<Kind::plist>(args.args.get_dcpl.dcpl_id);
}

std::optional<std::vector<ListedFilter>> listed_filters(hid_t dcpl) {
  constexpr std::size_t kMost = 256;  // HDF5 takes more for an error
  std::vector<ListedFilter> filters;
  const int count = h5.Pget_nfilters(dcpl);
  if (count < 0) throw Error("HDF5 does not tell of filters: " + root_cause());
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    ListedFilter filter;
    filter.values.resize(kMost);
    std::size_t values = kMost;
    filter.id =
        h5.Pget_filter2(dcpl, i, &filter.flags, &values, filter.values.data(), 0, nullptr, nullptr);
    if (filter.id < 0) throw Error("HDF5 does not tell of a filter: " + root_cause());
    if (values > kMost) return std::nullopt;
    filter.values.resize(values);
    filters.push_back(std::move(filter));
  }
  return filters;
}

void set_filters(hid_t dcpl, const std::vector<ListedFilter>& filters) {
  bool are_set = h5.Premove_filter(dcpl, H5Z_FILTER_ALL) >= 0;
  for (const ListedFilter& filter : filters)
    are_set = are_set && h5.Pset_filter(dcpl, filter.id, filter.flags, filter.values.size(),
                                        filter.values.data()) >= 0;
  if (!are_set) throw Error("HDF5 does not take filters: " + root_cause());
}

NativeFilters::NativeFilters(hid_t type, const vol::Chunked& chunks, hid_t dcpl)
    : file_(filters_file()),
      dims_(chunks.chunk.begin(), chunks.chunk.begin() + chunks.rank),
      list_(h5.Pcopy(dcpl)) {
  const bool is_flat = vol::is_flat(type);
  // What leads to blobs has no form in another file.
  const Id<Kind::datatype> own(is_flat ? h5.Tcopy(type) : h5.Tcreate(H5T_OPAQUE, chunks.element));
  // Scale-offset encodes the fill value.
  if (!own || !list_ || h5.Pset_fill_time(list_.get(), H5D_FILL_TIME_NEVER) < 0 ||
      (!is_flat && h5.Pset_fill_value(list_.get(), own.get(), nullptr) < 0))
    throw Error("HDF5 prepares no filters: " + root_cause());
  type_ = encoded(own.get());
}

Id<Kind::datatype> NativeFilters::type() const {
  Id<Kind::datatype> type(h5.decode_type_of != nullptr
                              ? h5.decode_type_of(type_.data(), type_.size())
                              : h5.decode_type(type_.data()));
  if (!type) throw Error("HDF5 does not decode a type: " + root_cause());
  return type;
}

// One for each chunk: HDF5 2.0 keeps an old chunk's mask of filters.
NativeDataset NativeFilters::one_chunk(hid_t type, hid_t list) const {
  const Id<Kind::dataspace> space(
      h5.Screate_simple(static_cast<int>(dims_.size()), dims_.data(), nullptr));
  if (!space) throw Error("HDF5 makes no dataspace: " + root_cause());
  return {*file_, type, space.get(), list};
}

Id<Kind::plist> NativeFilters::creation_list() const {
  return one_chunk(type().get(), list_.get()).creation_list();
}

engine::Buffer NativeFilters::encode(std::span<const std::byte> chunk,
                                     std::uint32_t& left_out) const {
  const Id<Kind::datatype> in_file = type();
  const NativeDataset dataset = one_chunk(in_file.get(), list_.get());
  const UnderDataset under = dataset.get();
  void* object = under.object;
  hid_t type = in_file.get();
  hid_t all = vol::kAll;
  const void* bytes = chunk.data();
  if (h5.VLdataset_write(1, &object, under.connector, &type, &all, &all, h5.transfer_list.get(),
                         &bytes, nullptr) < 0)
    throw Error("HDF5 cannot filter a chunk: " + root_cause());
  engine::Buffer encoded(stored_size(under, kOrigin.data()));
  if (encoded.size() == 0) throw Error("HDF5 has not stored a chunk");
  left_out = read_stored(under, kOrigin.data(), encoded.bytes());
  return encoded;
}

// The parameters are those that the list has: filters set theirs by the type and the chunk, not by
// each other, and some (bitshuffle) would set anew what they have set.
Id<Kind::plist> NativeFilters::list_without(std::uint32_t left_out) const {
  const auto all = listed_filters(list_.get());
  if (!all) throw Error("a filter that was left out of a chunk's cannot be taken out");
  std::vector<ListedFilter> applied;
  for (std::size_t i = 0; i < all->size(); ++i)
    if ((left_out >> i & 1U) == 0) applied.push_back((*all)[i]);
  Id<Kind::plist> list(h5.Pcopy(list_.get()));
  if (!list) throw Error("HDF5 does not copy a creation list: " + root_cause());
  set_filters(list.get(), applied);
  return list;
}

void NativeFilters::decode(std::uint32_t left_out, std::span<const std::byte> stored,
                           std::span<std::byte> chunk) const {
  // HDF5 2.0 reads a chunk that is written with a mask as if all filters were applied to it.
  const Id<Kind::plist> applied = left_out == 0 ? Id<Kind::plist>() : list_without(left_out);
  const Id<Kind::datatype> in_file = type();
  const NativeDataset dataset =
      one_chunk(in_file.get(), left_out == 0 ? list_.get() : applied.get());
  const UnderDataset under = dataset.get();
  write_stored(under, kOrigin.data(), stored);
  void* object = under.object;
  hid_t type = in_file.get();
  hid_t all = vol::kAll;
  void* bytes = chunk.data();
  if (h5.VLdataset_read(1, &object, under.connector, &type, &all, &all, h5.transfer_list.get(),
                        &bytes, nullptr) < 0)
    throw Error("HDF5 cannot read a filtered chunk: " + root_cause());
}

}  // namespace headrace::object
