// What a command is for: a store, or a container of one by its stub.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/report/json.hpp"
#include "sidecar/container_stub.hpp"
#include "store/store.hpp"

namespace headrace::object_tool {

struct Options {
  std::string store;  // instead of the one that a stub names
  std::string id;     // a container's
  bool all_data = false;
  bool is_dry = false;
};

struct Target {
  std::string path;  // of the store's folder or the stub
  std::string folder;
  std::shared_ptr<store::Store> store;
  bool is_store = false;
  sidecar::ContainerStub stub;  // of a container

  [[nodiscard]] const std::string& container() const { return stub.container; }
};

// Throws Error where it is neither, or there is no such store.
Target target_of(const std::string& path, const Options& options);
// The same, of a stub whose container is there; Error where it is a store.
Target file_of(const std::string& path, const Options& options);

// The stub of a container where it was opened for writing last; none where that is gone.
std::optional<sidecar::ContainerStub> stub_of_record(store::Store& store,
                                                     const std::string& container);

// Keeps programs from a container as long as it lives.
using Alone = std::vector<std::shared_ptr<const void>>;
// Throws Error where a program has the container open by the stub `path`, which may be empty, or by
// the stub of record; or where a program may write it, by whatever copy of a stub.
Alone alone_with(store::Store& store, const std::string& container, const std::string& path);
// Only the latter.
std::shared_ptr<const void> kept_alone(store::Store& store, const std::string& container);
// Throws Error for a copy of a stub: who writes may have the first one open.
void require_the_one(Target& target);

inline std::string numbers(const std::vector<std::uint64_t>& all) {
  std::string text;
  for (const std::uint64_t one : all) {
    if (!text.empty()) text += ',';
    append_number(text, one);
  }
  return '[' + text + ']';
}

// The commands: each writes JSON, an object a line. Their status.
int list(const std::string& path, const Options& options);
int stat(const std::string& path, const std::string& object, const Options& options);
int fsck(const std::string& path, const Options& options);
int gc(const std::string& path, const Options& options);
int remove(const std::string& path, const Options& options);
int link(const std::string& store, const std::string& container, const std::string& path);

}  // namespace headrace::object_tool
