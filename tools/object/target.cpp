#include "target.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "objects/check/containers.hpp"
#ifdef HEADRACE_WITH_LMDB
#include "store/lmdb/lmdb_store.hpp"
#endif

namespace headrace::object_tool {
namespace {

namespace fs = std::filesystem;

// Of one that is there: none is made. What a command changes survives a power cut: programs may
// have asked for that of all that they have written, and the store does not know it.
std::shared_ptr<store::Store> store_in(const std::string& folder) {
  std::error_code cause;
  if (!fs::is_regular_file(folder + "/format", cause))
    throw Error(folder + " is no store", ErrorKind::not_found);
#ifdef HEADRACE_WITH_LMDB
  return std::make_shared<store::LmdbStore>(folder, store::Durability::power);
#else
  throw Error("Headrace was built without LMDB, so there are no stores", ErrorKind::unsupported);
#endif
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code cause;
  return fs::equivalent(one, other, cause);
}

}  // namespace

Target target_of(const std::string& path, const Options& options) {
  std::error_code cause;
  const std::string absolute = fs::absolute(path).lexically_normal();
  if (fs::is_directory(path, cause)) return {absolute, absolute, store_in(absolute), true, {}};
  if (!fs::exists(path, cause)) throw Error(path + ": there is no such file", ErrorKind::not_found);
  auto stub = sidecar::read_container_stub(path);
  if (!stub) throw Error(path + " is neither a store nor the stub of a container");
  const std::string folder =
      options.store.empty() ? stub->store : fs::absolute(options.store).lexically_normal().string();
  return {absolute, folder, store_in(folder), false, std::move(*stub)};
}

Target file_of(const std::string& path, const Options& options) {
  Target target = target_of(path, options);
  if (target.is_store) throw Error(path + " is a store, and no file");
  if (!objects::is_container(*target.store, target.container()))
    throw Error("the container " + target.container() + " of " + path + " is not in the store " +
                    target.folder,
                ErrorKind::not_found);
  return target;
}

std::optional<sidecar::ContainerStub> stub_of_record(store::Store& store,
                                                     const std::string& container) try {
  const std::string path = objects::noted_stub(store, container);
  if (path.empty()) return std::nullopt;
  auto stub = sidecar::read_container_stub(path);
  if (!stub || stub->container != container) return std::nullopt;
  return stub;
} catch (const Error& error) {
  if (error.kind() != ErrorKind::corrupt) throw;
  return std::nullopt;  // a damaged stub leads nowhere
}

Alone alone_with(store::Store& store, const std::string& container, const std::string& path) {
  Alone alone;
  if (!path.empty()) alone.emplace_back(sidecar::take_container_stub(path));
  if (stub_of_record(store, container)) {
    const std::string noted = objects::noted_stub(store, container);
    if (!is_same_file(path, noted)) alone.emplace_back(sidecar::take_container_stub(noted));
  }
  alone.push_back(kept_alone(store, container));
  return alone;
}

std::shared_ptr<const void> kept_alone(store::Store& store, const std::string& container) {
  auto kept = store.keep(container, store::Keeping::alone);
  if (kept == nullptr)
    throw Error("container " + container +
                    " is open to be written, by another stub than those that are known",
                ErrorKind::conflict);
  return kept;
}

void require_the_one(Target& target) {
  if (target.stub.is_original) return;
  const std::string noted = objects::noted_stub(*target.store, target.container());
  if (is_same_file(noted, target.path)) return;
  throw Error(target.path + " is a copy of the stub " + target.stub.made +
              ", under which a program may have the container open: name that one, or open the "
              "copy for writing once if that is gone");
}

}  // namespace headrace::object_tool
