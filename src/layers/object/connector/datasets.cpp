#include <chrono>

#include "layers/object/connector/containers.hpp"
#include "layers/object/connector/source_files.hpp"
#include "layers/object/container/encoded.hpp"
#include "layers/object/elements/fill.hpp"
#include "vol/chunks/layout.hpp"

namespace headrace::object {
namespace {

Open& dataset_at(void* object) {
  auto& open = vol::as<Open>(object);
  if (open.dataset == nullptr) throw Error(open.found.path + " is not a dataset");
  find_sources(open);
  return open;
}

// What went wrong with which dataset.
template <typename Transfer>
void named(const Open& open, const Transfer& transfer) {
  try {
    transfer(open.dataset->elements);
  } catch (const Error& error) {
    std::throw_with_nested(
        Error("dataset " + open.found.path + " of file " + file_of(open).path, error));
  }
}

std::uint64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

// The usual list is not kept.
void* with_access(void* object, hid_t dapl) {
  if (dapl != kDefaultPlist && dapl != h5.dataset_access_list())
    static_cast<Open&>(vol::TerminalObject::from(object)).access = Id<Kind::plist>(h5.Pcopy(dapl));
  return object;
}

// That of a virtual dataset follows its sources.
Id<Kind::dataspace> extent_now(const Open& open) {
  const objects::Header& header = open.found.object->header();
  if (open.dataset->sources == nullptr) return extent_of(header);
  objects::Header now;
  now.max_dims = header.max_dims;
  now.is_null = header.is_null;
  named(open, [&](Elements& /*elements*/) {
    now.dims = open.dataset->sources->follow_sources(open.opening()->writable());
  });
  return extent_of(now);
}

// For the program. A fill value that leads to strings is told by a native dataset that is made with
// it: programs free what such a list has where HDF5 has set it.
hid_t creation_list(const File& file, const Dataset& dataset) {
  const objects::Header& header = dataset.object->header();
  const Id<Kind::datatype> type = dataset.types.program();
  const Id<Kind::plist> list = told_list(
      type.get(), decoded_list(header.creation, h5.dataset_list.get()), extent_of(header).get());
  const Id<Kind::datatype> in_file = dataset.types.file();
  if (!keeps_fill(in_file.get(), list.get())) return copied(list, h5.Pcopy);
  // Of one with strings amid other members they would be freed twice.
  if (h5.Tget_class(type.get()) == H5T_COMPOUND) return copied(list, h5.Pcopy);
  restore_fill(header, type.get(), in_file.get(), list.get());
  const NativeDataset native(*file.native, type.get(), extent_of(header).get(), list.get());
  return copied(native.creation_list(), h5.Pcopy);
}

}  // namespace

void* Containers::dataset_create(void* self, Loc where, const char* name, hid_t lcpl, hid_t type,
                                 hid_t space, hid_t dcpl, hid_t dapl, hid_t /*dxpl*/,
                                 void** /*req*/) {
  require_writable(self);
  require_lists({lcpl, dcpl, dapl});
  const std::string path =
      name == nullptr ? "without a name" : objects::joined(found_in(self).path, name);
  const Id<Kind::plist> list = require_supported(type, dcpl, space, path);
  if (h5.Pget_layout(list.get()) == H5D_VIRTUAL) take_in_offsets(list.get());
  objects::Header header;
  header.kind = objects::Header::Kind::dataset;
  header.type = stored_type(self, type);
  const Id<Kind::datatype> in_file = file_of(self).file_type(type);
  StoredCreation creation = stored_creation(type, in_file.get(), list.get());
  header.creation = encoded_list(creation.list.get(), h5.dataset_list.get());
  header.data = std::move(creation.data);
  put_extent(space, header);
  if (const auto chunk = vol::chunk_shape(dcpl))
    header.chunk.assign(chunk->lengths.begin(), chunk->lengths.begin() + chunk->rank);
  hbool_t tracks = false;
  if (h5.Pget_obj_track_times(dcpl, &tracks) >= 0 && tracks)
    header.created = header.changed = seconds_now();
  const objects::Handle type_object = committed_of(file_of(self), header.type);
  void* const made = with_access(created(self, *where, name, lcpl, std::move(header)), dapl);
  if (type_object != nullptr) file_of(self).container.hold(type_object);
  return made;
}

void* Containers::dataset_open(void* self, Loc where, const char* name, hid_t dapl, hid_t /*dxpl*/,
                               void** /*req*/) {
  Found found = named_from(self, *where, name);
  if (type_of(*found.object) != H5I_DATASET) throw Error(found.path + " is not a dataset");
  return with_access(handed(self, std::move(found)), dapl);
}

herr_t Containers::dataset_read(std::size_t count, void* dset[], hid_t mem_type[],
                                hid_t mem_space[], hid_t file_space[], hid_t dxpl, void* buf[],
                                void** /*req*/) {
  for (std::size_t i = 0; i < count; ++i)
    named(dataset_at(dset[i]), [&](Elements& elements) {
      elements.read(mem_type[i], mem_space[i], file_space[i], dxpl, buf[i]);
    });
  return 0;
}

herr_t Containers::dataset_write(std::size_t count, void* dset[], hid_t mem_type[],
                                 hid_t mem_space[], hid_t file_space[], hid_t dxpl,
                                 const void* buf[], void** /*req*/) {
  for (std::size_t i = 0; i < count; ++i) {
    const Open& open = dataset_at(dset[i]);
    require_writable(&vol::TerminalObject::from(dset[i]));
    named(open, [&](Elements& elements) {
      elements.write(mem_type[i], mem_space[i], file_space[i], dxpl, buf[i]);
      file_of(open).note_pending(open.dataset);
    });
  }
  return 0;
}

herr_t Containers::dataset_get(void* self, H5VL_dataset_get_args_t* args, hid_t /*dxpl*/,
                               void** /*req*/) {
  const Open& open = dataset_at(self);
  const objects::Header& header = open.found.object->header();
  auto& out = args->args;
  switch (args->op_type) {
    case H5VL_DATASET_GET_DAPL:
      out.get_dapl.dapl_id =
          open.access ? copied(open.access, h5.Pcopy) : h5.Pcopy(h5.dataset_access_list());
      break;
    case H5VL_DATASET_GET_DCPL:
      out.get_dcpl.dcpl_id = creation_list(file_of(open), *open.dataset);
      break;
    case H5VL_DATASET_GET_SPACE:
      out.get_space.space_id = copied(extent_now(open), h5.Scopy);
      break;
    case H5VL_DATASET_GET_SPACE_STATUS:
      *out.get_space_status.status = open.dataset->elements.status();
      break;
    case H5VL_DATASET_GET_STORAGE_SIZE:
      *out.get_storage_size.storage_size = open.dataset->elements.storage_size();
      break;
    case H5VL_DATASET_GET_TYPE:
      out.get_type.type_id = told_type(self, header.type);
      break;
  }
  return 0;
}

herr_t Containers::dataset_specific(void* self, H5VL_dataset_specific_args_t* args, hid_t /*dxpl*/,
                                    void** /*req*/) {
  const Open& open = dataset_at(self);
  if (args->op_type == H5VL_DATASET_FLUSH) {
    FirstError failed;
    if (open.dataset->sources != nullptr) failed.of([&] { open.dataset->sources->flush(); });
    failed.of([&] { flush(self); });
    failed.rethrow();
  } else if (args->op_type == H5VL_DATASET_REFRESH) {
    refresh(self);
  } else {
    require_writable(self);
    const std::size_t rank = open.found.object->header().dims.size();
    const hsize_t* const size = args->args.set_extent.size;
    named(open, [&](Elements& elements) { elements.set_extent({size, size + rank}); });
    file_of(open).note_pending(open.dataset);
  }
  return 0;
}

herr_t Containers::dataset_optional(void* self, H5VL_optional_args_t* args, hid_t /*dxpl*/,
                                    void** /*req*/) {
  const Open& open = dataset_at(self);
  if (args->op_type == H5VL_NATIVE_DATASET_CHUNK_WRITE) require_writable(self);
  herr_t result = -1;
  named(open, [&](Elements& elements) { result = elements.optional(*args); });
  return result;
}

}  // namespace headrace::object
