#include "layers/async/connector/file_state.hpp"

#include <optional>

#include "base/report/log.hpp"
#include "comm/agreement.hpp"
#include "engine/threads/thread_pool.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/summary.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/driver/mpi_file.hpp"
#include "layers/async/settings.hpp"
#include "vol/own_question.hpp"

namespace headrace::async {
namespace {

struct FileState {
  CommunicatorHandle ranks;  // null unless one of them stages
  bool filters = false;
  bool only_decodes = false;
  bool writable = false;
  bool open = true;
  unsigned long number = 0;
  unsigned pauses = 0;          // of the workers
  vol::Object* file = nullptr;  // as long as it is open
  // What follows is there once it has been asked for.
  std::optional<H5FD_t*> reads;  // see driver_for_reads()
  std::shared_ptr<const engine::cache::Share> cache;
  unsigned long cached = 0;  // the file that has the share
  std::optional<engine::WantedThreads> threads;
  std::size_t wanted_cache = 0;
  unsigned wanted_threads = 0;
};

bool all_off = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool mounted = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
// A file was opened with a page buffer: handles that are opened later share it, and do not say so.
bool page_buffers = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

vol::BelowFile below(const vol::Object& object) { return {object.under, object.connector->id()}; }

// Of a file that filters are on for, or that is only decoded.
FileState& state_of(const vol::UnderConnector& connector) {
  return *connector.state.find<FileState>();
}

// Our driver when HDF5 itself calls it.
H5FD_t* driver_on_top(const vol::Object& file) {
  OpenFile* ours = driver_of(file);
  const PrivateErrors own;
  H5VL_file_get_args_t args{H5VL_FILE_GET_FAPL, {}};
  args.args.get_fapl.fapl_id = kInvalidId;
  if (ours == nullptr ||
      h5.VLfile_get(file.under, file.connector->id(), &args, h5.transfer_list.get(), nullptr) < 0)
    return nullptr;
  const Id<Kind::plist> fapl(args.args.get_fapl.fapl_id);
  return h5.Pget_driver(fapl.get()) == ours->pub.driver_id ? &ours->pub : nullptr;
}

// For the summary: a file that HDF5 writes by another driver (core, say), where ours should be.
void count_driver_left_out(const vol::Object& file, const FileState& state) {
  if (!summary_wanted() || !state.writable || file.connector->seat().serial.empty()) return;
  if (driver_of(file) == nullptr) ++share_of("async").left["left_for_driver"];
}

// Of the file that HDF5 has given the number, which says as much where the system does not know the
// file, but to this process only.
engine::io::FileIdentity identity_of(unsigned long number) {
  H5FD_t* const ours = driver_numbered(number);
  const auto known = ours == nullptr ? std::nullopt : identity_of(OpenFile::of(ours));
  return known.value_or(engine::io::FileIdentity{0, number, 0});
}

}  // namespace

void note_opened(vol::Object& file, const vol::Opening& opening, const AsyncOptions& options,
                 CommunicatorHandle ranks) {
  const PrivateErrors own;
  auto state = std::make_shared<FileState>();
  state->ranks = std::move(ranks);
  const bool parallel = vol::is_parallel(opening.fapl);
  const bool on = !opening.swmr() && options.above && options.filters;
  state->filters = on && !parallel;
  // Looking up a chunk must be no call that all ranks make together.
  state->only_decodes = on && parallel && !vol::reads_metadata_together(opening.fapl) &&
                        vol::is_read_only(below(file));
  state->writable = opening.writes();
  file.connector->state = state;
  if (!opening.swmr() && !parallel) count_driver_left_out(file, *state);
  if (state->filters) state->number = vol::number_of(below(file)).value_or(0);
  state->file = &file;
  page_buffers = page_buffers || vol::has_page_buffer(opening.fapl);
  state->wanted_cache = options.chunk_cache;
  state->wanted_threads = options.threads;
}

void drain_together(const vol::UnderConnector& connector) {
  const FileState* const state = connector.state.find<FileState>();
  if (state != nullptr && state->ranks != nullptr) do_together(*state->ranks, &require_drained);
}

void forget_ranks(const vol::UnderConnector& connector) {
  if (auto* const state = connector.state.find<FileState>()) state->ranks.reset();
}

bool filters_on(const vol::UnderConnector& connector) {
  const FileState* const state = connector.state.find<FileState>();
  return !all_off && state != nullptr && state->filters;
}

bool only_decodes(const vol::UnderConnector& connector) {
  const FileState* const state = connector.state.find<FileState>();
  return !all_off && state != nullptr && state->only_decodes;
}

std::shared_ptr<const engine::cache::Share> cache_share(const vol::UnderConnector& connector,
                                                        unsigned long file) {
  FileState& state = state_of(connector);
  if (!state.threads) state.threads.emplace(state.wanted_threads);
  if (state.cache != nullptr && state.cached == file) return state.cache;
  state.cache = cache_room().share(identity_of(file), state.wanted_cache);
  state.cached = file;
  return state.cache;
}

bool may_write(const vol::UnderConnector& connector) {
  const FileState* const state = connector.state.find<FileState>();
  return state != nullptr && state->writable;
}

bool reads_pass_by(const vol::UnderConnector& connector) {
  return filters_on(connector) && connector.native() != nullptr && !page_buffers;
}

H5FD_t* driver_for_reads(const vol::UnderConnector& connector, unsigned long file) {
  if (!reads_pass_by(connector)) return nullptr;
  FileState& state = state_of(connector);
  if (state.number != file) return nullptr;  // a mounted file's
  // Nobody writes to it, also below, where it may be open through another handle.
  if (!state.reads && state.file != nullptr)
    state.reads = vol::is_read_only(below(*state.file)) ? driver_on_top(*state.file) : nullptr;
  return state.reads.value_or(nullptr);
}

// While HDF5 2.0 ends it closes ids of files that are gone, of which it must not be asked. Who has
// one by an object behind an external link has the connector of another file.
vol::Touched file_touched_by(const vol::Effects& effects, const vol::Object& object) {
  if (mounted || effects.any(vol::effect::unknown)) return {};
  const FileState& state = state_of(*object.connector);
  const bool closes = effects.any(vol::effect::closes);
  const unsigned long number = closes ? state.number : vol::number_of(below(object)).value_or(0);
  return number == 0 ? vol::Touched() : vol::Touched::file(number);
}

void note_mounted() { mounted = true; }

bool is_open(const vol::UnderConnector& connector) { return state_of(connector).open; }

void note_closing(const vol::Object& file) {
  auto* const state = file.connector->state.find<FileState>();
  if (state == nullptr) return;
  state->open = false;
  state->file = nullptr;
}

void pause_for(const vol::UnderConnector& connector) {
  engine::pause_workers();
  ++state_of(connector).pauses;
}

bool resume_for(const vol::UnderConnector& connector) {
  unsigned& pauses = state_of(connector).pauses;
  if (pauses == 0) return false;
  --pauses;
  engine::resume_workers();
  return true;
}

void end_pauses_for(const vol::UnderConnector& connector) {
  while (!connector.state.empty() && resume_for(connector)) {
  }
}

OpenFile* driver_of(const vol::Object& file) {
  FileInquiry inquiry;
  vol::ask_driver(file);
  return inquiry.found;
}

void filters_off(const vol::UnderConnector& connector) {
  if (auto* const state = connector.state.find<FileState>()) state->filters = false;
}

void filters_off() { all_off = true; }

}  // namespace headrace::async
