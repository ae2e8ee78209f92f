#include "layers/stripe/connector/transfers.hpp"

#include <optional>

#include "base/error.hpp"
#include "base/settings/connection_string.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/stripe/driver/striped_file.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/elements.hpp"
#include "vol/file/file_access.hpp"
#include "vol/file/file_facts.hpp"
#include "vol/own_question.hpp"

namespace headrace::stripe {
namespace {

// With a file.
struct FileState {
  std::shared_ptr<StripedFile*> found;  // null for one that is not in pieces
  std::optional<unsigned long> number;  // that HDF5 has for it
};

// Whether a dataset is in another file than that by which it was opened, behind an external link or
// a mount. Over MPI the question may wait for other ranks.
bool is_elsewhere(const vol::Object& dataset) {
  const PrivateErrors own;
  const auto* const state = dataset.connector->state.find<FileState>();
  vol::Identity identity{};
  return state == nullptr || !state->number ||
         !vol::read_identity(dataset, identity, nullptr, H5I_DATASET) ||
         identity.file != *state->number;
}

// Whether the list's driver is one that the layer's takes the place of, or is put below.
bool takes_drivers(hid_t fapl, const vol::DriverSeat& seat) {
  const PrivateErrors own;
  return static_cast<bool>(vol::with_driver(fapl, seat));
}

bool has_filters(const vol::Object& dataset) {
  const auto dcpl = vol::creation_list(dataset);
  return h5.Pget_nfilters(dcpl.get()) > 0;
}

// The file of a dataset, or one that the same ranks have open and that it was opened by.
std::shared_ptr<StripedFile*> file_of(const vol::Object& dataset) {
  const auto* const state = dataset.connector->state.find<FileState>();
  if (state != nullptr && state->found != nullptr) return state->found;
  const auto linked = StripedFile::behind_link();
  return linked != nullptr && is_elsewhere(dataset) ? linked : nullptr;
}

}  // namespace

const Transferred& transferred(vol::Object& dataset) {
  if (const auto* const known = dataset.state.find<Transferred>()) return *known;
  const auto made = std::make_shared<Transferred>();
  made->file = file_of(dataset);
  made->apart = made->file != nullptr && !has_filters(dataset);
  dataset.state = vol::State(made);
  return *made;
}

Id<Kind::plist> independent(hid_t dxpl) {
  const PrivateErrors own;
  Id<Kind::plist> copy(h5.Pcopy(dxpl));
  const int mode = 0;  // H5FD_MPIO_INDEPENDENT
  if (!copy || h5.Pset(copy.get(), "io_xfer_mode", &mode) < 0)
    throw Error("the data transfer property list cannot be copied");
  return copy;
}

void note_opened(const vol::Object& file) {
  FileInquiry inquiry;
  vol::ask_driver(file);
  const PrivateErrors own;
  auto& state = file.connector->state.get<FileState>();
  state.found = inquiry.found;
  if (state.found != nullptr) (*state.found)->opened_by_program();
  state.number = vol::number_of({file.under, file.connector->id()});
}

void before_addresses_are_told(const vol::Object& dataset, bool of_whole_dataset) {
  if (StripedFile::any_over_mpi() || !is_elsewhere(dataset)) {
    if (StripedFile* const own = striped_file_of(dataset))
      own->before_addresses_are_told(of_whole_dataset);
    return;
  }
  // HDF5 opens files behind links by itself: it may be in any that is open.
  for (const auto& each : StripedFile::all_open())
    if (*each != nullptr && (*each)->writes()) (*each)->before_addresses_are_told(of_whole_dataset);
}

StripedFile* striped_file_of(const vol::Object& object) {
  const auto* const state = object.connector->state.find<FileState>();
  return state == nullptr || state->found == nullptr ? nullptr : *state->found;
}

void agree_on_flush(const vol::Object& object) {
  if (StripedFile* const file = striped_file_of(object)) file->agree_on_flush();
}

void refuse_atomic(const vol::Object& object, const void* native_args) {
  // As in H5VL_native_file_optional_args_t of parallel libraries.
  if (*static_cast<const bool*>(native_args) && striped_file_of(object) != nullptr)
    throw Error("a file in pieces has no atomic mode: transfers of ranks may mix");
}

void refuse_swmr_write(const vol::Object& object) {
  if (StripedFile* const file = striped_file_of(object)) refuse_swmr(file->stub());
}

void explain_refused(hid_t fapl, const vol::DriverSeat& seat) {
  if (root_cause() != "bad superblock version number" || takes_drivers(fapl, seat)) return;
  h5.Eclear2(kDefaultStack);  // h5py shows the first record only
  throw Error(
      "stripe: bad superblock version number; where the file is in pieces, a Python file object or "
      "another driver than HDF5's default one sees its stub only: open it by its name, or make one "
      "file of it by headrace fuse");
}

std::string with_seat(const std::string& config) {
  Options options = parse_connection_string(config);
  options["seat"] = "both";
  return format_connection_string(options, "under_config");
}

}  // namespace headrace::stripe
