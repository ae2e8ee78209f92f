#include "connector.hpp"
#include "values.hpp"

namespace memory {
namespace {

// Throws Error for a dataset that the connector cannot hold, naming it and why.
void require_contiguous(const std::string& name, hid_t dcpl, hid_t space) {
  const std::string no = "dataset " + name + " cannot be created: headrace_memory ";
  const H5D_layout_t layout = h5.Pget_layout(dcpl);
  if (layout == H5D_CHUNKED)
    throw Error(no + "holds contiguous datasets only, and this one is to be chunked");
  if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT)
    throw Error(no + "holds contiguous datasets only, and this one is to be virtual");
  if (h5.Pget_nfilters(dcpl) > 0) throw Error(no + "has no filters");
  if (h5.Pget_external_count(dcpl) > 0) throw Error(no + "has no external files");
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  std::array<hsize_t, H5S_MAX_RANK> most{};
  const int rank = h5.Sget_simple_extent_dims(space, dims.data(), most.data());
  if (rank > 0 && dims != most)
    throw Error(no + "holds contiguous datasets only, and this one is to grow");
}

Dataset& dataset_of(const Open& open) {
  auto* const dataset = dynamic_cast<Dataset*>(open.node.get());
  if (dataset == nullptr) throw Error(open.path + " is not a dataset");
  return *dataset;
}

// What went wrong with which dataset.
template <typename Transfer>
void named(const Open& open, Transfer transfer) {
  try {
    transfer(dataset_of(open));
  } catch (const std::exception&) {
    std::throw_with_nested(Error("dataset " + open.path + " of file " + file_of(open).name));
  }
}

}  // namespace

void* Connector::dataset_create(void* self, Loc where, const char* name, hid_t lcpl, hid_t type,
                                hid_t space, hid_t dcpl, hid_t dapl, hid_t /*dxpl*/,
                                void** /*req*/) {
  require_writable(vol::TerminalObject::from(self));
  const Place start = resolve(self, where);
  const std::string called = name == nullptr ? "without a name" : joined(start.path, name);
  require_contiguous(called, dcpl, space);
  require_plain(type, "dataset " + called);
  auto made = std::make_shared<Dataset>(file_of(vol::TerminalObject::from(self)).next_number());
  made->creation = Id<Kind::plist>(h5.Pcopy(dcpl));
  made->access = Id<Kind::plist>(h5.Pcopy(dapl));
  made->values = {Id<Kind::datatype>(h5.Tcopy(type)), Id<Kind::dataspace>(h5.Scopy(space)), {}};
  h5.Sselect_all(made->values.space.get());
  if (name == nullptr) return open(self, {made, ""});
  const Parent parent = parent_of(self, name, lcpl);
  parent.group->add(parent.name, made);
  return open(self, {made, joined(parent.path, parent.name)});
}

void* Connector::dataset_open(void* self, Loc where, const char* name, hid_t /*dapl*/,
                              hid_t /*dxpl*/, void** /*req*/) {
  const Place place = name == nullptr ? resolve(self, where) : find(self, name);
  if (place.node == nullptr || type_of(*place.node) != H5I_DATASET)
    throw Error("not a dataset: " + std::string(name == nullptr ? "" : name));
  return open(self, place);
}

herr_t Connector::dataset_read(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                               hid_t file_space[], hid_t /*dxpl*/, void* buf[], void** /*req*/) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto& open = vol::as<Open>(dset[i]);
    named(open, [&](Dataset& dataset) {
      read(open, dataset.values, mem_type[i], mem_space[i], file_space[i], buf[i],
           dataset.creation.get());
    });
  }
  return 0;
}

herr_t Connector::dataset_write(std::size_t count, void* dset[], hid_t mem_type[],
                                hid_t mem_space[], hid_t file_space[], hid_t /*dxpl*/,
                                const void* buf[], void** /*req*/) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto& open = vol::as<Open>(dset[i]);
    require_writable(open);
    named(open, [&](Dataset& dataset) {
      write(open, dataset.values, mem_type[i], mem_space[i], file_space[i], buf[i],
            dataset.creation.get());
    });
  }
  return 0;
}

herr_t Connector::dataset_get(void* self, H5VL_dataset_get_args_t* args, hid_t /*dxpl*/,
                              void** /*req*/) {
  const auto& open = vol::as<Open>(self);
  const Dataset& dataset = dataset_of(open);
  auto& out = args->args;
  switch (args->op_type) {
    case H5VL_DATASET_GET_DAPL:
      out.get_dapl.dapl_id = copied(dataset.access, h5.Pcopy);
      break;
    case H5VL_DATASET_GET_DCPL:
      out.get_dcpl.dcpl_id = copied(dataset.creation, h5.Pcopy);
      break;
    case H5VL_DATASET_GET_SPACE:
      out.get_space.space_id = copied(dataset.values.space, h5.Scopy);
      break;
    case H5VL_DATASET_GET_SPACE_STATUS:
      *out.get_space_status.status = dataset.values.bytes.empty() ? H5D_SPACE_STATUS_NOT_ALLOCATED
                                                                  : H5D_SPACE_STATUS_ALLOCATED;
      break;
    case H5VL_DATASET_GET_STORAGE_SIZE:
      *out.get_storage_size.storage_size = dataset.values.bytes.size();
      break;
    case H5VL_DATASET_GET_TYPE:
      out.get_type.type_id = copied(dataset.values.type, h5.Tcopy);
      break;
  }
  return 0;
}

herr_t Connector::dataset_specific(void* self, H5VL_dataset_specific_args_t* args, hid_t /*dxpl*/,
                                   void** /*req*/) {
  if (args->op_type != H5VL_DATASET_SET_EXTENT) return 0;  // nothing is held back
  const auto& open = vol::as<Open>(self);
  throw Error("dataset " + open.path + " of file " + file_of(open).name +
              " cannot be resized: headrace_memory holds contiguous datasets only");
}

}  // namespace memory
