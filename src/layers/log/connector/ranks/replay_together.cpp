#include "layers/log/connector/ranks/replay_together.hpp"

#include <memory>

#include "base/error.hpp"
#include "comm/agreement.hpp"
#include "hdf5/library_context.hpp"
#include "layers/log/connector/replaying/replay_target.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {

// One call that HDF5 has ranks wait in for each agreement: a rank that fails waits in no other.
void retire_marker_together(const OpenFile& place, const engine::log::Owner& owner,
                            Communicator& ranks) {
  const auto sync = [&] {
    if (place.sync) do_together(ranks, [&] { sidecar::sync_file(place.path); });
  };
  sync();
  // A program may have removed it, or put something else in its place.
  const bool has = marks(place.below, owner);
  if (ranks.reduce(has ? 1 : 0, Reduction::max) == 0) return;
  do_together(ranks, [&] {
    if (!has) throw Error("file " + place.path + " does not tell a rank which log it has");
  });
  do_together(ranks, [&] { remove_marker(place.below); });
  do_together(ranks, [&] { flush(place.below); });
  sync();
}

void replay_together(const vol::Object& file, const std::string& path, Communicator& ranks,
                     const LogOptions& options, const std::optional<engine::log::Owner>& marker,
                     bool together) {
  if (ranks.reduce(marker ? 1 : 0, Reduction::max) == 0) return;
  const Id<Kind::plist> list = collective_list();
  const LibraryContext apart;
  const vol::UnderRef connector = file.connector;
  const OpenFile place{{file.under, connector->id()}, path, options.sync, 0, {}};
  const auto owner = marker.value_or(engine::log::Owner{});
  std::unique_ptr<EarlierLogs> stored;
  do_together(ranks, [&] {
    if (!marker) throw Error("file " + path + " has another marker than other ranks find");
    stored = std::make_unique<EarlierLogs>(place, owner, options, ranks.rank(), ranks.size());
  });
  write_together(place, connector, ranks, stored->parts(), list.get(),
                 [](const vol::Identity&) { return false; });
  do_together(ranks, [&] { flush(place.below); });
  do_together(ranks, [&] {
    if (!options.verify) return;
    if (together)
      stored->verify(connector);
    else
      stored->verify(connector, ranks.rank(), ranks.size());
  });
  retire_marker_together(place, owner, ranks);
  do_together(ranks, [&] {
    if (ranks.rank() == 0) stored->remove();
  });
}

}  // namespace headrace::log_layout
