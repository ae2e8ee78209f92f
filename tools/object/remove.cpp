// What makes and removes names of containers.
#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "base/unique_id.hpp"
#include "objects/check/containers.hpp"
#include "objects/container.hpp"
#include "target.hpp"

namespace headrace::object_tool {
namespace {

void tell_removed(const std::string& container, const std::string& stub, bool is_erased) {
  std::cout << JsonObject()
                   .text("container", container)
                   .text("stub", stub)
                   .boolean("erased", is_erased)
                   .str()
            << '\n';
}

void require_id(const std::string& id) {
  if (!is_unique_id(id)) throw Error("no id of a container: " + id);
}

void remove_by_id(const Target& store, const std::string& id) {
  require_id(id);
  if (stub_of_record(*store.store, id)) {
    const std::string stub = objects::noted_stub(*store.store, id);
    throw Error("container " + id + " is the file " + stub + ": remove that");
  }
  const bool is_there = objects::is_container(*store.store, id);
  if (!is_there) {
    const objects::Room room = objects::room_of(*store.store, id);
    if (room.chunks + room.heaps == 0 && store.store->tables(id + "/", "", 1).empty())
      throw Error("there is no container " + id + " in " + store.folder, ErrorKind::not_found);
  }
  const auto kept = kept_alone(*store.store, id);
  objects::Container::remove(*store.store, id);
  tell_removed(id, "", true);
}

}  // namespace

// The container of the first stub must be there: else it may be in another store.
int remove(const std::string& path, const Options& options) {
  const Target target = target_of(path, options);
  if (target.is_store) {
    if (options.id.empty())
      throw Error(path + " is a store: which container of it? Name it by --id");
    remove_by_id(target, options.id);
    return 0;
  }
  if (!options.id.empty())
    throw Error("--id is for containers of a store, and " + path + " is a file");
  // Its target would stay as a stub without a container.
  if (std::filesystem::is_symlink(path))
    throw Error(path + " is a symbolic link: name the file that it leads to");
  if (target.stub.is_original) static_cast<void>(file_of(path, options));
  const auto kept =
      target.stub.is_original ? kept_alone(*target.store, target.container()) : nullptr;
  sidecar::remove_container_stub(path);
  if (target.stub.is_original) objects::Container::remove(*target.store, target.container());
  tell_removed(target.container(), path, target.stub.is_original);
  return 0;
}

int link(const std::string& store, const std::string& container, const std::string& path) {
  const Target target = target_of(store, {});
  if (!target.is_store) throw Error(store + " is a file, and no store");
  require_id(container);
  if (!objects::is_container(*target.store, container))
    throw Error("there is no container " + container + " in " + target.folder,
                ErrorKind::not_found);
  if (stub_of_record(*target.store, container))
    throw Error("container " + container + " is the file " +
                objects::noted_stub(*target.store, container) +
                ": it would have two names, and programs that write by both would not see each "
                "other. mv moves it, headrace object cp copies what is in it");
  sidecar::write_container_stub(path, {container, target.folder, {}}, sidecar::Existing::kept);
  objects::Container::note_stub(*target.store, container,
                                std::filesystem::absolute(path).lexically_normal());
  std::cout << JsonObject().text("container", container).text("stub", path).str() << '\n';
  return 0;
}

}  // namespace headrace::object_tool
