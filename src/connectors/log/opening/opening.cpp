#include "connectors/log/opening/opening.hpp"

#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "connectors/log/file/file.hpp"
#include "connectors/log/settings.hpp"
#include "connectors/log/state.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/folder.hpp"

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
    name_ = sidecar::path_of(name);
    if ((flags & kTruncate) == 0 || !sidecar::has_folder(name_)) return;
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
  if (!failure && size < size_) sidecar::remove_logs(name_, *owner_);
}

bool parallel(hid_t fapl) { return (features_of(fapl) & H5FD_FEAT_HAS_MPI) != 0; }

bool asks_together(hid_t fapl) {
  int reads = 0;  // H5P_USER_FALSE
  return parallel(fapl) && (h5.Pget(fapl, "collective_metadata_read", &reads) < 0 || reads > 0);
}

bool ordinary(hid_t fapl) { return (features_of(fapl) & H5FD_FEAT_DEFAULT_VFD_COMPATIBLE) != 0; }

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
                                               bool by_ranks, const LogOptions& options) {
  const Aside aside;
  const bool writes = opening.writes();
  const bool swmr = (opening.flags & kSwmr) != 0;
  const bool together = parallel(opening.fapl);
  const OpenFile place{{file.under, file.connector->id()},
                       sidecar::path_of(opening.name),
                       options.sync,
                       options.budget};
  const auto marker =
      opening.created ? std::nullopt : read_marker(place.below, opening.name, opening.fapl);
  if (swmr || together)
    file.connector->state =
        std::make_shared<FileState>(FileState{nullptr, nullptr, swmr ? Left::swmr : Left::mpi});
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
  const bool later = options.canonicalise != Canonicalise::close && ordinary(opening.fapl);
  auto state = std::make_shared<File>(*file.connector, place, later && writes);
  const auto number = number_of(place.below);
  if (!number) throw Error("HDF5 does not tell the number of file " + place.path);
  state->number_ = *number;
  state->asks_together_ = log_layout::asks_together(opening.fapl);
  if (options.canonicalise == Canonicalise::background) state->background_ = library.path;
  if (!writes) state->stop();
  state->stored_ = std::move(stored);
  file.connector->state = std::make_shared<FileState>(FileState{std::move(state), nullptr});
  return std::nullopt;
}

}  // namespace headrace::log_layout
