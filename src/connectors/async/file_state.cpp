#include "connectors/async/file_state.hpp"

#include <optional>

#include "base/log.hpp"
#include "base/summary.hpp"
#include "connectors/async/chunks/cache.hpp"
#include "drivers/async/settings.hpp"
#include "engine/thread_pool.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/own_question.hpp"

namespace headrace::async {
namespace {

struct FileState {
  bool filters = false;
  bool only_decodes = false;
  bool writable = false;
  bool open = true;
  H5FD_t* reads = nullptr;  // see driver_for_reads()
  unsigned long number = 0;
  unsigned pauses = 0;  // of the workers
  std::shared_ptr<engine::CacheShare> cache;
  std::optional<engine::Wish> threads;
};

constexpr unsigned kReadWrite = 0x01;  // H5F_ACC_RDWR, a macro that calls the library
constexpr unsigned kSwmr = 0x60;       // H5F_ACC_SWMR_WRITE and H5F_ACC_SWMR_READ

bool all_off = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool mounted = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
// A file was opened with a page buffer: handles that are opened later share it, and do not say so.
bool page_buffers = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

bool parallel(hid_t fapl) {
  unsigned long features = 0;
  h5.FDdriver_query(h5.Pget_driver(fapl), &features);
  return (features & H5FD_FEAT_HAS_MPI) != 0;
}

// Then looking up a chunk is a call that all ranks make together.
bool collective_metadata_reads(hid_t fapl) {
  int reads = 0;  // H5P_USER_FALSE
  return h5.Pget(fapl, "collective_metadata_read", &reads) < 0 || reads > 0;
}

// Also below, where the file may be open through another handle.
bool read_only(const vol::Object& file) {
  unsigned flags = kReadWrite;
  H5VL_file_get_args_t args{H5VL_FILE_GET_INTENT, {}};
  args.args.get_intent.flags = &flags;
  return h5.VLfile_get(file.under, file.connector->id(), &args, h5.transfer_list.get(), nullptr) >=
             0 &&
         (flags & kReadWrite) == 0;
}

// Our driver when HDF5 itself calls it.
H5FD_t* driver_on_top(const vol::Object& file) {
  OpenFile* ours = driver_of(file);
  const Aside aside;
  H5VL_file_get_args_t args{H5VL_FILE_GET_FAPL, {}};
  args.args.get_fapl.fapl_id = kInvalidId;
  if (ours == nullptr ||
      h5.VLfile_get(file.under, file.connector->id(), &args, h5.transfer_list.get(), nullptr) < 0)
    return nullptr;
  const Id<Kind::plist> fapl(args.args.get_fapl.fapl_id);
  return h5.Pget_driver(fapl.get()) == ours->pub.driver_id ? &ours->pub : nullptr;
}

unsigned long number_of_file(const vol::Object& file) {
  unsigned long number = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_FILENO, {}};
  args.args.get_fileno.fileno = &number;
  const Aside aside;
  h5.VLfile_get(file.under, file.connector->id(), &args, h5.transfer_list.get(), nullptr);
  return number;
}

// For the summary: a file that HDF5 writes by another driver (core, say), where ours should be.
void count_driver_left_out(const vol::Object& file, const FileState& state) {
  if (!summary_wanted() || !state.writable || file.connector->seat().serial.empty()) return;
  if (driver_of(file) == nullptr) ++share_of("async").left["left_for_driver"];
}

bool has_page_buffer(hid_t fapl) {
  std::size_t size = 0;
  unsigned least_metadata = 0;
  unsigned least_raw = 0;
  return h5.Pget_page_buffer_size(fapl, &size, &least_metadata, &least_raw) < 0 || size > 0;
}

}  // namespace

