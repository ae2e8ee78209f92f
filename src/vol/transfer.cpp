#include "vol/transfer.hpp"

#include <algorithm>

#include "hdf5/quiet_errors.hpp"
#include "vol/object.hpp"

namespace headrace::vol {
namespace {

// H5S_ALL, H5S_BLOCK and H5S_PLIST stand for a selection without being one.
bool stands_for_another(hid_t space) { return space <= H5S_PLIST; }

Id<Kind::dataspace> extent_of(const Object& dataset) {
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
  args.args.get_space.space_id = kInvalidId;
  h5.VLdataset_get(dataset.under, dataset.connector->id(), &args, kDefaultPlist, nullptr);
  return Id<Kind::dataspace>(args.args.get_space.space_id);
}

}  // namespace

std::uint64_t transfer_bytes(void* dataset, hid_t mem_type, hid_t mem_space, hid_t file_space) {
  const Aside aside;
  Id<Kind::dataspace> all;
  hid_t space = stands_for_another(mem_space) ? file_space : mem_space;
  if (stands_for_another(space)) {
    all = extent_of(Object::from(dataset));
    space = all.get();
  }
  const auto elements = h5.Sget_select_npoints(space);
  return static_cast<std::uint64_t>(std::max<hssize_t>(elements, 0)) * h5.Tget_size(mem_type);
}

}  // namespace headrace::vol
