#include <filesystem>

#include "base/unique_id.hpp"
#include "hdf5/report/events.hpp"
#include "hdf5/report/summary.hpp"
#include "layers/object/connector/object.hpp"
#include "sidecar/container_stub.hpp"
#include "vol/file/placed_driver.hpp"

namespace headrace::object {
namespace {

constexpr unsigned kTruncate = 2;  // H5F_ACC_TRUNC

ObjectOptions options_of(hid_t fapl) {
  return ObjectOptions(vol::info_of(fapl, Connector::layer())->options);
}

// Files in memory, in several parts, by drivers of the program's, and those with room in front that
// is the program's.
bool is_natively_only(hid_t fapl, hid_t fcpl) {
  const hid_t driver = h5.Pget_driver(fapl);
  hsize_t user_block = 0;
  return (driver != h5.sec2_driver() && vol::placed_driver(driver) == nullptr) ||
         (h5.Pget_userblock(fcpl, &user_block) >= 0 && user_block > 0);
}

std::shared_ptr<File> open_container(const std::string& container, const char* name, unsigned flags,
                                     hid_t fapl) {
  // Each opening for writing asks whether the program may.
  std::shared_ptr<const Descriptor> stub =
      sidecar::hold_container_stub(name, (flags & kReadWrite) != 0);
  const ObjectOptions options = options_of(fapl);
  const std::shared_ptr<store::Store> store = store_in(options.store, options.syncs);
  std::shared_ptr<File> file = Containers::file_in(store, container, name, flags, fapl);
  if (file->stub == nullptr) file->stub = std::move(stub);
  return file;
}

// A file that is reported as every connector reports its files.
template <typename Open>
void* reported(const char* call, const char* name, const Open& open) {
  try {
    const NestedCalls nested;
    void* const file = open();
    report_file(Seat::vol, Connector::kName, call, name, /*ok=*/true);
    count_file();
    return file;
  } catch (...) {
    report_file(Seat::vol, Connector::kName, call, name, /*ok=*/false);
    throw;
  }
}

std::string absolute_path(const char* name) {
  return std::filesystem::absolute(name).lexically_normal();
}

// Of a file that is to be replaced; a damaged one, too.
std::optional<sidecar::ContainerStub> old_stub(const char* name) try {
  return sidecar::read_container_stub(name);
} catch (const Error&) {
  return std::nullopt;
}

void* create_container(const char* name, unsigned flags, hid_t fcpl, hid_t fapl) {
  const ObjectOptions options = options_of(fapl);
  const auto store = store_in(options.store, options.syncs);
  const auto old = old_stub(name);
  if (old && (flags & kTruncate) != 0 && open_file(*store, old->container) != nullptr)
    throw Error(std::string("unable to truncate a file which is already open: ") + name);
  const bool replaces = old && old->is_original && (flags & kTruncate) != 0;
  const auto alone =
      replaces ? kept_name(*store, old->container, name, store::Keeping::alone) : nullptr;
  const std::string id = new_unique_id();
  objects::Container::make(*store, id, Containers::root_header(fcpl), absolute_path(name));
  try {
    sidecar::write_container_stub(
        name, {id, folder_of_store(options.store), {}},
        (flags & kTruncate) != 0 ? sidecar::Existing::replaced : sidecar::Existing::kept);
  } catch (...) {
    objects::Container::remove(*store, id);
    throw;
  }
  const std::shared_ptr<File> file = open_container(id, name, kReadWrite, fapl);
  // Of a copied stub the container is another file's, too.
  if (old && old->is_original) objects::Container::remove(*store, old->container);
  return Containers::opened(file, flags);
}

}  // namespace

void* Connector::file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                             void** req) {
  if (is_natively_only(fapl, fcpl)) return Mixed::file_create(name, flags, fcpl, fapl, dxpl, req);
  return reported("file_create", name, [&] { return create_container(name, flags, fcpl, fapl); });
}

void* Connector::file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
  const auto stub = sidecar::read_container_stub(name);
  if (!stub) return last_opened = Mixed::file_open(name, flags, fapl, dxpl, req);
  return last_opened = reported("file_open", name, [&] {
           const ObjectOptions options = options_of(fapl);
           if (options.store.empty())
             throw Error(std::string(name) + " is the stub of a container in the store " +
                         stub->store +
                         ", and the layer object has no store: object(store=" + stub->store + ")");
           if ((flags & kReadWrite) != 0) sidecar::require_only_name(*stub, name);
           const auto file = open_container(stub->container, name, flags, fapl);
           // It may have been moved.
           if ((flags & kReadWrite) != 0)
             objects::Container::note_stub(*store_in(options.store, options.syncs), stub->container,
                                           absolute_path(name));
           return Containers::opened(file, flags);
         });
}

herr_t Connector::file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl,
                                void** req) {
  auto& in = args->args;
  if (args->op_type == H5VL_FILE_IS_ACCESSIBLE &&
      sidecar::read_container_stub(in.is_accessible.filename)) {
    *in.is_accessible.accessible =
        !vol::is_search(*args) || !options_of(in.is_accessible.fapl_id).store.empty();
    return 0;
  }
  if (args->op_type == H5VL_FILE_DELETE) {
    if (const auto stub = sidecar::read_container_stub(in.del.filename)) {
      const NestedCalls nested;
      const ObjectOptions options = options_of(in.del.fapl_id);
      const auto store = stub->is_original ? store_in(options.store, options.syncs) : nullptr;
      const auto alone = store == nullptr ? nullptr
                                          : kept_name(*store, stub->container, in.del.filename,
                                                      store::Keeping::alone);
      sidecar::remove_container_stub(in.del.filename);
      if (store != nullptr) objects::Container::remove(*store, stub->container);
      return 0;
    }
  }
  return Mixed::file_specific(self, args, dxpl, req);
}

}  // namespace headrace::object
