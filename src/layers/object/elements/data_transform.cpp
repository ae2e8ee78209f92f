#include "layers/object/elements/data_transform.hpp"

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/object/elements/native_filters.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::object {

bool has_data_transform(hid_t dxpl) {
  if (dxpl == kDefaultPlist || dxpl == h5.transfer_list.get()) return false;
  const PrivateErrors own;  // it fails where there is none
  return h5.Pget_data_transform(dxpl, nullptr, 0) > 0;
}

void transform_data(hid_t dxpl, hid_t type, std::uint64_t count, engine::Buffer& elements) {
  const auto file = filters_file();
  const Id<Kind::datatype> copy(h5.Tcopy(type));  // a committed type is one of another file
  const hsize_t all_of_them = count;
  const Id<Kind::dataspace> space(h5.Screate_simple(1, &all_of_them, nullptr));
  if (!copy || !space) throw Error(root_cause());
  const NativeDataset dataset(*file, copy.get(), space.get(), h5.dataset_list.get());
  const UnderDataset under = dataset.get();
  void* object = under.object;
  hid_t memory = copy.get();
  hid_t all = vol::kAll;
  void* buffer = elements.data();
  const void* source = buffer;
  const auto written = [&] {
    const LibraryContext apart;  // HDF5 keeps the transform of the first transfer in a context
    return h5.VLdataset_write(1, &object, under.connector, &memory, &all, &all,
                              h5.transfer_list.get(), &source, nullptr) >= 0;
  };
  const auto read = [&] {
    const LibraryContext apart;
    return h5.VLdataset_read(1, &object, under.connector, &memory, &all, &all, dxpl, &buffer,
                             nullptr) >= 0;
  };
  if (!written() || !read()) throw Error("HDF5 does not transform data: " + root_cause());
}

}  // namespace headrace::object
