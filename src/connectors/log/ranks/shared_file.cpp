#include "connectors/log/ranks/shared_file.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/agreement.hpp"
#include "connectors/log/file/file.hpp"
#include "connectors/log/opening/opening.hpp"
#include "connectors/log/ranks/replay_together.hpp"
#include "connectors/log/replaying/fit.hpp"
#include "connectors/log/replaying/target.hpp"
#include "connectors/log/settings.hpp"
#include "connectors/log/state.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {
namespace {

// In the order in which they were opened. Leaked: HDF5 closes what is open while the process exits.
std::vector<SharedFile*>& logging() {
  static auto& files = *new std::vector<SharedFile*>;
  return files;
}

// Those that have been, too, until they are closed.
std::vector<const SharedFile*>& known_files() {
  static auto& files = *new std::vector<const SharedFile*>;
  return files;
}

// Collective: none unless all ranks are told the same.
LogsPer agree_on(Communicator& ranks, LogsPer mine) {
  const auto number = static_cast<std::int64_t>(mine);
  const std::int64_t least = ranks.reduce(number, Reduction::min);
  return ranks.reduce(number, Reduction::max) == least ? mine : LogsPer::none;
}

// HDF5 that ends, with MPI at the latest, closes files, but writes no datasets any more.
void end_library() {
  const std::vector<SharedFile*> files = logging();
  for (SharedFile* file : files) file->stop_at_close(true);
}

}  // namespace

CommunicatorHandle ranks_of(hid_t fapl, const Options& options) {
  const Aside aside;
  if (!vol::is_parallel(fapl)) return nullptr;
  try {
    return communicator_of(fapl);
  } catch (const std::exception& error) {
    log(value_of(kSettings, "mpi_logs", options) != "none" ? Level::warning : Level::debug,
        std::string("files over MPI are left to HDF5: ") + error.what());
    return nullptr;
  }
}

bool agree_on_use(Communicator& ranks, const vol::Object* file, bool marked,
                  const std::exception_ptr& refusal) {
  const Aside aside;
  agree(ranks, refusal);
  const bool all = ranks.reduce(file != nullptr ? 1 : 0, Reduction::min) != 0;
  if (all) return true;
  if (ranks.reduce(marked ? 1 : 0, Reduction::max) != 0 && file != nullptr)
    throw Error("a file with logs is not open on all ranks, which only together can use it");
  return false;
}

SharedFile* SharedFile::of(const vol::UnderConnector& connector) {
  const FileState* const state = FileState::of(connector);
  return state == nullptr ? nullptr : state->shared.get();
}

SharedFile::SharedFile(vol::UnderConnector& connector, OpenFile place, CommunicatorHandle ranks)
    : connector_(&connector), place_(std::move(place)), ranks_(std::move(ranks)) {
  known_files().push_back(this);
}

SharedFile::~SharedFile() {
  end();
  std::erase(known_files(), this);
}

