#include <sys/stat.h>

#include <cstdlib>
#include <cstring>

#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/object/connector/containers.hpp"
#include "layers/object/connector/source_files.hpp"
#include "layers/object/container/encoded.hpp"

namespace headrace::object {
namespace {

objects::HeapId heap_id(const void* id) {
  objects::HeapId place;
  static_assert(sizeof place == 16);
  std::memcpy(&place, id, sizeof place);
  return place;
}

// H5F_CLOSE_STRONG: with the file all that the program has open of it is closed.
bool closes_all(const File& file) {
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  return h5.Pget_fclose_degree(file.access.get(), &degree) >= 0 && degree == H5F_CLOSE_STRONG;
}

void close_all(vol::TerminalObject& file) {
  const PrivateErrors own;
  for (const hid_t id :
       vol::open_ids(file, H5F_OBJ_LOCAL | H5F_OBJ_ALL | vol::kMapObjects, ~std::size_t{0}))
    if (h5.Iget_type(id) != H5I_FILE)
      while (h5.Idec_ref(id) > 0) continue;
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  }
}

void flush_all(File& file, bool mounted_too) {
  FirstError failed;
  failed.of([&] { flush_sources(file); });
  failed.of([&] { file.flush(); });
  if (mounted_too) failed.of([&] { file.mounts.flush(); });
  failed.rethrow();
}

}  // namespace

herr_t Containers::initialize(hid_t vipl) {
  register_map_operations();
  return Terminal::initialize(vipl);
}

herr_t Containers::introspect_get_conn_cls(void* self, H5VL_get_conn_lvl_t level,
                                           const H5VL_class_t** cls) {
  *cls = level == H5VL_GET_CONN_LVL_TERM && self != nullptr
             ? vol::TerminalObject::from(self).opening()->native()
             : &own_class();
  return 0;
}

objects::Header Containers::root_header(hid_t fcpl) {
  objects::Header root;
  root.creation = encoded_list(fcpl, h5.file_list.get());
  unsigned order = 0;
  root.in_order =
      h5.Pget_link_creation_order(fcpl, &order) >= 0 && (order & H5P_CRT_ORDER_TRACKED) != 0;
  return root;
}

std::shared_ptr<File> Containers::file_in(const std::shared_ptr<store::Store>& store,
                                          const std::string& container, const char* name,
                                          unsigned flags, hid_t fapl) {
  const bool writes = (flags & kReadWrite) != 0;
  if (auto file = open_file(*store, container); file != nullptr) {
    if (writes && !file->is_writable)
      throw Error(std::string("file is already open for read-only: ") + name);
    return file;
  }
  const auto kept = writes ? kept_name(*store, container, name, store::Keeping::shared) : nullptr;
  auto file = std::make_shared<File>(store, container, name, kConnectorName);
  file->is_writable = writes;
  file->kept = kept;
  file->creation = shared_list(file->container.root()->header().creation, h5.file_list.get());
  file->access = Id<Kind::plist>(h5.Pcopy(fapl));
  file->prepare();
  note_open(*store, container, file);
  return file;
}

// As HDF5 has it, all openings of a file in a process may what the first one may.
void* Containers::opened(const std::shared_ptr<File>& file, unsigned flags) {
  if (file->is_writable) flags |= kReadWrite;
  return opened(std::make_shared<vol::FileHandle>(file, flags));
}

void* Containers::opened(std::shared_ptr<vol::FileHandle> opening) {
  Found root{static_cast<File&>(*opening->file).container.root(), "/"};
  return vol::handed(std::make_unique<Open>(H5I_FILE, std::move(opening), std::move(root)));
}

herr_t Containers::file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req) {
  const File& file = file_of(self);
  auto& out = args->args;
  switch (args->op_type) {
    case H5VL_FILE_GET_CONT_INFO:
      file.faces()->update_extents();  // HDF5 is about to look into a region reference
      out.get_cont_info.info->token_size = sizeof(objects::ObjectId);
      out.get_cont_info.info->blob_id_size = sizeof(objects::HeapId);
      return 0;
    case H5VL_FILE_GET_FAPL:
      out.get_fapl.fapl_id = copied(file.access, h5.Pcopy);
      return 0;
    case H5VL_FILE_GET_FCPL:
      out.get_fcpl.fcpl_id = copied(file.creation, h5.Pcopy);
      return 0;
    case H5VL_FILE_GET_FILENO:
      *out.get_fileno.fileno = file.fileno;
      return 0;
    case H5VL_FILE_GET_NAME:
      return_name(file.path, out.get_name.buf, out.get_name.buf_size, out.get_name.file_name_len);
      return 0;
    default:
      return Terminal::file_get(self, args, dxpl, req);
  }
}

