#include "layers/log/connector/ranks/parallel_file.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "comm/agreement.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/opening/opening.hpp"
#include "layers/log/connector/ranks/replay_together.hpp"
#include "layers/log/connector/ranks/transfers.hpp"
#include "layers/log/connector/replaying/fit.hpp"
#include "layers/log/connector/replaying/replay_target.hpp"
#include "layers/log/connector/state.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/placed/placed_log.hpp"
#include "vol/dataset/box_io.hpp"

namespace headrace::log_layout {
namespace {

// In the order in which they were opened. Leaked: HDF5 closes what is open while the process exits.
std::vector<ParallelFile*>& logging() {
  static auto& files = *new std::vector<ParallelFile*>;
  return files;
}

// Those that have been, too, until they are closed.
std::vector<const ParallelFile*>& known_files() {
  static auto& files = *new std::vector<const ParallelFile*>;
  return files;
}

// Where the logs of ranks are.
struct Logs {
  std::string folder;       // of the nodes' own storage; none: beside the file
  std::vector<int> lowest;  // of each rank, on its node; none: each has a file of its own
  bool apart = false;       // ranks do not find those of other nodes
};

// Collective. None where the file is left to HDF5, as MPI does not tell which ranks share a node.
// Ranks of several nodes must get at each other's logs before the file is closed, unless these
// outlive the program; then a node's are one file, which can be moved.
std::optional<Logs> place_logs(Communicator& ranks, const std::string& path, LogsPer per,
                               Canonicalise when, const std::string& wish) {
  Logs logs;
  const bool on_nodes = ranks.reduce(wish.empty() ? 0 : 1, Reduction::min) != 0;
  if (per != LogsPer::node && !on_nodes) return logs;
  try {
    logs.lowest = nodes_of(ranks);
  } catch (const Error& error) {  // on all of them
    headrace::log(Level::warning, "file " + path + ": " + error.what());
    if (per == LogsPer::node) return std::nullopt;
    return logs;
  }
  const bool several = std::ranges::any_of(logs.lowest, [](int lowest) { return lowest != 0; });
  logs.apart = on_nodes && several && when != Canonicalise::close;
  if (on_nodes && (logs.apart || !several)) logs.folder = wish;
  if (per != LogsPer::node && !logs.apart) logs.lowest.clear();
  if (on_nodes && logs.folder.empty() && ranks.rank() == 0)
    headrace::log(Level::warning, "logs of file " + path +
                                      " are beside it, as its ranks are on several nodes and put "
                                      "them in order when it is flushed");
  return logs;
}

// Collective: none unless all ranks are told the same.
LogsPer agree_on(Communicator& ranks, LogsPer mine) {
  const auto number = static_cast<std::int64_t>(mine);
  const std::int64_t least = ranks.reduce(number, Reduction::min);
  return ranks.reduce(number, Reduction::max) == least ? mine : LogsPer::none;
}

// HDF5 that ends, with MPI at the latest, closes files, but writes no datasets any more.
void end_library() {
  const std::vector<ParallelFile*> files = logging();
  for (ParallelFile* file : files) file->stop_at_close(true);
}

}  // namespace

CommunicatorHandle ranks_of(hid_t fapl, LogsPer wanted) {
  if (!vol::is_parallel(fapl)) return nullptr;
  const PrivateErrors own;
  try {
    return communicator_of(fapl);
  } catch (const std::exception& error) {
    log(wanted != LogsPer::none ? Level::warning : Level::debug,
        std::string("files over MPI are left to HDF5: ") + error.what());
    return nullptr;
  }
}

bool agree_on_use(Communicator& ranks, const vol::Object* file, bool marked,
                  const std::exception_ptr& refusal) {
  const PrivateErrors own;
  agree(ranks, refusal);
  const bool all = ranks.reduce(file != nullptr ? 1 : 0, Reduction::min) != 0;
  if (all) return true;
  if (ranks.reduce(marked ? 1 : 0, Reduction::max) != 0 && file != nullptr)
    throw Error("a file with logs is not open on all ranks, which only together can use it");
  return false;
}

ParallelFile::ParallelFile(vol::UnderConnector& connector, OpenFile place, Canonicalise when,
                           CommunicatorHandle ranks)
    : LoggedFile(connector, std::move(place), when), ranks_(std::move(ranks)) {
  state_ = State::left;  // until all ranks can
  known_files().push_back(this);
}

ParallelFile::~ParallelFile() {
  end();
  std::erase(known_files(), this);
}

void ParallelFile::stop_others(const char* name, Communicator* ranks) {
  if (ranks == nullptr) return;
  const PrivateErrors own;
  const std::string path = sidecar::path_of(name);
  const auto here = [&](const ParallelFile* one) { return one->place_.path == path; };
  const std::vector<ParallelFile*> files = logging();
  const auto found = std::ranges::find_if(files, here);
  ParallelFile* const other = found == files.end() ? nullptr : *found;
  if (ranks->reduce(other != nullptr ? 1 : 0, Reduction::max) == 0) return;
  engine::log::Owner owner{};
  if (other != nullptr) owner = other->owner_;
  ranks->broadcast(owner, 0);
  const bool same =
      other != nullptr && other->owner_ == owner && other->ranks_->size() == ranks->size();
  const bool all_same = ranks->reduce(same ? 1 : 0, Reduction::min) != 0;
  if (other == nullptr || !all_same)
    throw Error("file " + path + " is open with logs of other ranks than those that open it now");
  other->stop();
}

void ParallelFile::opened(const vol::Object& file, const char* name, hid_t fapl,
                          CommunicatorHandle ranks, const LogOptions& options,
                          const std::optional<engine::log::Owner>& marker) {
  const PrivateErrors own;
  const std::string path = sidecar::path_of(name);
  replay_together(file, path, *ranks, options, marker, vol::reads_metadata_together(fapl));
  engine::log::Owner owner{};
  LogsPer how = options.mpi_logs;
  try {
    if (ranks->rank() == 0) owner = sidecar::random_owner();
    // Before the others go on: a log that is just being made is not locked yet.
    if (how != LogsPer::none && ranks->rank() == 0) sidecar::remove_left_rank_logs(path);
  } catch (const Error&) {
    how = LogsPer::none;
  }
  ranks->broadcast(owner, 0);
  how = agree_on(*ranks, how);
  if (how == LogsPer::none) return;
  const auto wish = vol::makes_ordinary_files(fapl) ? options.canonicalise : Canonicalise::close;
  const auto when =
      static_cast<Canonicalise>(ranks->reduce(static_cast<int>(wish), Reduction::min));
  const auto logs = place_logs(*ranks, path, how, when, options.path);
  if (!logs) return;
  const bool sync = when != Canonicalise::close && options.sync;
  const OpenFile place{{file.under, file.connector->id()},
                       path,
                       sync,
                       options.budget,
                       logs->folder,
                       options.bandwidth};
  auto state = std::make_shared<ParallelFile>(*file.connector, place, when, std::move(ranks));
  state->asks_together_ = vol::reads_metadata_together(fapl);
  const bool known = std::ranges::any_of(known_files(), [&](const ParallelFile* one) {
    return one != state.get() && one->place_.path == path;
  });
  const bool again = state->ranks_->reduce(known ? 1 : 0, Reduction::max) != 0;
  state->apart_ = logs->apart;
  if (!state->begin(owner, logs->lowest)) return;
  if (again) state->stop();  // through the other one HDF5 writes by now
  file.connector->state = std::make_shared<FileState>(FileState{std::move(state)});
}

bool ParallelFile::has_room(std::uint64_t bytes) {
  if (!store_->by_node()) return reserve(bytes);
  struct statvfs status{};
  const auto ranks = static_cast<std::uint64_t>(ranks_->size());
  return ::statvfs(place_.logs_in.c_str(), &status) == 0 &&
         status.f_bavail * status.f_frsize / ranks / 2 > bytes;
}

// Collective. A rank that cannot make its log, or does not see that of another, has all of them
// leave the file to HDF5.
bool ParallelFile::begin(const engine::log::Owner& owner, const std::vector<int>& nodes) {
  owner_ = owner;
  store_ = std::make_unique<sidecar::LogStore>(
      path(), owner_, later_ ? sidecar::Lifetime::kept : sidecar::Lifetime::temporary,
      place_.logs_in, sidecar::LogStore::Rank{ranks_->rank(), ranks_->size(), nodes});
  const auto number = number_of(place_.below);
  number_ = number.value_or(0);
  bool good = number.has_value();
  const auto attempt = [&](const auto& step) {
    try {
      if (good) step();
    } catch (const Error& error) {
      headrace::log(Level::warning, "file " + place_.path + " is written by HDF5: " + error.what());
      good = false;
    }
    good = ranks_->reduce(good ? 1 : 0, Reduction::min) != 0;
  };
  if (store_->by_node())
    attempt([&] {
      if (store_->leads()) descriptor_ = store_->open(true);
    });
  attempt([&] {
    if (descriptor_ < 0) descriptor_ = store_->open(true);
    if (!store_->is_placed()) place_.logs_in.clear();
    if (later_) writer().publish(place_.sync);  // says whose it is before the file does
    if (place_.sync) sidecar::sync_names(place_.path);
  });
  attempt([&] {
    const std::string next = store_->path_of((ranks_->rank() + 1) % ranks_->size());
    if (apart_ ? !sidecar::has_name(next) : ::access(next.c_str(), R_OK) != 0)
      throw Error("log " + next + " cannot be read", errno);
  });
  if (!good) return false;
  apart_ = apart_ && ranks_->reduce(store_->is_placed() ? 1 : 0, Reduction::max) != 0;
  state_ = State::logs;
  logging().push_back(this);
  before_library_ends({[] { return !logging().empty(); }, &end_library});
  return true;
}

void ParallelFile::end() noexcept {
  if (state_ == State::logs) state_ = State::left;
  flushed_.clear();
  others_.clear();
  std::erase(logging(), this);
  datasets_.clear();  // handles may know them longer
  if (is_parents())   // the file that it would write to is its parent's
      [[maybe_unused]]
    auto* const left = log_.release();
  const bool open = descriptor_ >= 0;
  close_log();
  // A log that the file still speaks of remains, whatever has gone wrong.
  if (open && !is_parents() && !marked_ && store_->leads()) store_->remove();
}

void ParallelFile::require_agreed() const { rethrow(broken_); }

void ParallelFile::require_whole() const {
  if (logs() && is_parents())
    throw Error("file " + place_.path + " has a log that is the parent's of this process");
  require_agreed();
  rethrow(failed_);
}

void ParallelFile::rethrow(const std::exception_ptr& cause) const {
  if (cause == nullptr) return;
  const std::string what = "the log of file " + place_.path + " could not be written";
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {  // one text: programs show the innermost cause only
    throw Error(what + ": " + error.what());
  }
}

bool ParallelFile::is_logged(const std::string& name) {
  const std::string path = sidecar::path_of(name.c_str());
  return std::ranges::any_of(logging(),
                             [&](const ParallelFile* one) { return one->place_.path == path; });
}

const char* ParallelFile::until() const { return "the logs of the file are put in order"; }

std::shared_ptr<Dataset> ParallelFile::find(vol::Object& handle) {
  const LibraryContext apart;  // HDF5 would take the lists of our questions for the call's
  auto dataset = examine(handle);
  const Filters filters = dataset == nullptr ? Filters::some : filters_of(handle);
  // Those behind external links are in files that HDF5 has opened on its own.
  const bool here = dataset != nullptr && is(dataset->identity.file);
  if (dataset != nullptr && !here && is_logged(vol::file_name_of(handle)))
    throw Error(vol::describe(handle) + ", as seen through a link of another file, has a log");
  if (!here || filters == Filters::some) return nullptr;
  auto& known = datasets_[dataset->identity];
  if (known == nullptr) {
    known = std::move(dataset);
    known->file = this;
    if (later_ && asks_together_) known->over_ranks.name = vol::name_of(handle);
  }
  known->over_ranks.filtered = filters == Filters::all;
  if (known->chunked()) vol::read_nothing(handle, *known);
  return known;
}

void ParallelFile::ask_early(vol::Object& handle, bool made) {
  Dataset* const dataset = dataset_of(handle);
  if (dataset != nullptr && made) dataset->over_ranks.made_in = kept_times_;
}

bool ParallelFile::has_read(const vol::Identity& identity) const {
  const auto known = datasets_.find(identity);
  return known != datasets_.end() && known->second->over_ranks.read;
}

// Logs that are kept find datasets by their names. Ranks see what others have written when it is
// written, from then on; the token of what is deleted may become a new dataset's; mounted files
// have other names. What else ends the log of one process, a rank does on its own.
void ParallelFile::stop_before(const vol::Effects& effects) {
  if (effects.any(vol::effect::makes_atomic | vol::effect::unlinks | vol::effect::mounts) ||
      (effects.any(vol::effect::renames) && later_))
    stop();
}

// Chunks that are cut stay changed in the memory of each rank, which after_reshape() is for. It
// does not help those with filters.
void ParallelFile::before_reshape(const Dataset& dataset) {
  if (dataset.over_ranks.filtered)
    stop();
  else
    drain_together();
}

// HDF5 keeps chunks that it has cut in the memory of all ranks, and would write them later over
// what has been written to the file since.
void ParallelFile::after_reshape(bool done) {
  if (!logs()) return;
  act_together([&] {
    if (ranks_->reduce(done ? 1 : 0, Reduction::min) != 0)
      do_together(*ranks_, [&] { flush(place_.below); });
  });
}

void ParallelFile::add(Dataset& dataset, vol::Object& handle, const Append& append) {
  require_whole();
  try {
    if (!dataset.pending) {
      auto& name = dataset.over_ranks.name;
      if (later_ && !name) name = vol::name_of(handle);
      dataset.place = writer().add(logged_as(dataset, name.value_or("")));
      dataset.pending = true;
    }
    append(writer(), dataset.place);
    if (writer().memory() > place_.for_index()) writer().publish(false);
  } catch (...) {
    failed_ = std::current_exception();
    require_whole();
  }
}

}  // namespace headrace::log_layout
