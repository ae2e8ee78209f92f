#include "vol/dataset/elements.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/under.hpp"

namespace headrace::vol {
namespace {

std::uint64_t extents_time = 1;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

bool is_flat(hid_t type) {
  switch (h5.Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_BITFIELD:
    case H5T_OPAQUE:
    case H5T_ENUM:
      return true;
    case H5T_STRING:
      return h5.Tis_variable_str(type) == 0;
    case H5T_ARRAY: {
      const Id<Kind::datatype> super(h5.Tget_super(type));
      return super && is_flat(super.get());
    }
    case H5T_COMPOUND: {
      const int members = h5.Tget_nmembers(type);
      for (int i = 0; i < members; ++i) {
        const Id<Kind::datatype> member(h5.Tget_member_type(type, static_cast<unsigned>(i)));
        if (!member || !is_flat(member.get())) return false;
      }
      return members > 0;
    }
    default:
      return false;
  }
}

bool Identity::operator<(const Identity& other) const {
  if (file != other.file) return file < other.file;
  return std::memcmp(&token, &other.token, sizeof token) < 0;
}

H5VL_dataset_get_args_t get(const Object& object, H5VL_dataset_get_t what) {
  H5VL_dataset_get_args_t args{what, {}};
  // The ids of the questions asked here share their place in the union.
  args.args.get_dcpl.dcpl_id = kInvalidId;
  if (call_under<Callback::dataset_get>(*object.connector, object.under, &args,
                                        h5.transfer_list.get(), nullptr) < 0)
    throw Error("HDF5 does not tell the properties of " + describe(object) + ": " + root_cause());
  return args;
}

bool read_type(const Object& object, Elements& elements) {
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_TYPE, {}};
  args.args.get_type.type_id = kInvalidId;
  if (call_under<Callback::dataset_get>(*object.connector, object.under, &args,
                                        h5.transfer_list.get(), nullptr) < 0)
    return false;
  Id<Kind::datatype> type(args.args.get_type.type_id);
  // A committed type is an object of the file, which it would keep open.
  elements.committed = type && h5.Tcommitted(type.get()) > 0;
  if (elements.committed) type = Id<Kind::datatype>(h5.Tcopy(type.get()));
  if (!type || !is_flat(type.get())) return false;
  const H5T_class_t kind = h5.Tget_class(type.get());
  elements.numeric = kind == H5T_INTEGER || kind == H5T_FLOAT;
  elements.element = h5.Tget_size(type.get());
  elements.type = std::move(type);
  return elements.element > 0;
}

bool read_extent(const Object& object, Elements& elements) {
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
  args.args.get_space.space_id = kInvalidId;
  if (call_under<Callback::dataset_get>(*object.connector, object.under, &args,
                                        h5.transfer_list.get(), nullptr) < 0)
    return false;
  const Id<Kind::dataspace> space(args.args.get_space.space_id);
  if (!space || !read_dims(space.get(), elements.rank, elements.dims)) return false;
  elements.dims_time = extents_time;
  return elements.rank > 0;
}

bool read_identity(const Object& object, Identity& identity, unsigned* links, H5I_type_t type) {
  H5O_info2_t info{};
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_INFO, {}};
  args.args.get_info = {H5O_INFO_BASIC, &info};
  const H5VL_loc_params_t self{type, H5VL_OBJECT_BY_SELF, {}};
  if (call_under<Callback::object_get>(*object.connector, object.under, &self, &args,
                                       h5.transfer_list.get(), nullptr) < 0)
    return false;
  identity = {info.fileno, info.token};
  if (links != nullptr) *links = info.rc;
  return true;
}

bool fills(hid_t dcpl) {
  H5D_fill_time_t time = H5D_FILL_TIME_ERROR;
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  return h5.Pget_fill_time(dcpl, &time) >= 0 && h5.Pfill_value_defined(dcpl, &defined) >= 0 &&
         (time == H5D_FILL_TIME_ALLOC ||
          (time == H5D_FILL_TIME_IFSET && defined != H5D_FILL_VALUE_UNDEFINED));
}

bool read_dims(hid_t space, unsigned& rank, engine::Index& dims) {
  std::array<hsize_t, engine::kMaxRank> all{};
  const int count = h5.Sget_simple_extent_ndims(space);
  if (count < 0 || h5.Sget_simple_extent_dims(space, all.data(), nullptr) != count) return false;
  rank = static_cast<unsigned>(count);
  std::ranges::copy(all, dims.begin());
  return true;
}

bool update_dims(Elements& elements, const Object& object) {
  if (extent_known(elements)) return true;
  const unsigned rank = elements.rank;
  return read_extent(object, elements) && elements.rank == rank;
}

bool extent_known(const Elements& elements) { return elements.dims_time == extents_time; }

void extents_may_have_changed() { ++extents_time; }

// Whether the list has nothing that changes data on its way. HDF5 writes results into the
// program's list, so one that is not the default may still say nothing.
bool leaves_data_alone(hid_t dxpl) {
  const hid_t fallback = h5.transfer_list.get();
  if (dxpl == kDefaultPlist || dxpl == fallback || h5.Pequal(dxpl, fallback) > 0) return true;
  H5Z_cb_t filter{};
  H5T_conv_except_func_t conversion = nullptr;
  void* data = nullptr;
  return h5.Pget_edc_check(dxpl) == H5Z_ENABLE_EDC && h5.Pget(dxpl, "filter_cb", &filter) >= 0 &&
         filter.func == nullptr && h5.Pget_type_conv_cb(dxpl, &conversion, &data) >= 0 &&
         conversion == nullptr && h5.Pget_data_transform(dxpl, nullptr, 0) < 0;
}

std::string name_of(const Object& object, H5I_type_t type) {
  const PrivateErrors own;
  std::array<char, 1024> name{};
  std::size_t length = 0;
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_NAME, {}};
  args.args.get_name = {name.size(), name.data(), &length};
  const H5VL_loc_params_t self{type, H5VL_OBJECT_BY_SELF, {}};
  call_under<Callback::object_get>(*object.connector, object.under, &self, &args,
                                   h5.transfer_list.get(), nullptr);
  return name.data();
}

std::string file_name_of(const Object& object) {
  const PrivateErrors own;
  std::array<char, 1024> name{};
  std::size_t length = 0;
  H5VL_file_get_args_t file{H5VL_FILE_GET_NAME, {}};
  file.args.get_name = {H5I_DATASET, name.size(), name.data(), &length};
  call_under<Callback::file_get>(*object.connector, object.under, &file, h5.transfer_list.get(),
                                 nullptr);
  return name.data();
}

std::string describe(const Object& object) {
  return "dataset " + name_of(object) + " of file " + file_name_of(object);
}

}  // namespace headrace::vol