void note_opened(vol::Object& file, unsigned flags, bool created, hid_t fapl,
                 const AsyncOptions& options) {
  auto state = std::make_shared<FileState>();
  const bool on = (flags & kSwmr) == 0 && options.above && options.filters;
  state->filters = on && !parallel(fapl);
  state->only_decodes = on && parallel(fapl) && !collective_metadata_reads(fapl) && read_only(file);
  state->writable = created || (flags & kReadWrite) != 0;
  file.connector->state = state;
  if ((flags & kSwmr) == 0 && !parallel(fapl)) count_driver_left_out(file, *state);
  if (state->filters) state->number = number_of_file(file);
  if (reads_pass_by(*file.connector) && read_only(file)) state->reads = driver_on_top(file);
  page_buffers = page_buffers || has_page_buffer(fapl);
  if (!state->filters && !state->only_decodes) return;
  state->cache = cache().make_share(options.chunk_cache);
  state->threads.emplace(options.threads);
}

bool filters_on(const vol::UnderConnector& connector) {
  return !all_off && connector.state != nullptr &&
         static_cast<const FileState*>(connector.state.get())->filters;
}

bool only_decodes(const vol::UnderConnector& connector) {
  return !all_off && connector.state != nullptr &&
         static_cast<const FileState*>(connector.state.get())->only_decodes;
}

std::shared_ptr<engine::CacheShare> cache_share(const vol::UnderConnector& connector) {
  return static_cast<const FileState*>(connector.state.get())->cache;
}

bool may_write(const vol::UnderConnector& connector) {
  return connector.state != nullptr &&
         static_cast<const FileState*>(connector.state.get())->writable;
}

bool reads_pass_by(const vol::UnderConnector& connector) {
  return filters_on(connector) && connector.native() != nullptr && !page_buffers;
}

H5FD_t* driver_for_reads(const vol::UnderConnector& connector, unsigned long file) {
  if (!reads_pass_by(connector)) return nullptr;
  const auto& state = *static_cast<const FileState*>(connector.state.get());
  return state.number == file ? state.reads : nullptr;  // another number: a mounted file's
}

// While HDF5 2.0 ends it closes ids of files that are gone, of which it must not be asked. Who has
// one by an object behind an external link has the connector of another file.
vol::Touched file_touched_by(const vol::Effects& effects, const vol::Object& object) {
  if (mounted || effects.any(vol::effect::unknown)) return {};
  const auto& state = *static_cast<const FileState*>(object.connector->state.get());
  const bool closes = effects.any(vol::effect::closes);
  const unsigned long number = closes ? state.number : number_of_file(object);
  return number == 0 ? vol::Touched() : vol::Touched::file(number);
}

void note_mounted() { mounted = true; }

bool is_open(const vol::UnderConnector& connector) {
  return static_cast<const FileState*>(connector.state.get())->open;
}

void note_closing(const vol::Object& file) {
  if (file.connector->state != nullptr)
    static_cast<FileState*>(file.connector->state.get())->open = false;
}

void pause_for(const vol::UnderConnector& connector) {
  engine::pause_workers();
  ++static_cast<FileState*>(connector.state.get())->pauses;
}

bool resume_for(const vol::UnderConnector& connector) {
  unsigned& pauses = static_cast<FileState*>(connector.state.get())->pauses;
  if (pauses == 0) return false;
  --pauses;
  engine::resume_workers();
  return true;
}

void end_pauses_for(const vol::UnderConnector& connector) {
  while (connector.state != nullptr && resume_for(connector)) {
  }
}

OpenFile* driver_of(const vol::Object& file) {
  const Aside aside;
  const FileInquiry inquiry;
  const vol::OwnQuestion question;
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native{};
  native.get_vfd_handle = {kDefaultPlist, &handle};
  H5VL_optional_args_t args{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &native};
  h5.VLfile_optional(file.under, file.connector->id(), &args, h5.transfer_list.get(), nullptr);
  return inquiry.found();
}

void filters_off(const vol::UnderConnector& connector) {
  if (connector.state != nullptr) static_cast<FileState*>(connector.state.get())->filters = false;
}

void filters_off() { all_off = true; }

}  // namespace headrace::async
