#include <memory>
#include <optional>

#include "base/error.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/opening/marker.hpp"
#include "layers/log/connector/replaying/earlier_logs.hpp"
#include "layers/log/connector/serial/serial_file.hpp"
#include "layers/log/connector/state.hpp"

namespace headrace::log_layout {

std::optional<engine::log::Owner> SerialFile::opened(const vol::Object& file,
                                                     const Opening& opening,
                                                     const std::string& path, bool by_ranks,
                                                     const LogOptions& options) {
  const PrivateErrors own;
  const bool writes = opening.writes();
  const bool swmr = (opening.flags & vol::kSwmr) != 0;
  const bool together = vol::is_parallel(opening.fapl);
  const OpenFile place{{file.under, file.connector->id()},
                       path,
                       options.sync,
                       options.budget,
                       options.path,
                       options.bandwidth};
  const auto marker =
      opening.created ? std::nullopt : read_marker(place.below, opening.name, opening.fapl);
  if (swmr || together)
    file.connector->state =
        std::make_shared<FileState>(FileState{nullptr, swmr ? Left::swmr : Left::mpi});
  if (writes && by_ranks) return marker;
  std::unique_ptr<EarlierLogs> stored;
  if (marker) stored = std::make_unique<EarlierLogs>(place, *marker, options);
  if (stored != nullptr && (swmr || (together && writes)))
    throw Error("file " + place.path +
                " has a log, which must be replayed first (headrace replay)");
  if (stored != nullptr && writes) {
    stored->replay(file.connector, options.verify);
    stored.reset();
  }
  if (swmr || (together && stored == nullptr)) return std::nullopt;
  const bool later = writes && options.canonicalise != Canonicalise::close &&
                     vol::makes_ordinary_files(opening.fapl);
  auto state = std::make_shared<SerialFile>(*file.connector, place,
                                            later ? options.canonicalise : Canonicalise::close);
  const auto number = file.state.find<OpenedByProgram>()->number;
  if (!number) throw Error("HDF5 does not tell the number of file " + place.path);
  state->number_ = *number;
  state->asks_together_ = vol::reads_metadata_together(opening.fapl);
  if (!writes) state->stop();
  state->stored_ = std::move(stored);
  file.connector->state = std::make_shared<FileState>(FileState{std::move(state)});
  return std::nullopt;
}

}  // namespace headrace::log_layout