herr_t Containers::file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl,
                                 void** req) {
  const vol::TerminalObject& object = vol::TerminalObject::from(self);
  switch (args->op_type) {
    case H5VL_FILE_FLUSH:
      flush_all(file_of(object), args->args.flush.scope == H5F_SCOPE_GLOBAL);
      return 0;
    case H5VL_FILE_REOPEN:
      *args->args.reopen.file = opened(object.opening());
      return 0;
    default:
      return Terminal::file_specific(self, args, dxpl, req);
  }
}

herr_t Containers::file_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
  auto* const native = static_cast<H5VL_native_file_optional_args_t*>(args->args);
  File& file = file_of(self);
  switch (args->op_type) {
    case H5VL_NATIVE_FILE_START_SWMR_WRITE:  // readers see what was flushed, always
      require_writable(self);
      vol::TerminalObject::from(self).opening()->start_swmr_write();
      return 0;
    case H5VL_NATIVE_FILE_GET_VFD_HANDLE:  // of the stub
      if (file.stub == nullptr) break;
      file.descriptor = file.stub->get();
      *native->get_vfd_handle.file_handle = &file.descriptor;
      return 0;
    case H5VL_NATIVE_FILE_GET_SIZE:
      if (file.stub == nullptr) break;
      *native->get_size.size = static_cast<hsize_t>(file.stub->status().st_size);
      return 0;
    case H5VL_NATIVE_FILE_CLEAR_ELINK_CACHE:  // there is none
    case H5VL_NATIVE_FILE_SET_LIBVER_BOUNDS:  // and one format
    case H5VL_NATIVE_FILE_FORMAT_CONVERT:
      return 0;
    default:
      break;
  }
  return Terminal::file_optional(self, args, dxpl, req);
}

// What the program still has open of the file is flushed when the library ends at the latest.
herr_t Containers::file_close(void* self, hid_t /*dxpl*/, void** /*req*/) {
  File& file = file_of(self);
  vol::TerminalObject& object = vol::TerminalObject::from(self);
  if (closes_all(file)) close_all(object);
  const bool writes = object.opening()->writable();
  FirstError failed;
  if (writes) failed.of([&] { file.flush(); });
  // Nothing else is open through it.
  if (object.opening().use_count() == 1)
    failed.of([&] { file.mounts.unmount_all(object.opening()); });
  // Programs look at its time for whether a file has changed. Who may not set it has not made it.
  if (writes && std::exchange(file.has_changed, false) && file.stub != nullptr)
    static_cast<void>(::futimens(file.stub->get(), nullptr));
  if (failed.get() == nullptr) return 0;
  file.defer(failed.get());
  // At the end of the program nobody is told.
  if (file.file_object(&object) == nullptr)
    log(Level::error, file.path + " is not all written: " + text_of(failed.get()));
  return 0;
}

herr_t Containers::blob_put(void* self, const void* data, std::size_t size, void* id,
                            void* /*context*/) {
  const objects::HeapId place =
      file_of(self).heaps.put({static_cast<const std::byte*>(data), size});
  std::memcpy(id, &place, sizeof place);
  return 0;
}

herr_t Containers::blob_get(void* self, const void* id, void* data, std::size_t size,
                            void* /*context*/) {
  file_of(self).heaps.get(heap_id(id), {static_cast<std::byte*>(data), size});
  return 0;
}

// What an element had before it was overwritten stays where it is, with other data.
herr_t Containers::blob_specific(void* /*self*/, void* id, H5VL_blob_specific_args_t* args) {
  if (args->op_type == H5VL_BLOB_ISNULL)
    *args->args.is_null.isnull = heap_id(id).heap == 0;
  else if (args->op_type == H5VL_BLOB_SETNULL)
    std::memset(id, 0, sizeof(objects::HeapId));
  return 0;
}

herr_t Containers::token_to_str(void* /*self*/, H5I_type_t /*type*/, const H5O_token_t* token,
                                char** text) {
  objects::ObjectId id = 0;
  std::memcpy(&id, token, sizeof id);
  *text = ::strdup(std::to_string(id).c_str());
  return 0;
}

herr_t Containers::token_from_str(void* /*self*/, H5I_type_t /*type*/, const char* text,
                                  H5O_token_t* token) {
  *token = token_of(std::strtoull(text, nullptr, 10));
  return 0;
}

herr_t Containers::token_cmp(void* /*self*/, const H5O_token_t* one, const H5O_token_t* other,
                             int* result) {
  *result = std::memcmp(one, other, sizeof *one);
  return 0;
}

}  // namespace headrace::object
