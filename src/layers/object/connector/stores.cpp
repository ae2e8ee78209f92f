#include "layers/object/connector/stores.hpp"

#include <filesystem>
#include <map>

#include "base/error.hpp"
#ifdef HEADRACE_WITH_LMDB
#include "store/lmdb/lmdb_store.hpp"
#endif

namespace headrace::object {
namespace {

std::shared_ptr<store::Store> new_store([[maybe_unused]] const std::string& folder,
                                        [[maybe_unused]] bool syncs) {
#ifdef HEADRACE_WITH_LMDB
  return std::make_shared<store::LmdbStore>(
      folder, syncs ? store::Durability::power : store::Durability::process);
#else
  throw Error("Headrace was built without LMDB, so the layer object has no store",
              ErrorKind::unsupported);
#endif
}

std::filesystem::path& start_folder() {
  static auto& folder = *new std::filesystem::path();
  return folder;
}

}  // namespace

void note_start_folder() {
  std::error_code gone;  // relative folders are an error later
  start_folder() = std::filesystem::current_path(gone);
}

std::string folder_of_store(const std::string& folder) {
  if (folder.empty())
    throw Error("the layer object needs the folder of a store: object(store=/path)");
  const std::filesystem::path path = start_folder() / folder;
  if (!path.is_absolute()) throw Error("the folder of the store " + folder + " is nowhere");
  return path.lexically_normal();
}

std::shared_ptr<store::Store> store_in(const std::string& folder, bool syncs) {
  using Stores = std::map<std::pair<std::string, bool>, std::shared_ptr<store::Store>>;
  // They stay open, as an LMDB database is opened slowly.
  static auto& stores = *new Stores();
  const std::string path = folder_of_store(folder);
  std::shared_ptr<store::Store>& found = stores[{path, syncs}];
  if (found == nullptr) found = new_store(path, syncs);
  return found;
}

}  // namespace headrace::object