void SharedFile::stop_others(const char* name, Communicator* ranks) {
  if (ranks == nullptr) return;
  const Aside aside;
  const std::string path = sidecar::path_of(name);
  const auto here = [&](const SharedFile* one) { return one->place_.path == path; };
  const std::vector<SharedFile*> files = logging();
  const auto found = std::ranges::find_if(files, here);
  SharedFile* const other = found == files.end() ? nullptr : *found;
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

void SharedFile::opened(const vol::Object& file, const char* name, hid_t fapl,
                        CommunicatorHandle ranks, const LogOptions& options,
                        const std::optional<engine::log::Owner>& marker) {
  const Aside aside;
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
  std::vector<int> nodes;
  try {
    if (how == LogsPer::node) nodes = nodes_of(*ranks);
  } catch (const Error& error) {
    headrace::log(Level::warning, "file " + path + " is written by HDF5: " + error.what());
    return;
  }
  const auto wish = vol::makes_ordinary_files(fapl) ? options.canonicalise : Canonicalise::close;
  const auto when =
      static_cast<Canonicalise>(ranks->reduce(static_cast<int>(wish), Reduction::min));
  const bool later = when != Canonicalise::close;
  const OpenFile place{
      {file.under, file.connector->id()}, path, later && options.sync, options.budget};
  auto state = std::make_shared<SharedFile>(*file.connector, place, std::move(ranks));
  state->asks_together_ = vol::reads_metadata_together(fapl);
  const bool known = std::ranges::any_of(known_files(), [&](const SharedFile* one) {
    return one != state.get() && one->place_.path == path;
  });
  const bool again = state->ranks_->reduce(known ? 1 : 0, Reduction::max) != 0;
  if (!state->begin(owner, later, nodes)) return;
  if (again) state->stop();  // through the other one HDF5 writes by now
  if (when == Canonicalise::background) state->background_ = library.path;
  file.connector->state = std::make_shared<FileState>(FileState{nullptr, std::move(state)});
}

// Collective. A rank that cannot make its log, or does not see that of another, has all of them
// leave the file to HDF5.
bool SharedFile::begin(const engine::log::Owner& owner, bool later, const std::vector<int>& nodes) {
  owner_ = owner;
  later_ = later;
  logs_of_ = std::make_unique<sidecar::LogStore>(
      place_.path, owner_, later_ ? sidecar::Lifetime::kept : sidecar::Lifetime::temporary,
      ranks_->rank(), nodes);
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
  if (logs_of_->by_node())
    attempt([&] {
      if (logs_of_->leads()) descriptor_ = logs_of_->open();
    });
  attempt([&] {
    if (descriptor_ < 0) descriptor_ = logs_of_->open();
    if (later_) log().publish(place_.sync);  // says whose it is before the file does
    if (place_.sync) sidecar::sync_names(place_.path);
  });
  attempt([&] {
    const std::string next = logs_of_->path_of((ranks_->rank() + 1) % ranks_->size());
    if (::access(next.c_str(), R_OK) != 0) throw Error("log " + next + " cannot be read", errno);
  });
  if (!good) return false;
  logs_ = true;
  logging().push_back(this);
  before_library_ends({[] { return !logging().empty(); }, &end_library});
  return true;
}

void SharedFile::end() noexcept {
  logs_ = false;
  flushed_.clear();
  others_.clear();
  std::erase(logging(), this);
  datasets_.clear();  // handles may know them longer
  reader_.reset();
  if (process_ != ::getpid())  // the file that it would write to is its parent's
      [[maybe_unused]]
    auto* const left = log_.release();
  log_.reset();
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  // A log that the file still speaks of remains, whatever has gone wrong.
  if (process_ == ::getpid() && !marked_ && logs_of_->leads())
    sidecar::remove_rank_log(logs_of_->path_of(ranks_->rank()));
}

void SharedFile::require_agreed() const { rethrow(broken_); }

void SharedFile::require_whole() const {
  if (logs_ && process_ != ::getpid())
    throw Error("file " + place_.path + " has a log that is the parent's of this process");
  require_agreed();
  rethrow(failed_);
}

void SharedFile::rethrow(const std::exception_ptr& cause) const {
  if (cause == nullptr) return;
  const std::string what = "the log of file " + place_.path + " could not be written";
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {  // one text: programs show the innermost cause only
    throw Error(what + ": " + error.what());
  }
}

bool SharedFile::is_logged(const std::string& name) {
  const std::string path = sidecar::path_of(name.c_str());
  return std::ranges::any_of(logging(),
                             [&](const SharedFile* one) { return one->place_.path == path; });
}

std::shared_ptr<SharedDataset> SharedFile::know(std::shared_ptr<Dataset> dataset,
                                                const vol::Object& handle) {
  auto& known = datasets_[dataset->identity];
  if (known != nullptr) return known;
  known = std::make_shared<SharedDataset>();
  known->elements = std::move(dataset);
  known->file = this;
  if (later_ && asks_together_) known->name = vol::name_of(handle);
  return known;
}

bool SharedFile::has_read(const vol::Identity& identity) const {
  const auto known = datasets_.find(identity);
  return known != datasets_.end() && known->second->read;
}

engine::log::Writer& SharedFile::log() {
  if (log_ == nullptr)
    log_ = std::make_unique<engine::log::Writer>(logs_of_->own_device(descriptor_),
                                                 belonging(ranks_->rank()),
                                                 engine::StagingLimits{place_.for_data(), {}});
  return *log_;
}

void SharedFile::forget_names() {
  if (later_) stop();
}

void SharedFile::add(SharedDataset& dataset, vol::Object& handle, const Append& append) {
  require_whole();
  try {
    if (!dataset.pending) {
      if (later_ && !dataset.name) dataset.name = vol::name_of(handle);
      dataset.elements->place = log().add(logged_as(*dataset.elements, dataset.name.value_or("")));
      dataset.pending = true;
    }
    append(log(), dataset.elements->place);
    if (log().memory() > place_.for_index()) log().publish(false);
  } catch (...) {
    failed_ = std::current_exception();
    require_whole();
  }
}

SharedDataset* shared_dataset_of(vol::Object& object) {
  SharedFile* const file = SharedFile::of(*object.connector);
  if (file == nullptr || !file->logs()) return nullptr;
  Handle& handle = handle_of(object);
  if (!handle.looked_up) {
    const LibraryContext apart;  // HDF5 would take the lists of our questions for the call's
    const Aside aside;
    auto dataset = examine(object);
    const Filters filters = dataset == nullptr ? Filters::some : filters_of(object);
    // Those behind external links are in files that HDF5 has opened on its own.
    const bool here = dataset != nullptr && file->is(dataset->identity.file);
    if (dataset != nullptr && !here && SharedFile::is_logged(vol::file_name_of(object)))
      throw Error(vol::describe(object) + ", as seen through a link of another file, has a log");
    if (here && filters != Filters::some) {
      handle.shared = file->know(std::move(dataset), object);
      handle.shared->filtered = filters == Filters::all;
      read_nothing(object, *handle.shared->elements);
    }
    handle.looked_up = true;  // an error is one of each call
  }
  return handle.shared.get();
}

void ask_early(vol::Object& object, bool made) noexcept {
  try {
    SharedDataset* const shared = shared_dataset_of(object);
    if (shared != nullptr && made) shared->file->note_made(*shared);
    const File* const read = File::of(*object.connector);
    if (read == nullptr || !read->asks_together()) return;
    const LibraryContext apart;
    require_no_log_elsewhere(object);
    const Dataset* const dataset = dataset_of(object);
    const Aside aside;
    if (dataset != nullptr) read_nothing(object, *dataset);
  } catch (const std::exception& error) {
    headrace::log(Level::debug, error.what());
  }
}

}  // namespace headrace::log_layout
