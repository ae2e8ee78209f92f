#include "hdf5/report/summary.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "base/report/json.hpp"
#include "base/report/log.hpp"
#include "hdf5/files_opened.hpp"
#include "hdf5/lifecycle.hpp"

namespace headrace {
namespace {

struct Summary {
  std::map<std::string_view, Share> layers;
  std::uint64_t through = 0;  // files
  std::uint64_t opened = 0;   // ids of files that the library has made
  bool watched = false;
  std::string library;  // `library` itself is gone when HDF5 ends with the process
  std::string version;
};

// Leaked: HDF5 ends its connectors after C++ statics are destroyed.
Summary& summary() {
  static auto* const instance = new Summary;
  return *instance;
}

// HDF5 is asked for the files that it has opened while it still knows.
constexpr EndAction kAskAtEnd{[] { return summary().watched; },
                              [] {
                                summary().opened = files_opened();
                                summary().watched = false;  // HDF5 may begin anew
                              }};

std::string told(const std::map<std::string_view, Share>& layers) {
  JsonObject object;
  for (const auto& [name, share] : layers) {
    JsonObject left;
    for (const auto& [why, count] : share.left) left.number(why, static_cast<long long>(count));
    object.raw(name, JsonObject()
                         .number("taken", static_cast<long long>(share.taken))
                         .raw("left", left.str())
                         .str());
  }
  return object.str();
}

}  // namespace

Share& share_of(std::string_view layer) { return summary().layers[layer]; }

void count_file() { ++summary().through; }

void watch_library() {
  if (!summary_wanted() || std::exchange(summary().watched, true)) return;
  summary().library = library.path;
  summary().version = library.version;
  before_library_ends(kAskAtEnd);
}

void write_summary() {
  const Summary done = summary();
  summary() = {{}, 0, 0, done.watched, done.library, done.version};
  if (!summary_wanted() || (done.layers.empty() && done.through == 0 && done.opened == 0)) return;
  summarise(JsonObject()
                .text("event", "summary")
                .number("pid", ::getpid())
                .text("hdf5", done.library)
                .text("version", done.version)
                .number("opened", static_cast<long long>(done.opened))
                .number("through", static_cast<long long>(done.through))
                .raw("layers", told(done.layers))
                .str());
}

}  // namespace headrace
