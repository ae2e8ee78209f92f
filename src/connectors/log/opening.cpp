#include "connectors/log/opening.hpp"

#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "connectors/log/file.hpp"
#include "connectors/log/settings.hpp"
#include "connectors/log/sidecar.hpp"
#include "connectors/log/state.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::log_layout {
namespace {

unsigned long features_of(hid_t fapl) {
  unsigned long features = 0;
  h5.FDdriver_query(h5.Pget_driver(fapl), &features);
  return features;
}

}  // namespace

FormerLogs::FormerLogs(const char* name, unsigned flags, hid_t fapl) noexcept {
  constexpr unsigned kTruncate = 2;  // H5F_ACC_TRUNC, a macro that calls the library
  const Aside aside;
  try {
    name_ = path_of(name);
    if ((flags & kTruncate) == 0 || !has_folder(name_)) return;
    size_ = std::filesystem::file_size(name_);
    owner_ = marker_on_storage(name_.c_str(), fapl);
  } catch (const std::exception& error) {  // one that is no HDF5 file
    headrace::log(Level::debug, error.what());
  }
}

// A file in memory, say, leaves the other one alone.
void FormerLogs::remove() const noexcept {
  if (!owner_) return;
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(name_, failure);
  if (!failure && size < size_) remove_logs(name_, *owner_);
}

bool parallel(hid_t fapl) { return (features_of(fapl) & H5FD_FEAT_HAS_MPI) != 0; }

bool asks_together(hid_t fapl) {
  int reads = 0;  // H5P_USER_FALSE
  return parallel(fapl) && (h5.Pget(fapl, "collective_metadata_read", &reads) < 0 || reads > 0);
}

bool ordinary(hid_t fapl) { return (features_of(fapl) & H5FD_FEAT_DEFAULT_VFD_COMPATIBLE) != 0; }

std::string path_of(const char* name) {
  std::error_code failure;
  auto path = std::filesystem::canonical(name, failure);
  if (failure) path = std::filesystem::absolute(name, failure);
  return path;
}

bool only_one_open(const Below& file) {
  std::size_t open = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_OBJ_COUNT, {}};
  args.args.get_obj_count = {H5F_OBJ_ALL, &open};
  return h5.VLfile_get(file.file, file.connector, &args, h5.transfer_list.get(), nullptr) >= 0 &&
         open <= 1;
}

std::optional<unsigned long> number_of(const Below& file) {
  unsigned long number = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_FILENO, {}};
  args.args.get_fileno.fileno = &number;
  if (h5.VLfile_get(file.file, file.connector, &args, h5.transfer_list.get(), nullptr) < 0)
    return std::nullopt;
  return number;
}

std::optional<engine::log::Owner> File::opened(const vol::Object& file, const Opening& opening,
                                               bool by_ranks, const Options& options) {
  const Aside aside;
  const bool writes = opening.writes();
  const bool swmr = (opening.flags & kSwmr) != 0;
  const bool together = parallel(opening.fapl);
  const Place place{{file.under, file.connector->id()},
                    path_of(opening.name),
                    is_on(kSettings, "sync", options),
                    number_of(kSettings, "budget", options)};
  const auto marker =
      opening.created ? std::nullopt : read_marker(place.below, opening.name, opening.fapl);
  if (swmr || together)
    file.connector->state =
        std::make_shared<FileState>(FileState{nullptr, nullptr, swmr ? Left::swmr : Left::mpi});
  if (writes && by_ranks) return marker;
  std::unique_ptr<Stored> stored;
  if (marker) stored = std::make_unique<Stored>(place, *marker, options);
  if (stored != nullptr && (swmr || (together && writes)))
    throw Error("file " + place.path +
                " has a log, which must be replayed first (headrace replay)");
  if (stored != nullptr && writes) {
    stored->replay(file.connector, is_on(kSettings, "verify", options));
    stored.reset();
  }
  if (swmr || (together && stored == nullptr)) return std::nullopt;
  const std::string when = value_of(kSettings, "canonicalise", options);
  const bool later = when != "close" && ordinary(opening.fapl);
  auto state = std::make_shared<File>(*file.connector, place, later && writes);
  const auto number = number_of(place.below);
  if (!number) throw Error("HDF5 does not tell the number of file " + place.path);
  state->number_ = *number;
  state->asks_together_ = log_layout::asks_together(opening.fapl);
  if (when == "background") state->background_ = library.path;
  if (!writes) state->stop();
  state->stored_ = std::move(stored);
  file.connector->state = std::make_shared<FileState>(FileState{std::move(state), nullptr});
  return std::nullopt;
}

}  // namespace headrace::log_layout
